package nmgnn_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/kernels"
)

// layerFixture is a case of testdata/layer_fixtures.json, computed by PyTorch Geometric in double precision.
type layerFixture struct {
	fixture
	Layer  string
	Kept   bool `json:"self_kept"`
	Layers []map[string]json.RawMessage
	Hidden [][][]float32
	Logits [][]float32
	Grad   struct{ Layers []map[string]json.RawMessage }
}

var parameterNames = map[string]map[string]string{
	"gat":  {"w": "weights", "a_source": "source", "a_target": "target", "b": "biases"},
	"sgat": {"w": "weights", "b": "biases"},
	"gcn":  {"w": "weights", "b": "biases"},
	"sage": {"w_neighbours": "weights", "b": "biases", "w_root": "root_weights"},
	"gatv2": {"w_source": "source_weights", "b_source": "source_biases", "w_target": "target_weights",
		"b_target": "target_biases",
		"a":        "attention", "b": "biases"},
}

func numbers(t *testing.T, raw json.RawMessage) (flat []float32, columns int) {
	t.Helper()
	var rows [][]float32
	if json.Unmarshal(raw, &rows) == nil {
		return slices.Concat(rows...), len(rows[0])
	}
	require.NoError(t, json.Unmarshal(raw, &flat))
	return flat, len(flat)
}

func TestLayersAgreeWithPyTorchGeometric(t *testing.T) {
	cases := casesOf[layerFixture](t, "layer_fixtures.json")
	seen := map[string]bool{}
	gnntest.ForEachKernel(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		for _, c := range cases {
			t.Run(c.Name, func(t *testing.T) {
				most := c.N == 20 && c.Kept || c.N == 30 && !strings.Contains(c.Layer, "gat") // isolated; three layers
				if plan.Kernel == kernels.FusedKernel {
					most = most || c.N == 30 || c.N == 12 && c.Mask == nil || c.N == 5 && !c.Kept // no mask; no edges
				}
				gnntest.Sampled(t, b, most)
				f := c.fixed(t, len(c.Logits[0]))
				if strings.Contains(c.Layer, "gat") {
					f.model.Activation = kernels.ELU
				}
				gradients := map[string][]float32{}
				for i, parameters := range c.Layers {
					width, heads := 0, 1
					for name, raw := range parameters {
						if name == "heads" {
							require.NoError(t, json.Unmarshal(raw, &heads))
							continue
						}
						path := fmt.Sprintf("/model/layer%d/%s", i, parameterNames[c.Layer][name])
						values, columns := numbers(t, raw)
						f.weights[path] = values
						gradients[path], _ = numbers(t, c.Grad.Layers[i][name])
						if name == "b" {
							width = columns
						}
					}
					var layer nmgnn.Layer
					switch c.Layer {
					case "gat":
						layer = nmgnn.GAT{Heads: heads, Width: width / heads, KeepSelf: c.Kept}
					case "gatv2":
						layer = nmgnn.GATv2{Heads: heads, Width: width / heads, KeepSelf: c.Kept}
					case "sgat":
						layer = nmgnn.SGAT{Width: width, KeepSelf: c.Kept}
					case "gcn":
						layer = nmgnn.GCN{Width: width}
					case "sage":
						layer = nmgnn.SAGE{Width: width}
					}
					f.model.Layers = append(f.model.Layers, layer)
				}
				seen[c.Layer] = true
				c.agrees(t, f.compute(t, b, plan), append(c.Hidden, c.Logits), gradients)
			})
		}
	})
	require.Len(t, seen, len(parameterNames), "every layer has cases")
}

// fiveNodes returns these edges and features, and a layer that doubles and adds ½:
//
//	a(0)–b(1), a–c(2), b–c, c–d(3), and e(4) alone
//	h = a: 1, b: 2, c: 4, d: 8, e: 16
func fiveNodes(t *testing.T) fixed {
	return fixed{
		model:    nmgnn.Model{Layers: []nmgnn.Layer{nmgnn.GIN{Width: []int{2}}}},
		edges:    gnntest.Undirected(t, 5, [][2]int32{{0, 1}, {0, 2}, {1, 2}, {2, 3}}),
		features: gnntest.SparseRows([][]float32{{1}, {2}, {4}, {8}, {16}}),
		labels:   []int32{0, 1, 0, 1, 0}, score: []int32{0}, classes: 2,
		weights: map[string][]float32{"/model/layer0/linear0/weights": {2, -1}, "/model/layer0/linear0/biases": {0.5, 0}},
	}
}

