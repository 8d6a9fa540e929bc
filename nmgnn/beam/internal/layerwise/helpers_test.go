package layerwise_test

import (
	"cmp"
	"encoding/csv"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/internal/dataframe"
	"nodemask/internal/dataframe/framefile"
	"nodemask/internal/gnntest"
	"nodemask/nmgnn"
	"nodemask/nmgnn/beam/internal/layerwise"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/variables"
)

const tolerance = 1e-4 // of logits

func TestMain(m *testing.M) {
	layerwise.Register()
	flag.Parse()
	beam.Init()
	beamlog.SetupLogging("error", "text")
	if os.Getenv(killedModel) != "" {
		if err := killed(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	// Beam leaves a temporary file for each pipeline.
	folder, err := os.MkdirTemp("", "layerwise-*")
	if err == nil {
		err = os.Setenv("TMPDIR", folder)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(folder) // whatever is left is temporary
	os.Exit(code)
}

// testCase is a model by what is different in it.
type testCase struct {
	name   string
	change func(p *hyper.Parameters)
}

// testCases has every model, and every option that changes what is computed outside training.
func testCases() (all []testCase) {
	add := func(name string, change func(p *hyper.Parameters)) { all = append(all, testCase{name, change}) }
	for _, model := range hyper.Models() {
		add(model, func(*hyper.Parameters) {})
		add(model+", 3 layers, readout all, residual", func(p *hyper.Parameters) {
			p.Layers, p.Readout, p.Residual = 3, hyper.ReadoutAll, true
		})
	}
	add("gat, 1 layer, raw features", func(p *hyper.Parameters) { p.Layers, p.NormalizeFeatures = 1, false })
	add("sage, readout last", func(p *hyper.Parameters) { p.Readout = hyper.ReadoutLast })
	add("gin, learned epsilon, norm both, 2 linear layers", func(p *hyper.Parameters) {
		p.LearnEpsilon, p.Epsilon, p.Norm, p.MLPLayers = true, -0.25, hyper.NormBoth, 2
	})
	for i := range all { // the model is the first word
		model, _, _ := strings.Cut(all[i].name, ",")
		change := all[i].change
		all[i].change = func(p *hyper.Parameters) { p.Model, p.Heads, p.Hidden = model, 2, 12; change(p) }
	}
	return all
}

// model makes a model of a case, for a graph. Its weights are drawn.
func (c testCase) model(t testing.TB, g *datasets.Graph) *cached.Model {
	t.Helper()
	p, err := hyper.For("gin")
	require.NoError(t, err)
	c.change(&p)
	require.NoError(t, p.Check(), c.name)
	m := &cached.Model{Settings: p, Classes: []string{"red", "grün", "blue"}, Features: g.Features.Width, Data: "a test",
		Seed: 7}
	network, err := infer.Untrained(gnntest.Go(t), nmgnn.Build(p, len(m.Classes)), m.Features, 1)
	require.NoError(t, err)
	for i, w := range network.Weights {
		r := variables.HostRandom(uint64(i), c.name+w.Path)
		for j := range w.Values {
			w.Values[j] = float32(r.IntN(65)-32) / 64
			if strings.HasSuffix(w.Path, "/running_variance") {
				w.Values[j] += 1.5
			}
		}
	}
	m.Weights = network.Weights
	return m
}

// oddFiles writes a graph with all that files may have: isolated nodes, one that nothing but a loop names, edges
// listed twice and both ways, nodes whose features are all 0, ids with commas, nodes without a label. Its edges are
// in two shards.
func oddFiles(t testing.TB) (folder string) {
	t.Helper()
	folder = t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	name := func(v int) string { return fmt.Sprintf("n,%d", v) }
	nodes := [][]string{{"id", "label", "a", "b", "c", "d"}}
	const n = 24
	for v := range n {
		line := []string{name(v), []string{"red", "", "blue"}[v%3]}
		for range 4 {
			x := float64(r.IntN(257)-128) / 64
			if v%5 == 1 {
				x = 0
			}
			line = append(line, strconv.FormatFloat(x, 'g', -1, 64))
		}
		nodes = append(nodes, line)
	}
	shards := [2][][]string{{{"source", "target"}}, {{"from", "to", "weight"}}}
	for i := range 60 {
		u, v := r.IntN(n-4), r.IntN(n-4)
		shards[i%2] = append(shards[i%2], []string{name(u), name(v), "1"}[:2+i%2])
		if i%7 == 0 {
			shards[1] = append(shards[1], []string{name(v), name(u), "2"})
		}
	}
	shards[0] = append(shards[0], []string{name(n - 1), name(n - 1)})
	writeCSV(t, filepath.Join(folder, "nodes.csv"), nodes)
	writeCSV(t, filepath.Join(folder, "edges-1.csv"), shards[0])
	writeCSV(t, filepath.Join(folder, "edges-2.csv"), shards[1])
	return folder
}

// odd is what oddFiles writes: its files, and the graph as one machine reads it.
func odd(t testing.TB) (folder string, in layerwise.Input, g *datasets.Graph) {
	t.Helper()
	folder = oddFiles(t)
	return folder, find(t, folder), readGraph(t, folder)
}

func find(t testing.TB, folder string) layerwise.Input {
	t.Helper()
	in, err := layerwise.Find(folder)
	require.NoError(t, err)
	return in
}

// represented is what one machine computes: each layer's output, and the logits last.
func represented(t testing.TB, m *cached.Model, g *datasets.Graph) (all []infer.Representation,
	logits infer.Representation) {
	t.Helper()
	all, err := m.Network().Represent(gnntest.Go(t), g.Edges, g.Features, infer.Options{})
	require.NoError(t, err)
	return all, all[len(all)-1]
}

// graphIn writes nodes.csv and edges.csv.
func graphIn(t testing.TB, lines [2][][]string) layerwise.Input {
	t.Helper()
	folder := t.TempDir()
	writeCSV(t, filepath.Join(folder, "nodes.csv"), lines[0])
	writeCSV(t, filepath.Join(folder, "edges.csv"), lines[1])
	return find(t, folder)
}

// embed computes a graph. Folders that are not named are new ones.
func embed(t testing.TB, m *cached.Model, in layerwise.Input, out layerwise.Output, o layerwise.Options) error {
	t.Helper()
	out.Folder, o.Work = cmp.Or(out.Folder, t.TempDir()), cmp.Or(o.Work, t.TempDir())
	_, err := layerwise.Embed(t.Context(), m, in, out, o)
	return err
}

func writeParquet(t testing.TB, path string, table dataframe.Table) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, framefile.Parquet(f, table))
	require.NoError(t, f.Close())
}

func writeCSV(t testing.TB, path string, lines [][]string) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	w := csv.NewWriter(f)
	require.NoError(t, w.WriteAll(lines))
	require.NoError(t, f.Close())
}

