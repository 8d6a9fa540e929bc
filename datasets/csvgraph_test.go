package datasets

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets/internal/graphfile"
)

const (
	tinyNodes = "id,label,x,z\nann,cat,1,0\nbob,,0,0\ncy,ant,0.5,-2e-1\n"
	tinyEdges = "source,target\nann,bob\nbob,ann\ncy,cy\ncy,bob\n"
)

func tinyFolder(t testing.TB) string {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, csvNodesFile), []byte(tinyNodes), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, csvEdgesFile), []byte(tinyEdges), 0o600))
	return dir
}

func csvFrom(t testing.TB, nodes, edges string) (*Graph, error) {
	return ReadMemory(t.Context(), "", map[string][]byte{csvNodesFile: []byte(nodes), csvEdgesFile: []byte(edges)})
}

func sameGraph(t testing.TB, want, got *Graph) {
	t.Helper()
	require.Equal(t, want.Edges.Offsets, got.Edges.Offsets)
	require.ElementsMatch(t, want.Edges.Indices, got.Edges.Indices)
	require.Equal(t, want.Classes, got.Classes)
	require.Equal(t, want.Labels, got.Labels)
	require.Equal(t, want.NodeIDs, got.NodeIDs)
	require.Equal(t, want.Features.Width, got.Features.Width)
	a, b := make([]float32, want.Features.Width), make([]float32, want.Features.Width)
	for v := range want.NumNodes() {
		require.Equal(t, want.Features.Row(v, a), got.Features.Row(v, b), "row %d", v)
	}
}

func TestReadCSVReadsIdsLabelsFeaturesAndEdges(t *testing.T) {
	g, err := csvFrom(t, tinyNodes, tinyEdges)
	require.NoError(t, err)
	sound(t, g)
	assert.Equal(t, []string{"ann", "bob", "cy"}, g.NodeIDs)
	assert.Equal(t, []string{"ant", "cat"}, g.Classes)
	assert.Equal(t, []int32{1, Unlabelled, 0}, g.Labels)
	assert.Equal(t, []int32{1, 0, 2, 1}, g.Edges.Indices)
	assert.Equal(t, csr.Report{Listed: 4, SelfLoops: 1, Duplicates: 1, Edges: 2}, g.Report)
	assert.Equal(t, []float32{1, 0, 0, 0, 0.5, -0.2}, g.Features.Dense, "half is not zero: dense")
}

func TestReadCSVToleratesWhatEditorsWrite(t *testing.T) {
	g, err := csvFrom(t, "\ufeffID, Label ,x\r\n\r\n\"a, \"\"b\"\"\", cat,1\r\n c,\"\", 2 ",
		"src,weight,dst\r\n\"a, \"\"b\"\"\",0.5,c")
	require.NoError(t, err)
	assert.Equal(t, []string{`a, "b"`, "c"}, g.NodeIDs)
	assert.Equal(t, []int32{0, Unlabelled}, g.Labels)
	assert.Equal(t, []float32{1, 2}, g.Features.Dense)
	assert.Equal(t, int64(1), g.Report.Edges)
}

func TestReadCSVSortsClassesByValueOrAsPeopleDo(t *testing.T) {
	for labels, want := range map[string][]string{
		"10 9 -1 0.5":           {"-1", "0.5", "9", "10"},
		"class10 class9 Class1": {"Class1", "class9", "class10"},
		"b 10 9 a":              {"9", "10", "a", "b"},
		"x01 x1 x001":           {"x001", "x01", "x1"},
		"v1.10 v1.9 v1 v":       {"v", "v1", "v1.9", "v1.10"},
	} {
		nodes := "id,label\n"
		for i, label := range strings.Fields(labels) {
			nodes += fmt.Sprintf("%d,%s\n", i, label)
		}
		g, err := csvFrom(t, nodes, "source,target\n")
		require.NoError(t, err)
		assert.Equal(t, want, g.Classes)
		for v, label := range strings.Fields(labels) {
			assert.Equal(t, label, g.Classes[g.Labels[v]])
		}
	}
}

