package onnx

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math"
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
	"nodemask/nmgnn/internal/modelcase"
)

var update = flag.Bool("update", false, "write testdata/gin.onnx anew")

const (
	testVersion = "nodemask 0.0.0 (test)"
	tolerance   = 1e-4 // of logits
)

var exportable = []string{"gin", "gat", "sgat", "gcn", "sage", "gatv2"}

func testCases() []modelcase.Case { return modelcase.All(exportable) }

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
		x := datasets.Features{Rows: n, Width: modelcase.Features, Dense: make([]float32, n*modelcase.Features)}
		for i := range x.Dense {
			if i/modelcase.Features%4 != 1 && r.IntN(2) == 0 { // leave some rows empty
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

func inputsOf(x datasets.Features, sources, targets []int64) map[string]*array {
	in := map[string]*array{inputFeatures: newArray(x.Rows, x.Width), inputEdges: newArray(2, len(sources))}
	for v := range x.Rows {
		for c, value := range x.Row(v, nil) {
			in[inputFeatures].data[v*x.Width+c] = float64(value)
		}
	}
	for i := range sources {
		in[inputEdges].data[i], in[inputEdges].data[len(sources)+i] = float64(sources[i]), float64(targets[i])
	}
	return in
}

func logitsOf(t *testing.T, m *cached.Model, g testGraph) infer.Representation {
	t.Helper()
	all, err := m.Network().Represent(gnntest.Go(t), g.edges, g.x, infer.Options{})
	require.NoError(t, err)
	return all[len(all)-1]
}

func exported(t *testing.T, m *cached.Model) []byte {
	t.Helper()
	file, err := Export(m, testVersion)
	require.NoError(t, err)
	return file
}

func difference(t *testing.T, want infer.Representation, got *array) (greatest float64) {
	t.Helper()
	require.Equal(t, []int{want.Rows, want.Width}, got.dims)
	for i, x := range want.Values {
		d := math.Abs(float64(x) - got.data[i])
		require.False(t, math.IsNaN(d))
		greatest = max(greatest, d)
	}
	return greatest
}

func TestONNXGivesOwnLogitsOnUnseenGraphs(t *testing.T) {
	graphs := testGraphs(t)
	out := newCollection(t)
	for _, c := range testCases() {
		t.Run(c.Name, func(t *testing.T) {
			m := c.Model(t, modelcase.Features)
			file := exported(t, m)
			written := decode(t, file).graph
			for _, g := range graphs {
				want := logitsOf(t, m, g)
				sources, targets := sourcesAndTargets(g.edges)
				got := interpret(t, written, inputsOf(g.x, sources, targets))
				assert.LessOrEqual(t, difference(t, want, got), tolerance, g.name)
				out.add(t, c.Name, file, g, want)
			}
		})
	}
	out.write(t)
}

// checkedFile is what testdata/check_onnx.py writes about the models that onnx and ONNX Runtime accepted.
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
		sum := sha256.Sum256(exported(t, c.Model(t, modelcase.Features)))
		seen, ok := checked.Models[c.Name]
		require.True(t, ok, c.Name)
		assert.Equal(t, seen.SHA256, hex.EncodeToString(sum[:]), "%s: testdata/check_onnx.py checks it anew", c.Name)
		assert.Less(t, seen.Difference, tolerance, c.Name)
	}
}

func TestASmallModelIsTheCommittedFile(t *testing.T) {
	c := testCases()[0]
	file := exported(t, c.Model(t, modelcase.Features))
	if *update {
		require.NoError(t, os.WriteFile("testdata/gin.onnx", file, 0o666))
	}
	have, err := os.ReadFile("testdata/gin.onnx")
	require.NoError(t, err)
	require.Equal(t, have, file, "'go test ./nmgnn/onnx -update' writes it anew; then check it with "+
		"testdata/check_onnx.py")
}

