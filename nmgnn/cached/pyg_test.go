package cached_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/gomlx"
)

var update = flag.Bool("update", false, "write the models in testdata anew")

// pygGraph is testdata/pyg/graph.json: a graph, and PyTorch Geometric's results for each model's file.
type pygGraph struct {
	N      int
	Edges  [][2]int32
	X      [][]float32
	Logits map[string][][]float32
}

func readPyGGraph(t *testing.T) (g pygGraph) {
	t.Helper()
	data, err := os.ReadFile("testdata/pyg/graph.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &g))
	return g
}

// pygModels returns the models in testdata/pyg: one per kind, and a GIN with all options.
func pygModels(t *testing.T, b *backend.Backend) map[string]*cached.Model {
	models := map[string]*cached.Model{}
	for _, name := range []string{"gin", "gat", "sgat", "gcn", "sage", "gatv2", "gin-all"} {
		kind, all, _ := strings.Cut(name, "-")
		p := parametersOf(t, kind)
		p.Layers, p.Hidden, p.Heads = 2, 6, 2
		if all != "" {
			p.Layers, p.MLPLayers, p.Epsilon, p.LearnEpsilon, p.Norm, p.Readout, p.Residual = 3, 2, 0.25, true, hyper.NormBoth,
				hyper.ReadoutAll, true
		}
		m, err := infer.Untrained(b, nmgnn.Build(p, 3), 5, 1)
		require.NoError(t, err)
		r := gomlx.HostRandom(1, name)
		for _, w := range m.Weights {
			for i := range w.Values { // biases and statistics too
				w.Values[i] += float32(r.Float64())/2 - 0.2
			}
		}
		models[name+".safetensors"] = &cached.Model{Settings: p, Classes: []string{"x", "y", "z"}, Features: 5,
			Data: "testdata/pyg/graph.json", Seed: 1, Weights: m.Weights}
	}
	return models
}

func TestSavedModelsRunInPyTorchGeometric(t *testing.T) {
	const within = 1e-4
	g := readPyGGraph(t)
	edges, x := gnntest.Undirected(t, g.N, g.Edges), gnntest.SparseRows(g.X)
	models := pygModels(t, gnntest.Go(t))
	for name, m := range models {
		if *update {
			require.NoError(t, m.Save(filepath.Join("testdata", "pyg", name)))
		}
	}
	require.Len(t, g.Logits, len(models), "run testdata/read_with_pyg.py --write")
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		for name, want := range g.Logits {
			m, err := cached.LoadModel(filepath.Join("testdata", "pyg", name))
			require.NoError(t, err)
			all, err := m.Network().Represent(b, edges, x, infer.Options{})
			require.NoError(t, err)
			gnntest.InDelta(t, slices.Concat(want...), all[len(all)-1].Values, within, "logits of %s", name)
		}
	})
}

// Other programs sort tensors by name and write the checksums of docs/FORMATS.md.
func TestAModelIsTheSameInAnyOrderOfItsTensors(t *testing.T) {
	again := filepath.Join(t.TempDir(), "again")
	same := func(path, other string) {
		want, err := cached.LoadModel(path)
		require.NoError(t, err)
		got, err := cached.LoadModel(other)
		require.NoError(t, err)
		require.Equal(t, want.Fingerprint(), got.Fingerprint())
	}
	same("testdata/pyg/gin.safetensors", "testdata/python.safetensors")
	for name := range readPyGGraph(t).Logits {
		path := filepath.Join("testdata", "pyg", name)
		require.NoError(t, os.WriteFile(again, sortedByName(t, path), 0o600))
		same(path, again)
	}
}

func sortedByName(t *testing.T, path string) []byte {
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	n := 8 + binary.LittleEndian.Uint64(raw)
	header := map[string]map[string]any{}
	require.NoError(t, json.Unmarshal(raw[8:n], &header))
	meta := header["__metadata__"]
	delete(header, "__metadata__")
	var data []byte
	for _, tensor := range slices.Sorted(maps.Keys(header)) {
		at := header[tensor]["data_offsets"].([]any)
		begin, end := n+uint64(at[0].(float64)), n+uint64(at[1].(float64))
		header[tensor]["data_offsets"] = []int{len(data), len(data) + int(end-begin)}
		data = append(data, raw[begin:end]...)
	}
	header["__metadata__"] = meta
	meta["data_sha256"], meta["header_sha256"] = fmt.Sprintf("%x", sha256.Sum256(data)), strings.Repeat("0", 64)
	text, err := json.Marshal(header)
	require.NoError(t, err)
	text = append(text, strings.Repeat(" ", 7-(len(text)+7)%8)...)
	sum := fmt.Sprintf("%x", sha256.Sum256(text))
	text = bytes.Replace(text, []byte(meta["header_sha256"].(string)), []byte(sum), 1)
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text, data)
}

// The bytes in testdata are fixed, so older and current writers agree.
func TestSavedModelsAreStillTheSameBytes(t *testing.T) {
	for name := range readPyGGraph(t).Logits {
		path := filepath.Join("testdata", "pyg", name)
		m, err := cached.LoadModel(path)
		require.NoError(t, err)
		again := filepath.Join(t.TempDir(), name)
		require.NoError(t, m.Save(again))
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		got, err := os.ReadFile(again)
		require.NoError(t, err)
		require.Equal(t, want, got, name)
	}
}
