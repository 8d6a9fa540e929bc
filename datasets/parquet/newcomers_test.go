package parquet

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
)

type newcomer struct {
	ID    string  `parquet:"id"`
	A     float64 `parquet:"a"`
	Class int64   `parquet:"class"`
	B     float32 `parquet:"b"`
}

type join struct {
	Source string `parquet:"source"`
	Target string `parquet:"target"`
}

func TestNewNodesInParquetAreThoseOfCSV(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	nodes := []newcomer{{"ann", 1, 7, 0}, {"bob", 0, 8, 2}, {"cid", 3, 7, 0.25}}
	joins := []join{{"1", "ann"}, {"ann", "0"}, {"ann", "bob"}, {"0", "1"}, {"bob", "ann"}}
	write(t, dir, "nodes.parquet", nodes)
	write(t, dir, "edges.PARQUET", joins)
	require.NoError(t, os.WriteFile(at("nodes.csv"), []byte("id,a,class,b\nann,1,7,0\nbob,0,8,2\ncid,3,7,0.25\n"), 0o666))
	require.NoError(t, os.WriteFile(at("edges.csv"), []byte("source,target\n1,ann\nann,0\nann,bob\n0,1\nbob,ann\n"), 0o666))
	read := func(nodes, edges string, width int) (*datasets.Newcomers, error) {
		return datasets.ReadNewcomers(t.Context(), at(nodes), at(edges), width, func(id []byte) (int32, bool) {
			return int32(id[0] - '0'), string(id) == "0" || string(id) == "1"
		}, Reader{})
	}
	want, err := read("nodes.csv", "edges.csv", 2)
	require.NoError(t, err)
	for _, files := range [][2]string{{"nodes.parquet", "edges.PARQUET"}, {"nodes.parquet", "edges.csv"},
		{"nodes.csv", "edges.PARQUET"}} {
		is, err := read(files[0], files[1], 2)
		require.NoError(t, err)
		require.Equal(t, want, is, files)
	}
	require.Equal(t, []string{"id", "a", "class", "b"}, datasets.Header(t.Context(), at("nodes.parquet"), Reader{}))
	require.Nil(t, datasets.Header(t.Context(), at("none.parquet"), Reader{}))
	_, err = read("nodes.parquet", "edges.csv", 5)
	require.ErrorContains(t, err, "nodes.parquet: 2 columns of features beside the id: expected 5")
	write(t, dir, "old.parquet", []newcomer{{"1", 1, 7, 0}})
	_, err = read("old.parquet", "edges.csv", 2)
	require.ErrorContains(t, err, `old.parquet: row 0: node "1" is one that the model was trained on`)
	write(t, dir, "far.parquet", []join{{"ann", "dan"}})
	_, err = read("nodes.parquet", "far.parquet", 2)
	require.ErrorContains(t, err, `far.parquet: row 0: the edge names node "dan", which is neither in `)
}
