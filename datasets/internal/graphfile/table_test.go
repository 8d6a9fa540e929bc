package graphfile

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
)

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

type endless struct{}

func (endless) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestALineHasALimit(t *testing.T) {
	_, err := NewTable(t.Context(), &File{Reader: endless{}, Name: "a.csv"})
	require.ErrorContains(t, err, "a.csv: line 1: a line of more than 16 MiB: expected less")
}
