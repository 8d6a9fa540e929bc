package framefile

import (
	"bytes"
	"io"
	"math"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"nodemask/internal/dataframe"
)

func table() dataframe.Table {
	return dataframe.Table{
		{Name: "model", Texts: []string{"gin", "sgat, kept"}},
		{Name: "f1", Numbers: []float64{79.3125, math.NaN()}},
		{Name: "seed", Whole: []int64{1, 1<<62 + 1}},
		{Name: "resplit", Flags: []bool{true, false}, Known: []bool{true, false}},
	}
}

func TestParquetHasTheColumnsInOrderWithTheirTypes(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, Parquet(&out, table()))
	f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	require.NoError(t, err)
	var names, kinds []string
	for _, field := range f.Schema().Fields() {
		names, kinds = append(names, field.Name()), append(kinds, field.Type().String())
		require.True(t, field.Optional())
	}
	require.Equal(t, []string{"model", "f1", "seed", "resplit"}, names)
	require.Equal(t, []string{"STRING", "DOUBLE", "INT(64,true)", "BOOLEAN"}, kinds)
	rows := make([]parquet.Row, 2)
	reader := f.RowGroups()[0].Rows()
	n, _ := reader.ReadRows(rows)
	require.Equal(t, 2, n)
	require.Equal(t, 79.3125, rows[0][1].Double())
	require.True(t, rows[1][1].IsNull())
	require.EqualValues(t, 1<<62+1, rows[1][2].Int64())
	require.Equal(t, "sgat, kept", rows[1][0].String())
	require.True(t, rows[0][3].Boolean())
	require.True(t, rows[1][3].IsNull())
	require.NoError(t, reader.Close())
}

func TestFilesAreOfTheKindThatTheirNameSays(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, Write(&out, table(), "x.CSV"))
	require.True(t, bytes.HasPrefix(out.Bytes(), []byte("model,f1")))
	out.Reset()
	require.NoError(t, Write(&out, table(), "x.parquet"))
	require.True(t, bytes.HasPrefix(out.Bytes(), []byte("PAR1")))
	require.ErrorContains(t, Write(io.Discard, table(), "x.xls"),
		`x.xls: a name that ends in ".xls": expected .csv or .parquet`)
	require.ErrorContains(t, Parquet(io.Discard, dataframe.Table{{Name: "a,b", Whole: []int64{1}}}),
		"expected a name without commas")
}
