package nmgnn

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"
)

// layerFixture is one case of testdata/layer_fixtures.json, computed by PyTorch Geometric in double precision.
type layerFixture struct {
	Name   string
	Layer  string
	N      int
	Edges  [][2]int32
	X      [][]float32
	Labels []int32
	Train  []int32
	Mask   []float32
	Layers []map[string]json.RawMessage
	Hidden [][][]float32
	Logits [][]float32
	Loss   float64
	Grad   struct{ Layers []map[string]json.RawMessage }
}

// Our names of the fixtures' parameters.
var parameterNames = map[string]map[string]string{
	"gat":  {"w": "weights", "a_source": "source", "a_target": "target", "b": "biases"},
	"sgat": {"w": "weights", "b": "biases"},
	"gcn":  {"w": "weights", "b": "biases"},
	"sage": {"w_neighbours": "weights", "b": "biases", "w_root": "root_weights"},
	"gatv2": {"w_source": "source_weights", "b_source": "source_biases", "w_target": "target_weights", "b_target": "target_biases",
		"a": "attention", "b": "biases"},
}

// numbers reads a number, list or list of lists, row by row.
func numbers(t *testing.T, raw json.RawMessage) (flat []float32, columns int) {
	t.Helper()
	var rows [][]float32
	if json.Unmarshal(raw, &rows) == nil {
		return flatten(rows), len(rows[0])
	}
	require.NoError(t, json.Unmarshal(raw, &flat))
	return flat, len(flat)
}

func TestLayersAgreeWithPyTorchGeometricForwardAndBackward(t *testing.T) {
	data, err := os.ReadFile("testdata/layer_fixtures.json")
	require.NoError(t, err)
	var file struct{ Cases []layerFixture }
	require.NoError(t, json.Unmarshal(data, &file))
	seen := map[string]bool{}
	forEachBestPlan(t, func(t *testing.T, b *Backend, plan Plan) {
		for _, c := range file.Cases {
			t.Run(c.Name, func(t *testing.T) {
				f := fixed{edges: undirected(t, c.N, c.Edges), features: sparseRows(c.X), mask: c.Mask, labels: c.Labels,
					score: c.Train, classes: len(c.Logits[0]), weights: map[string][]float32{}}
				if strings.Contains(c.Layer, "gat") {
					f.model.Activation = ELU
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
					var layer Layer
					switch c.Layer {
					case "gat":
						layer = GAT{Heads: heads, Width: width / heads}
					case "gatv2":
						layer = GATv2{Heads: heads, Width: width / heads}
					case "sgat":
						layer = SGAT{Width: width}
					case "gcn":
						layer = GCN{Width: width}
					case "sage":
						layer = SAGE{Width: width}
					}
					f.model.Layers = append(f.model.Layers, layer)
				}
				seen[c.Layer] = true
				got := f.compute(t, b, plan)
				for l, h := range append(c.Hidden, c.Logits) {
					inDelta(t, flatten(h), flatten(got.layers[l]), 1e-5, "h^(%d)", l+1)
				}
				require.InDelta(t, c.Loss, got.loss, 1e-5, "loss")
				require.Len(t, got.gradients, len(gradients))
				for path, want := range gradients {
					inDelta(t, want, got.gradients[path], 1e-5, "gradient of %s", path)
				}
			})
		}
	})
	require.Len(t, seen, len(parameterNames), "every layer has cases")
}

func TestELUIsExpMinusOneBelowZero(t *testing.T) {
	outputs, err := model.CallOnceN(goBackend(t).Backend, model.NewStore(), func(_ *model.Scope, x *Node) []*Node {
		y := ELU(x)
		return []*Node{y, Gradient(ReduceAllSum(MulScalar(y, 3)), x)[0]}
	}, [][]float32{{-1, 0, 2, -100}})
	require.NoError(t, err)
	require.InDeltaSlice(t, []float32{-0.63212056, 0, 2, -1}, outputs[0].Value().([][]float32)[0], 1e-6)
	require.InDeltaSlice(t, []float32{3 * 0.36787944, 3, 3, 0}, outputs[1].Value().([][]float32)[0], 1e-6)
}
