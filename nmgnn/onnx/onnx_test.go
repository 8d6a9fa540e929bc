package onnx

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
)

var update = flag.Bool("update", false, "write testdata/gin.onnx anew")

const (
	testVersion = "nodemask 0.0.0 (test)"
	tolerance   = 1e-4 // of logits
)

var exportable = []string{"gin", "gat", "sgat", "gcn", "sage", "gatv2"}

func testCases() []gnntest.Case { return gnntest.AllCases(exportable) }

// testGraph is a graph that no model was trained on.
type testGraph struct {
	name  string
	edges *csr.Graph
	x     datasets.Features
}

func testGraphs(t *testing.T) (all []testGraph) {
	t.Helper()
	add := func(name string, edges *csr.Graph) {
		n := edges.NumNodes()
		r := rand.New(rand.NewPCG(uint64(n), 3))
		x := datasets.Features{Rows: n, Width: gnntest.CaseFeatures, Dense: make([]float32, n*gnntest.CaseFeatures)}
		for i := range x.Dense {
			if i/gnntest.CaseFeatures%4 != 1 && r.IntN(2) == 0 { // leave some rows empty
				x.Dense[i] = float32(r.IntN(257)-128) / 64
			}
		}
		all = append(all, testGraph{name, edges, x})
	}
	drawn := func(n int, p float64) (pairs [][2]int32) {
		r := rand.New(rand.NewPCG(uint64(n), 4))
		for u := range int32(n) {
			for v := range int32(n) {
				if u != v && r.Float64() < p {
					pairs = append(pairs, [2]int32{u, v})
				}
			}
		}
		return pairs
	}
	star := func(n int) (pairs [][2]int32) {
		for v := 1; v < n; v++ {
			pairs = append(pairs, [2]int32{0, int32(v)})
		}
		return pairs
	}
	add("1 node", gnntest.Undirected(t, 1, nil))
	add("2 nodes", gnntest.Undirected(t, 2, [][2]int32{{0, 1}}))
	add("5 nodes without edges", gnntest.Undirected(t, 5, nil))
	add("12 nodes, 3 more alone", gnntest.Undirected(t, 15, drawn(12, 0.2)))
	add("directed", gnntest.Directed(t, 14, drawn(11, 0.25)))
	add("star", gnntest.Undirected(t, 30, star(30)))
	return all
}

// sourcesAndTargets lists edges as exported graphs read them: v aggregates from u ∈ N_v.
func sourcesAndTargets(g *csr.Graph) (sources, targets []int64) {
	for v := range g.NumNodes() {
		for _, u := range g.Indices[g.Offsets[v]:g.Offsets[v+1]] {
			sources, targets = append(sources, int64(u)), append(targets, int64(v))
		}
	}
	return sources, targets
}

func logitsOf(t *testing.T, m *cached.Model, g testGraph) infer.Representation {
	t.Helper()
	all, err := m.Network().Represent(gnntest.Go(t), g.edges, g.x, infer.Options{})
	require.NoError(t, err)
	return all[len(all)-1]
}

func exported(t *testing.T, m *cached.Model) []byte {
	t.Helper()
	file, err := convert(m, testVersion)
	require.NoError(t, err)
	return file
}

// TestModelsAreWrittenForONNXRuntime writes models, graphs and logits for testdata/check_onnx.py.
func TestModelsAreWrittenForONNXRuntime(t *testing.T) {
	folder := os.Getenv("NODEMASK_ONNX")
	if folder == "" {
		t.Skip("skipped: only with NODEMASK_ONNX=FOLDER, for testdata/check_onnx.py")
	}
	require.NoError(t, os.MkdirAll(folder, 0o777))
	models := map[string]*collectedModel{}
	for _, c := range testCases() {
		m := c.Model(t, gnntest.CaseFeatures)
		one := &collectedModel{File: fmt.Sprintf("%02d.onnx", len(models))}
		models[c.Name] = one
		require.NoError(t, os.WriteFile(filepath.Join(folder, one.File), exported(t, m), 0o666))
		for _, g := range testGraphs(t) {
			one.Graphs = append(one.Graphs, collected(g, logitsOf(t, m, g)))
		}
	}
	text, err := json.Marshal(models)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "models.json"), text, 0o666))
}

func collected(g testGraph, logits infer.Representation) collectedGraph {
	one := collectedGraph{Name: g.name, Nodes: g.x.Rows, Width: g.x.Width, Logits: logits.Values}
	for v := range g.x.Rows {
		for column, value := range g.x.Row(v, nil) {
			if value != 0 {
				one.Rows, one.Columns, one.Values = append(one.Rows, v), append(one.Columns, column), append(one.Values, value)
			}
		}
	}
	one.Edges[0], one.Edges[1] = sourcesAndTargets(g.edges)
	return one
}

// checkedFile is testdata/check_onnx.py's report about the models that onnx and ONNX Runtime accepted.
type checkedFile struct {
	Models map[string]struct {
		SHA256     string  `json:"sha256"`
		Difference float64 `json:"difference"`
	} `json:"models"`
}