func TestGINSumsTheRootAndItsNeighbours(t *testing.T) {
	gnntest.ForEachPlan(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		got := fiveNodes(t).compute(t, b, plan)
		// h + Σ: a 1+(2+4)=7, b 2+(1+4)=7, c 4+(1+2+8)=15, d 8+4=12, e 16; then 2z+½ and −z.
		require.Equal(t, [][]float32{{14.5, -7}, {14.5, -7}, {30.5, -15}, {24.5, -12}, {32.5, -16}}, got.layers[0])
		// Loss of node a, class 0: −log softmax(14.5, −7)₀ = log(1+e^−21.5).
		require.InDelta(t, math.Log1p(math.Exp(-21.5)), got.loss, 1e-7)
	})
}

func TestMaskedNodesOfGINAreInNoSumButComputeThemselves(t *testing.T) {
	gnntest.ForEachPlan(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		f := fiveNodes(t)
		f.mask = []float32{1, 1, 0, 1, 0} // c and e are masked
		// Logits close to each other give a telling gradient.
		f.weights["/model/layer0/linear0/weights"] = []float32{0.5, 0.25}
		f.weights["/model/layer0/linear0/biases"] = []float32{0, 0}
		got := f.compute(t, b, plan)
		// h + Σδh: a 1+2=3, b 2+1=3, c 4+(1+2+8)=15 (a masked node is still a root), d 8+0=8, e 16.
		require.Equal(t, [][]float32{{1.5, 0.75}, {1.5, 0.75}, {7.5, 3.75}, {4, 2}, {8, 4}}, got.layers[0])
		// ∂loss/∂logits of node a = softmax − onehot = (−q, q), q = 1/(1+e^0.75); ∂/∂W = z_a·(−q, q) with z_a
		// = 3.
		q := 1 / (1 + math.Exp(0.75))
		gnntest.InDelta(t, []float32{float32(-3 * q), float32(3 * q)}, got.gradients["/model/layer0/linear0/weights"], 1e-6,
			"weights")
		gnntest.InDelta(t, []float32{float32(-q), float32(q)}, got.gradients["/model/layer0/linear0/biases"], 1e-6, "biases")
	})
}

func TestGINSharesOneMaskAmongAllLayers(t *testing.T) {
	gnntest.ForEachKernel(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		f := fiveNodes(t)
		f.model.Layers = []nmgnn.Layer{nmgnn.GIN{Width: []int{1}}, nmgnn.GIN{Width: []int{2}}}
		f.mask = []float32{1, 1, 0, 1, 1}
		f.weights = map[string][]float32{
			"/model/layer0/linear0/weights": {1}, "/model/layer0/linear0/biases": {0},
			"/model/layer1/linear0/weights": {1, 2}, "/model/layer1/linear0/biases": {0, 0},
		}
		got := f.compute(t, b, plan)
		// Layer 1: a 1+2=3, b 2+1=3, c 4+1+2+8=15, d 8, e 16. Layer 2: a 3+3=6, b 3+3=6, c 15+3+3+8=29, d 8, e 16.
		require.Equal(t, [][]float32{{3}, {3}, {15}, {8}, {16}}, got.layers[0])
		require.Equal(t, [][]float32{{6, 12}, {6, 12}, {29, 58}, {8, 16}, {16, 32}}, got.layers[1])
	})
}

