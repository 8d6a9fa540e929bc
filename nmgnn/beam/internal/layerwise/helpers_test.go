package layerwise_test

import (
	"cmp"
	"encoding/csv"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/beam/internal/layerwise"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
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
	// Beam leaves a temporary file per pipeline.
	folder, err := os.MkdirTemp("", "layerwise-*")
	if err == nil {
		err = os.Setenv("TMPDIR", folder)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(folder) // only temporary files
	os.Exit(code)
}

// testCases returns every model with every option that the pipelines read.
func testCases() []gnntest.Case {
	return slices.DeleteFunc(gnntest.AllCases(hyper.Models()), func(c gnntest.Case) bool {
		return !slices.Contains(hyper.Models(), c.Name) && !strings.HasSuffix(c.Name, ", 3 layers, readout all, residual") &&
			!slices.Contains([]string{"gat, 1 layer", "gat, residual from features, raw", "sage, 3 layers, readout last",
				"gin, learned epsilon, 2 linear layers", "gin, norm both, 2 linear layers, readout all, residual"}, c.Name)
	})
}

// oddFiles writes a graph with all that files may contain: isolated nodes, a node named only by a loop, repeated edges
// in both directions, zero features, ids with commas, unlabelled nodes. Edges are in two shards.
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

// odd returns oddFiles' files, and the graph as one machine reads it.
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

// represented returns each layer's output on one machine, ending in the logits.
func represented(t testing.TB, m *cached.Model, g *datasets.Graph) (all []infer.Representation,
	logits infer.Representation) {
	t.Helper()
	all, err := m.Network().Represent(gnntest.Go(t), g.Edges, g.Features, infer.Options{})
	require.NoError(t, err)
	return all, all[len(all)-1]
}

func graphIn(t testing.TB, lines [2][][]string) layerwise.Input {
	t.Helper()
	folder := t.TempDir()
	writeCSV(t, filepath.Join(folder, "nodes.csv"), lines[0])
	writeCSV(t, filepath.Join(folder, "edges.csv"), lines[1])
	return find(t, folder)
}

func embed(t testing.TB, m *cached.Model, in layerwise.Input, out layerwise.Output, o layerwise.Options) error {
	t.Helper()
	out.Folder, o.Work = cmp.Or(out.Folder, t.TempDir()), cmp.Or(o.Work, t.TempDir())
	_, err := layerwise.Embed(t.Context(), m, in, out, o)
	return err
}

func writeCSV(t testing.TB, path string, lines [][]string) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	w := csv.NewWriter(f)
	require.NoError(t, w.WriteAll(lines))
	require.NoError(t, f.Close())
}

// readGraph reads oddFiles' graph on one machine, with all edges in one file.
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
			_, ok := all[row["id"]] // require.NotContains compares every key
			require.False(t, ok, row["id"])
			all[row["id"]] = row
		}
	}
	return all
}

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