func TestModelsAreThoseThatONNXRuntimeRan(t *testing.T) {
	text, err := os.ReadFile("testdata/checked.json")
	require.NoError(t, err)
	var checked checkedFile
	require.NoError(t, json.Unmarshal(text, &checked))
	cases := testCases()
	require.Len(t, checked.Models, len(cases))
	for _, c := range cases {
		sum := sha256.Sum256(exported(t, c.Model(t, gnntest.CaseFeatures)))
		seen, ok := checked.Models[c.Name]
		require.True(t, ok, c.Name)
		assert.Equal(t, seen.SHA256, hex.EncodeToString(sum[:]), "%s: testdata/check_onnx.py checks it anew", c.Name)
		assert.Less(t, seen.Difference, tolerance, c.Name)
	}
}

func TestASmallModelIsTheCommittedFile(t *testing.T) {
	c := testCases()[0]
	file := exported(t, c.Model(t, gnntest.CaseFeatures))
	if *update {
		require.NoError(t, os.WriteFile("testdata/gin.onnx", file, 0o666))
	}
	have, err := os.ReadFile("testdata/gin.onnx")
	require.NoError(t, err)
	require.Equal(t, have, file, "'go test ./nmgnn/onnx -update' writes it anew; then check it with "+
		"testdata/check_onnx.py")
}

func TestWhatCannotBeExportedIsNamed(t *testing.T) {
	weight := func(m *cached.Model, path string) *infer.Weight {
		for i := range m.Weights {
			if m.Weights[i].Path == path {
				return &m.Weights[i]
			}
		}
		t.Fatalf("no weights %s", path)
		return nil
	}
	const first = "/model/layer0/linear0/weights"
	missing := func(path, dimensions string) string {
		return "the model has no weights /model/" + path + ": expected dimensions " + dimensions + " by its settings"
	}
	normed := gnntest.Case{Name: "gin",
		Change: func(p *hyper.Parameters) { p.MLPLayers, p.Hidden, p.Norm = 2, 4, hyper.NormInside }}
	type model = *cached.Model
	for want, spoil := range map[string]func(m model){
		`the settings are invalid: no model "transformer": expected one of ` + strings.Join(hyper.Models(), ", "): func(m model) {
			m.Settings.Model = "transformer"
		},
		"the settings are invalid: layers: 0: expected 1 to 128":                           func(m model) { m.Settings.Layers = 0 },
		"6 features and 0 classes: expected at least one of each":                          func(m model) { m.Classes = nil },
		"0 features and 3 classes: expected at least one of each":                          func(m model) { m.Features = 0 },
		"the settings are invalid: epsilon 1e+300: expected a number from -1e+06 to 1e+06": func(m model) { m.Settings.Epsilon = 1e300 },
		missing("layer0/linear0/weights", "[6 4]"):                                         func(m model) { weight(m, first).Path = "/model/w" },
		missing("layer0/epsilon", "[1 1]"):                                                 func(m model) { m.Settings.LearnEpsilon = true },
		missing("layer0/norm/gamma", "[1 4]"):                                              func(m model) { m.Settings.Norm = hyper.NormBoth },
		missing("readout/weights", "[4 3]"): func(m model) {
			m.Settings.Readout, m.Settings.Layers = hyper.ReadoutLast, 1
		},
		"weights " + first + ": 24 numbers of dimensions [6 4]: expected [5 4] by the model's settings": func(m model) {
			m.Features = 5
		},
		"weights /model/layer1/linear1/biases: 2 numbers of dimensions [1 3]: expected [1 3] by the model's " +
			"settings": func(m model) {
			w := weight(m, "/model/layer1/linear1/biases")
			w.Values = w.Values[:2]
		},
	} {
		m := normed.Model(t, gnntest.CaseFeatures)
		spoil(m)
		file, err := convert(m, testVersion)
		assert.EqualError(t, err, want)
		assert.Nil(t, file)
	}
	m := normed.Model(t, gnntest.CaseFeatures)
	_, err := convert(nil, "")
	require.EqualError(t, err, "the model is nil: read one with LoadModel")
	m.Settings.Regulariser, m.Settings.RegulariserRate = hyper.DropGNNRegulariser, 0.3
	_, err = convert(m, "")
	require.EqualError(t, err, "what is saved or cached predicts by one run, and DropGNN averages several: expected another "+
		"regulariser")
	b := &builder{}
	b.layer(nil, value{})
	require.EqualError(t, b.err, "a layer <nil>: no export is written for it")
}

type collectedModel struct {
	File   string           `json:"file"`
	Graphs []collectedGraph `json:"graphs"`
}

type collectedGraph struct {
	Name    string     `json:"name"`
	Nodes   int        `json:"nodes"`
	Width   int        `json:"width"`
	Rows    []int      `json:"rows"` // of the nonzero features
	Columns []int      `json:"columns"`
	Values  []float32  `json:"values"`
	Edges   [2][]int64 `json:"edges"` // sources, targets
	Logits  []float32  `json:"logits"`
}