func TestGINFollowsTheRowsOfADirectedGraphBothWays(t *testing.T) {
	gnntest.ForEachPlan(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		f := fiveNodes(t)
		f.model.Layers = []nmgnn.Layer{nmgnn.GIN{Width: []int{1}}, nmgnn.GIN{Width: []int{2}}}
		f.edges = gnntest.Directed(t, 5, [][2]int32{{0, 1}, {0, 2}, {2, 3}}) // a sees b and c, c sees d
		f.weights = map[string][]float32{
			"/model/layer0/linear0/weights": {0.5}, "/model/layer0/linear0/biases": {0},
			"/model/layer1/linear0/weights": {0.25, 0.5}, "/model/layer1/linear0/biases": {0, 0},
		}
		got := f.compute(t, b, plan)
		// Layer 1, half of: a 1+2+4=7, b 2, c 4+8=12, d 8, e 16. Layer 2 of a: 3.5+1+6 = 10.5, times ¼ and ½.
		require.Equal(t, [][]float32{{3.5}, {1}, {6}, {4}, {8}}, got.layers[0])
		require.Equal(t, []float32{2.625, 5.25}, got.layers[1][0])
		// Class 0: ∂loss/∂logits = (−q, q), q = σ(5.25−2.625); ∂/∂z = q·(½−¼) = q/4; z = w·(7+2+12):
		// ∂/∂w = 21·q/4.
		q := 1 / (1 + math.Exp(-2.625))
		gnntest.InDelta(t, []float32{float32(21 * q / 4)}, got.gradients["/model/layer0/linear0/weights"], 1e-5, "weights")
	})
}

func TestGINLearnsEpsilonFromItsGradient(t *testing.T) {
	gnntest.ForEachKernel(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		f := fiveNodes(t)
		f.model.Layers = []nmgnn.Layer{nmgnn.GIN{Width: []int{2}, Epsilon: 0.25, LearnEpsilon: true}}
		f.weights["/model/layer0/linear0/weights"] = []float32{0.5, 0.25}
		f.weights["/model/layer0/linear0/biases"] = []float32{0, 0}
		f.weights["/model/layer0/epsilon"] = []float32{0.25}
		got := f.compute(t, b, plan)
		// (1+¼+¼)·h + Σ: a 1.5+6 = 7.5, and so on, as with ε = ½.
		require.Equal(t, []float32{3.75, 1.875}, got.layers[0][0])
		// ∂loss/∂ε = h_a·W·(−q, q) with h_a = 1, q = 1/(1+e^(3.75−1.875)): q·(¼−½).
		q := 1 / (1 + math.Exp(1.875))
		gnntest.InDelta(t, []float32{float32(-q / 4)}, got.gradients["/model/layer0/epsilon"], 1e-6, "epsilon")
	})
}

// ginFixture is a case of testdata/gin_fixtures.json, computed by PyTorch Geometric's GINConv in double precision.
type ginFixture struct {
	fixture
	Eps    float64
	Layers [][]struct {
		W [][]float32
		B []float32
	}
	Hidden [][][]float32
	Logits [][]float32
	Grad   struct {
		Layers [][]struct {
			W [][]float32
			B []float32
		}
	}
}

func TestGINAgreesWithPyTorchGeometricForwardAndBackward(t *testing.T) {
	cases := casesOf[ginFixture](t, "gin_fixtures.json")
	gnntest.ForEachKernel(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		for _, c := range cases {
			t.Run(c.Name, func(t *testing.T) {
				most := c.N == 40 || c.N == 20 && len(c.Layers[0]) == 2 // three layers and ε; isolated nodes
				if plan.Kernel == kernels.FusedKernel {
					most = most || c.N == 10 || c.N == 5 // no mask; no edges
				}
				gnntest.Sampled(t, b, most)
				f := c.fixed(t, len(c.Logits[0]))
				gradients := map[string][]float32{}
				for l, mlp := range c.Layers {
					gin := nmgnn.GIN{Epsilon: c.Eps}
					for i, linear := range mlp {
						gin.Width = append(gin.Width, len(linear.B))
						at := fmt.Sprintf("/model/layer%d/linear%d/", l, i)
						f.weights[at+"weights"], f.weights[at+"biases"] = slices.Concat(linear.W...), linear.B
						gradients[at+"weights"], gradients[at+"biases"] = slices.Concat(c.Grad.Layers[l][i].W...), c.Grad.Layers[l][i].B
					}
					f.model.Layers = append(f.model.Layers, gin)
				}
				c.agrees(t, f.compute(t, b, plan), append(c.Hidden, c.Logits), gradients)
			})
		}
	})
}
