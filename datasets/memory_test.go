package datasets

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlanetoidReadsFromMemoryAsFromAFolder(t *testing.T) {
	dir := planetoidDir(t)
	onDisk := openPlanetoid(t, "citeseer")
	files := map[string][]byte{}
	for _, f := range planetoidFiles("citeseer") {
		var err error
		files[f.Name], err = os.ReadFile(filepath.Join(dir, f.Name))
		require.NoError(t, err)
	}
	g, err := ReadMemory(t.Context(), "mine", files)
	require.NoError(t, err)
	require.Equal(t, "ind.citeseer.*", g.Source)
	g.Source = onDisk.Source
	require.Equal(t, onDisk, g)

	delete(files, "ind.citeseer.tx")
	_, err = ReadMemory(t.Context(), "mine", files)
	require.ErrorContains(t, err, "ind.citeseer.tx is missing")
	_, err = ReadMemory(t.Context(), "mine", map[string][]byte{"ind.mine.x": nil, "ind.mine.y": nil})
	require.ErrorContains(t, err, `"mine" is no graph of Planetoid: expected cora, citeseer or pubmed`)
}

func TestWhatIsReadFromMemoryIsWhatIsReadFromFiles(t *testing.T) {
	dir := tinyFolder(t)
	files := map[string][]byte{"Nodes.CSV": []byte(tinyNodes), "edges.csv": []byte(tinyEdges)}
	onDisk, err := Open(t.Context(), dir, OpenOptions{})
	require.NoError(t, err)
	g, err := ReadMemory(t.Context(), "mine", files)
	require.NoError(t, err)
	require.Equal(t, "mine", g.Name)
	require.NoError(t, g.Check())
	require.Equal(t, onDisk.Edges, g.Edges)
	require.Equal(t, onDisk.Labels, g.Labels)
	require.Equal(t, onDisk.Features, g.Features)

	for wanted, files := range map[string]map[string][]byte{
		`found ["cat.jpg"]: expected one .npz, .graphml, .json or .pt file, nodes.csv and edges.csv together, or a list of ` +
			`edges (.txt, .tsv, .csv, .edges, .edgelist)`: {"cat.jpg": {1, 2}},
		`found ["nodes.csv"]`:                      {"nodes.csv": files["Nodes.CSV"]},
		"found []":                                 nil,
		"x.npz: 5 bytes: not a whole npz":          {"x.npz": []byte("ninja")},
		"edges.csv: empty: expected a header line": {"nodes.csv": files["Nodes.CSV"], "edges.csv": nil},
		"edges.csv: line 2: the edge names node \"nobody\"": {"nodes.csv": files["Nodes.CSV"],
			"edges.csv": []byte("source,target\nnobody,1\n")},
	} {
		_, err := ReadMemory(t.Context(), "mine", files)
		require.ErrorContains(t, err, wanted)
	}
}