func TestAFileSaysWhatItIsAndTakesGraphsOfAnySize(t *testing.T) {
	m := testCases()[0].Model(t, modelcase.Features)
	p := decode(t, exported(t, m))
	require.Equal(t, "nodemask", p.producer)
	require.Equal(t, testVersion, p.version)
	require.Equal(t, `A graph neural network (GIN, 2 layers) that sorts the nodes of a graph, each with 6 features, `+
		`into 3 classes, as trained on "a test". It reads the features x and the edges edge_index, and returns logits.`,
		p.doc)
	var classes []string
	require.NoError(t, json.Unmarshal([]byte(p.metadata["classes"]), &classes))
	require.Equal(t, m.Classes, classes)
	var settings hyper.Parameters
	require.NoError(t, json.Unmarshal([]byte(p.metadata["settings"]), &settings))
	require.Equal(t, m.Settings, settings)
	require.Equal(t, "a test", p.metadata["data"])
	require.Equal(t, "7", p.metadata["seed"])
	require.Equal(t, testVersion, p.metadata["version"])
	require.Equal(t, []any{"nodes", 6}, p.graph.inputs[0].dims)
	require.Equal(t, []any{2, "edges"}, p.graph.inputs[1].dims)
	require.Equal(t, []any{"nodes", 3}, p.graph.outputs[0].dims)
}

// weighted is a model of one layer, one feature and one class.
func weighted(t *testing.T, model string, weights map[string]float32) graphProto {
	t.Helper()
	p, err := hyper.For(model)
	require.NoError(t, err)
	p.Layers, p.NormalizeFeatures = 1, false
	m := &cached.Model{Settings: p, Classes: []string{"only"}, Features: 1}
	for path, x := range weights {
		m.Weights = append(m.Weights, infer.Weight{Path: "/model/layer0/" + path, Dimensions: []int{1, 1},
			Values: []float32{x}})
	}
	return decode(t, exported(t, m)).graph
}

func TestSelfLoopsAreLeftOutAndRepeatedEdgesCount(t *testing.T) {
	gin := weighted(t, "gin", map[string]float32{"linear0/weights": 1, "linear0/biases": 0})
	sgat := weighted(t, "sgat", map[string]float32{"weights": 1, "biases": 0})
	x := datasets.Features{Rows: 3, Width: 1, Dense: []float32{1, 2, 4}}
	for _, c := range []struct {
		sources, targets []int64
		gin, sgat        []float64
	}{
		{nil, nil, []float64{1, 2, 4}, []float64{1, 2, 4}},
		{[]int64{1}, []int64{0}, []float64{3, 2, 4}, []float64{1.5, 2, 4}},
		{[]int64{1, 0, 2, 1}, []int64{0, 0, 2, 1}, []float64{3, 2, 4}, []float64{1.5, 2, 4}},          // loops
		{[]int64{1, 1, 2}, []int64{0, 0, 0}, []float64{1 + 2 + 2 + 4, 2, 4}, []float64{9. / 4, 2, 4}}, // 1 → 0 twice
		{[]int64{2, 2}, []int64{2, 2}, []float64{1, 2, 4}, []float64{1, 2, 4}},
	} {
		in := inputsOf(x, c.sources, c.targets)
		require.Equal(t, c.gin, interpret(t, gin, in).data, "%v → %v", c.sources, c.targets)
		require.Equal(t, c.sgat, interpret(t, sgat, in).data, "%v → %v", c.sources, c.targets)
	}
}