// readGraph reads what oddFiles wrote as one machine does, with the edges in one file.
func readGraph(t testing.TB, folder string) *datasets.Graph {
	t.Helper()
	whole := t.TempDir()
	nodes, err := os.ReadFile(filepath.Join(folder, "nodes.csv"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(whole, "nodes.csv"), nodes, 0o600))
	shards, err := filepath.Glob(filepath.Join(folder, "edges*.csv"))
	require.NoError(t, err)
	lines := [][]string{{"source", "target"}}
	for _, path := range shards {
		for _, line := range readCSV(t, path)[1:] {
			lines = append(lines, line[:2])
		}
	}
	writeCSV(t, filepath.Join(whole, "edges.csv"), lines)
	g, err := datasets.Open(t.Context(), whole, datasets.OpenOptions{})
	require.NoError(t, err)
	return g
}

func readCSV(t testing.TB, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	return lines
}

// written reads the shards of an output in CSV: each node's columns by name.
func written(t testing.TB, folder string) map[string]map[string]string {
	t.Helper()
	shards, err := filepath.Glob(filepath.Join(folder, "nodes-*.csv"))
	require.NoError(t, err)
	all := map[string]map[string]string{}
	for _, path := range shards {
		lines := readCSV(t, path)
		for _, line := range lines[1:] {
			row := map[string]string{}
			for i, name := range lines[0] {
				row[name] = line[i]
			}
			_, ok := all[row["id"]] // require.NotContains looks at every key
			require.False(t, ok, row["id"])
			all[row["id"]] = row
		}
	}
	return all
}

// requireRow holds the numbers of a written node to those of one machine.
func requireRow(t testing.TB, want []float32, row map[string]string, within float64, of string) {
	t.Helper()
	require.NotNil(t, row, of)
	for k, x := range want {
		got, err := strconv.ParseFloat(row[fmt.Sprintf("h%d", k)], 64)
		require.NoError(t, err, of)
		require.InDelta(t, x, got, within, "%s, number %d", of, k)
	}
	require.NotContains(t, row, fmt.Sprintf("h%d", len(want)))
}

func requireNumber(t testing.TB, want float64, got string) {
	t.Helper()
	x, err := strconv.ParseFloat(got, 64)
	require.NoError(t, err)
	require.InDelta(t, want, x, tolerance)
}