func TestReadCSVErrorsNameFileAndLine(t *testing.T) {
	for name, c := range map[string]struct{ nodes, edges, says string }{
		"no such node": {tinyNodes, tinyEdges + "ann,dan\n",
			`edges.csv: line 6: the edge names node "dan", which nodes.csv does not have`},
		"not a number": {"id,label,x\n1,a,0\n2,b,high\n", tinyEdges, `nodes.csv: line 3: column "x": found "high": expected ` +
			`a finite number that fits 32 bits: a column of text is left out where its first field is text`},
		"no class": {"id,club\n1,a\n", tinyEdges, `nodes.csv: line 1: no column "label": the header reads "id,club". The ` +
			`first line must name the columns; PATH:label=NAME takes another column as the class`},
		"NaN":            {"id,label,x\n1,a,NaN\n", tinyEdges, `line 2: column "x": found "NaN"`},
		"infinity":       {"id,label,x\n\n1,a,-inf\n", tinyEdges, `line 3: column "x": found "-inf"`},
		"beyond 32 bits": {"id,label,x\n1,a,1e39\n", tinyEdges, `found "1e39"`},
		"empty feature":  {"id,label,x\n1,a,\n", tinyEdges, "the feature is empty: write 0"},
		"ragged row":     {"id,label,x\n1,a,0\n2,b\n", tinyEdges, "nodes.csv: line 3: 2 columns: expected 3"},
		"ragged edge":    {tinyNodes, "source,target\nann\n", "edges.csv: line 2: 1 columns: expected 2"},
		"duplicate id":   {"id,label\n1,a\n2,a\n1,b\n", tinyEdges, `nodes.csv: line 4: the id "1" is there already (node 0`},
		"empty id":       {"id,label\n,a\n", tinyEdges, "line 2: the id is empty"},
		"no id column": {"name,label\n1,a\n", tinyEdges,
			`nodes.csv: line 1: no column "id": the header reads "name,label"`},
		"no label column": {"id,x\n1,0\n", tinyEdges, `no column "label"`},
		"no header":       {tinyNodes, "ann,bob\n", `edges.csv: line 1: no column "source": the header reads "ann,bob"`},
		"open quote":      {"id,label\n\"1,a\n", tinyEdges, `nodes.csv: line 2: column 6: extraneous or missing " in quoted-field`},
		"text after":      {"id,label\n\"1\"x,a\n", tinyEdges, `line 2: column 3: extraneous or missing " in quoted-field`},
		"empty file":      {"", tinyEdges, "nodes.csv: empty"},
		"no nodes":        {"id,label\n", tinyEdges, "no nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := csvFrom(t, c.nodes, c.edges)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestFeaturesAreSparseUpToAQuarterNonzero(t *testing.T) {
	for _, density := range []float64{0, 0.1, 0.24, 0.26, 0.4, 0.6, 1} {
		for _, ascending := range []bool{true, false} {
			rows := graphfile.NewFeatures(10)
			var want []float32
			const nodes = 1000
			for v := range nodes {
				at := float64(v) / nodes
				if !ascending {
					at = 1 - at
				}
				row := make([]float32, 10)
				if at < density {
					for j := range row {
						row[j] = rand.Float32() + 1
					}
				}
				want = append(want, row...)
				rows.Add(row)
			}
			f := Features(rows).compact()
			assert.Equal(t, density < 0.25, f.IsSparse(), "%g", density)
			if f.IsSparse() {
				f = f.Stored(false)
			}
			assert.Equal(t, want, f.Dense)
		}
	}
}

func TestScanningAFileGivesWhatReadingItDoes(t *testing.T) {
	folder := tinyFolder(t)
	nodes, edges := filepath.Join(folder, csvNodesFile), filepath.Join(folder, csvEdgesFile)
	var lines []string
	require.NoError(t, ScanNodes(t.Context(), nodes, func(id, label string, features []float32) error {
		lines = append(lines, fmt.Sprintf("%s,%s,%v", id, label, features))
		return nil
	}))
	require.Equal(t, []string{"ann,cat,[1 0]", "bob,,[0 0]", "cy,ant,[0.5 -0.2]"}, lines)
	err := ScanEdges(t.Context(), edges, func(source, target string) error {
		if source == "cy" {
			return fmt.Errorf("%s is not wanted", source)
		}
		return nil
	})
	require.ErrorContains(t, err, "edges.csv: line 4: cy is not wanted")
}