func TestAttentionStaysFiniteWhereExpOfAScoreWouldNot(t *testing.T) {
	// Scores are 1000·h_u: each node receives only the greatest number.
	gat := weighted(t, "gat", map[string]float32{"weights": 1, "source": 1000, "target": 0, "biases": 0})
	x := datasets.Features{Rows: 3, Width: 1, Dense: []float32{1, 2, 4}}
	in := inputsOf(x, []int64{1, 0, 2}, []int64{0, 1, 1})
	require.Equal(t, []float64{2, 4, 4}, interpret(t, gat, in).data)
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
	normed := modelcase.Case{Name: "gin",
		Change: func(p *hyper.Parameters) { p.MLPLayers, p.Hidden, p.Norm = 2, 4, hyper.NormInside }}
	type model = *cached.Model
	for want, spoil := range map[string]func(m model){
		`settings: no model "transformer": expected one of ` + strings.Join(hyper.Models(), ", "): func(m model) {
			m.Settings.Model = "transformer"
		},
		"settings: layers: 0: expected 1 to 128":                           func(m model) { m.Settings.Layers = 0 },
		"6 features and 0 classes: expected at least one of each":          func(m model) { m.Classes = nil },
		"0 features and 3 classes: expected at least one of each":          func(m model) { m.Features = 0 },
		`classes: name 1 is "\xff": expected UTF-8`:                        func(m model) { m.Classes[1] = "\xff" },
		`data "\xff", version "nodemask 0.0.0 (test)": expected UTF-8`:     func(m model) { m.Data = "\xff" },
		"settings: epsilon 1e+300: expected a number from -1e+06 to 1e+06": func(m model) { m.Settings.Epsilon = 1e300 },
		missing("layer0/linear0/weights", "[6 4]"):                         func(m model) { weight(m, first).Path = "/model/w" },
		missing("layer0/epsilon", "[1 1]"):                                 func(m model) { m.Settings.LearnEpsilon = true },
		missing("layer0/norm/running_variance", "[1 4]"):                   func(m model) { m.Settings.Norm = hyper.NormBoth },
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
		"weights /model/layer0/norm0/gamma: number 2 is NaN: expected a finite one": func(m model) {
			weight(m, "/model/layer0/norm0/gamma").Values[2] = float32(math.NaN())
		},
		"weights /model/layer0/norm0/running_variance: number 3 is -1: expected a variance from 0 up": func(m model) {
			weight(m, "/model/layer0/norm0/running_variance").Values[3] = -1
		},
	} {
		m := normed.Model(t, modelcase.Features)
		spoil(m)
		file, err := Export(m, testVersion)
		assert.EqualError(t, err, want)
		assert.Nil(t, file)
	}
	m := normed.Model(t, modelcase.Features)
	whole := len(exported(t, m))
	_, err := export(m, testVersion, whole)
	require.NoError(t, err)
	_, err = export(m, testVersion, whole-1)
	require.EqualError(t, err, fmt.Sprintf("the model takes %d bytes: an ONNX file holds %d at most", whole, whole-1))
	_, err = export(m, "", 100)
	require.EqualError(t, err, "the weights take 460 bytes: an ONNX file holds 100 at most")
	_, err = Export(&cached.Model{}, "")
	require.ErrorContains(t, err, "settings: no model")
	_, err = Export(nil, "")
	require.EqualError(t, err, "the model is nil: read one with cached.LoadModel")
	m.Settings.Regulariser, m.Settings.RegulariserRate = hyper.DropGNNRegulariser, 0.3
	_, err = Export(m, "")
	require.EqualError(t, err, "what is saved or cached predicts by one run, and DropGNN averages several: expected another "+
		"regulariser")
	b := &builder{}
	b.layer(nil, value{})
	require.EqualError(t, b.err, "a layer <nil>: no export is written for it")
}

func TestSavingReplacesAFileAsAWholeOrLeavesIt(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "model.onnx")
	require.NoError(t, os.WriteFile(path, []byte("before"), 0o666))
	m := testCases()[0].Model(t, modelcase.Features)
	bad := *m
	bad.Classes = nil
	require.Error(t, Save(path, &bad, ""))
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "before", string(have))
	require.NoError(t, Save(path, m, testVersion))
	have, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, exported(t, m), have)
	require.ErrorContains(t, Save(filepath.Join(folder, "nowhere", "model.onnx"), m, ""),
		"model.onnx: the model cannot be written: ")
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, files, 1, "nothing else is left")
}

// collection is what check_onnx.py reads if $NODEMASK_ONNX names a folder: models, graphs and our logits.
type collection struct {
	folder string
	models map[string]*collectedModel
}

type collectedModel struct {
	File    string           `json:"file"`
	Version string           `json:"version"`
	Graphs  []collectedGraph `json:"graphs"`
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

func newCollection(t *testing.T) *collection {
	t.Helper()
	return &collection{os.Getenv("NODEMASK_ONNX"), map[string]*collectedModel{}}
}

func (c *collection) add(t *testing.T, name string, file []byte, g testGraph, logits infer.Representation) {
	t.Helper()
	if c.folder == "" {
		return
	}
	if c.models[name] == nil {
		c.models[name] = &collectedModel{File: fmt.Sprintf("%02d.onnx", len(c.models))}
		require.NoError(t, os.MkdirAll(c.folder, 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(c.folder, c.models[name].File), file, 0o666))
	}
	one := collectedGraph{Name: g.name, Nodes: g.x.Rows, Width: g.x.Width, Logits: logits.Values}
	for v := range g.x.Rows {
		for column, value := range g.x.Row(v, nil) {
			if value != 0 {
				one.Rows, one.Columns, one.Values = append(one.Rows, v), append(one.Columns, column), append(one.Values, value)
			}
		}
	}
	one.Edges[0], one.Edges[1] = sourcesAndTargets(g.edges)
	c.models[name].Graphs = append(c.models[name].Graphs, one)
}

func (c *collection) write(t *testing.T) {
	t.Helper()
	if c.folder == "" {
		return
	}
	text, err := json.Marshal(c.models)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(c.folder, "models.json"), text, 0o666))
}
