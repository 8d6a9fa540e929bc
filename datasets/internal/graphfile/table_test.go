package graphfile

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestATableIsReadLineByLine(t *testing.T) {
	table, err := NewTable(t.Context(), Bytes("a.csv",
		[]byte("\ufeffID, Label ,x\r\n\r\n\"a, \"\"b\"\"\" , cat,1\r\n c,\"\", 2 ")))
	require.NoError(t, err)
	assert.Equal(t, []string{"ID", "Label", "x"}, table.Header)
	assert.Equal(t, 1, Find(table.Header, "name", "label"))
	assert.Equal(t, -1, Find(table.Header, "name"))
	var lines [][]string
	for table.Next() {
		var fields []string
		for _, f := range table.Fields {
			fields = append(fields, string(f))
		}
		lines = append(lines, fields)
	}
	require.NoError(t, table.Err())
	assert.Equal(t, [][]string{{`a, "b"`, "cat", "1"}, {"c", "", "2"}}, lines)
}

func TestErrorsNameTheLineAndWrapTheirCause(t *testing.T) {
	table, err := NewTable(t.Context(), Bytes("a.csv", []byte("id\n\n1\n")))
	require.NoError(t, err)
	_, err = table.Column("name")
	require.EqualError(t, err,
		`a.csv: line 1: no column "name": the header reads "id". The first line must name the columns`)
	require.True(t, table.Next())
	err = table.Errorf("column %q: %w", "id", fs.ErrInvalid)
	require.EqualError(t, err, `a.csv: line 3: column "id": invalid argument`)
	require.ErrorIs(t, err, fs.ErrInvalid)
}

// endless yields zeros for ever.
type endless struct{}

func (endless) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestALineHasALimit(t *testing.T) {
	_, err := NewTable(t.Context(), &File{Reader: endless{}, Name: "a.csv"})
	require.ErrorContains(t, err, "a.csv: line 1: longer than 16777216 bytes")
}
