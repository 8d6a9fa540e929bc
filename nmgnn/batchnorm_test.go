package nmgnn_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/kernels"
)

func TestBatchNormCountsMaskedNodesAndRunsItsStatisticsOn(t *testing.T) {
	gnntest.ForEachKernel(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		f := fiveNodes(t)
		f.features = gnntest.SparseRows([][]float32{{1}, {1}, {0}, {4}, {6}})
		f.mask = []float32{1, 1, 0, 1, 0} // c and e are masked
		f.model.Layers = []nmgnn.Layer{nmgnn.GIN{Width: []int{1, 2}, Norm: true}}
		f.weights = map[string][]float32{
			"/model/layer0/linear0/weights": {1}, "/model/layer0/linear0/biases": {0}, "/model/layer0/norm0/gamma": {2},
			"/model/layer0/norm0/beta":      {1},
			"/model/layer0/linear1/weights": {0.5, -1}, "/model/layer0/linear1/biases": {0, 0},
		}
		p := f.program(t, b, plan)
		got := p.step()
		// h + Σδh: a 1+1 = 2, b 2, c 0+1+1+4 = 6, d 4, e 6. Mean 4, deviations -2, -2, 2, 0, 2, sum of squares 16:
		// variance 16/5, running variance 16/4.
		up := float32(2*2/math.Sqrt(3.2+1e-5) + 1) // c and e; a and b are below zero, and d is β
		gnntest.InDelta(t, []float32{0, 0, 0, 0, up / 2, -up, 0.5, -1, up / 2, -up}, slices.Concat(got.layers[0]...), 1e-6,
			"in training")
		gnntest.InDelta(t, []float32{0.4}, got.running["/model/layer0/norm0/running_mean"], 1e-6, "0.9·0 + 0.1·4")
		gnntest.InDelta(t, []float32{1.3}, got.running["/model/layer0/norm0/running_variance"], 1e-6, "0.9·1 + 0.1·4")
		got = p.step()
		gnntest.InDelta(t, []float32{0.76}, got.running["/model/layer0/norm0/running_mean"], 1e-6, "0.9·0.4 + 0.1·4")
		gnntest.InDelta(t, []float32{1.57}, got.running["/model/layer0/norm0/running_variance"], 1e-6, "0.9·1.3 + 0.1·4")
		// Outside training, with these statistics. c sends zero, masked or not, so sums are as above.
		y := func(z float64) float32 { return float32(2*(z-0.76)/math.Sqrt(1.57+1e-5) + 1) }
		want := []float32{y(2) / 2, -y(2), y(2) / 2, -y(2), y(6) / 2, -y(6), y(4) / 2, -y(4), y(6) / 2, -y(6)}
		gnntest.InDelta(t, want, slices.Concat(p.tested()...), 1e-5, "outside training")
		again := p.step().running
		gnntest.InDelta(t, []float32{0.9*0.76 + 0.4}, again["/model/layer0/norm0/running_mean"], 1e-6,
			"running outside training moves nothing")
	})
}

func TestBatchNormOfASingleNodeIsBetaAndNotNaN(t *testing.T) {
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		f := fixed{edges: gnntest.Undirected(t, 1, nil), features: gnntest.SparseRows([][]float32{{3}}), labels: []int32{0},
			score: []int32{0}, classes: 2,
			model: nmgnn.Model{Layers: []nmgnn.Layer{nmgnn.GIN{Width: []int{1, 2}, Norm: true}}},
			weights: map[string][]float32{
				"/model/layer0/linear0/weights": {1}, "/model/layer0/linear0/biases": {0}, "/model/layer0/norm0/gamma": {2},
				"/model/layer0/norm0/beta":      {1},
				"/model/layer0/linear1/weights": {0.5, -1}, "/model/layer0/linear1/biases": {0, 0},
			}}
		got := f.compute(t, b, kernels.Plan{Kernel: kernels.ScatterKernel})
		require.Equal(t, [][]float32{{0.5, -1}}, got.layers[0])
		gnntest.InDelta(t, []float32{0.9}, got.running["/model/layer0/norm0/running_variance"], 1e-6, "0.9·1 + 0.1·0")
		require.Equal(t, []float32{0}, got.gradients["/model/layer0/linear0/weights"])
	})
}

// normFixture is a case of testdata/norm_fixtures.json, computed by PyTorch in double precision.
type normFixture struct {
	fixture
	Eps      float64
	Norm     string
	Readout  string
	Residual bool
	Widths   [][]int
	Weights  map[string]json.RawMessage
	Outputs  [][][]float32
	Grad     map[string]json.RawMessage
	Once     map[string]json.RawMessage
	Twice    map[string]json.RawMessage
	Tested   [][]float32
}

func TestBatchNormReadoutsAndResidualsAgreeWithPyTorch(t *testing.T) {
	cases := casesOf[normFixture](t, "norm_fixtures.json")
	gnntest.ForEachKernel(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		for _, c := range cases {
			t.Run(c.Name, func(t *testing.T) {
				gnntest.Sampled(t, b, strings.Contains(c.Name, "random 14") || strings.Contains(c.Name, "4 layers") ||
					plan.Kernel == kernels.FusedKernel && (c.Readout == "last" || strings.Contains(c.Name, "everything")))
				classes := len(c.Tested[0])
				f := c.fixed(t, classes)
				f.model = nmgnn.Model{Norm: c.Norm == "both", Residual: c.Residual}
				if c.Readout != "" {
					f.model.Readout = nmgnn.Readout{Classes: classes, All: c.Readout == "all"}
				}
				for _, widths := range c.Widths {
					f.model.Layers = append(f.model.Layers, nmgnn.GIN{Width: widths, Epsilon: c.Eps, Norm: c.Norm != ""})
				}
				all := func(of map[string]json.RawMessage) map[string][]float32 {
					byPath := map[string][]float32{}
					for name, raw := range of {
						byPath["/model/"+name], _ = numbers(t, raw)
					}
					return byPath
				}
				f.weights = all(c.Weights)
				p := f.program(t, b, plan)
				got := p.step()
				c.agrees(t, got, c.Outputs, all(c.Grad))
				allInDelta(t, all(c.Once), got.running, "after one step,")
				allInDelta(t, all(c.Twice), p.step().running, "after two steps,")
				gnntest.InDelta(t, slices.Concat(c.Tested...), slices.Concat(p.tested()...), 1e-5, "outside training")
			})
		}
	})
}

// readOut runs a GIN layer of one output and a readout, with dropout, over 50 isolated nodes and returns h^(1) and the
// logits for each of two keys. first holds weights by path.
func readOut(t *testing.T, b *backend.Backend, all, scoresOnly bool, x [][]float32,
	first func(path string) float32) (hidden, logits [2][][]float32) {
	t.Helper()
	store := gnntest.Store(t)
	plan := kernels.Plan{Kernel: kernels.FusedKernel}
	near := nearOf(t, store, plan, 50, nil)
	m := nmgnn.Model{Layers: []nmgnn.Layer{nmgnn.GIN{Width: []int{1}}}, Readout: nmgnn.Readout{Classes: 1, All: all},
		Dropout: 0.5, ScoresOnly: scoresOnly}
	exec, err := model.NewExec(b.Backend, store, func(scope *model.Scope, key, h *Node) []*Node {
		r := nmgnn.NewRandom(key)
		return m.Forward(nmgnn.Pass{Scope: scope.At("model"), Near: near(r), Features: nmgnn.Dense(h), Random: r})
	})
	require.NoError(t, err)
	h := tensors.FromValue(x)
	_, err = exec.Compile(tensors.FromValue([]uint32{3, 9}).Shape(), h.Shape())
	require.NoError(t, err)
	for v := range store.IterVariables() {
		if path, ok := strings.CutPrefix(v.Path(), "/model/"); ok {
			require.NoError(t, v.SetValue(tensors.FromFlatDataAndDimensions([]float32{first(path)}, 1, 1)))
		}
	}
	for i := range logits {
		outputs, err := exec.Call(tensors.FromValue([]uint32{uint32(3 + i), 9}), h)
		require.NoError(t, err)
		hidden[i], logits[i] = outputs[0].Value().([][]float32), outputs[1].Value().([][]float32)
	}
	return hidden, logits
}

func TestDropoutOnScoresAloneLeavesLayersInputs(t *testing.T) {
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		for _, all := range []bool{false, true} {
			for _, scoresOnly := range []bool{false, true} {
				hidden, logits := readOut(t, b, all, scoresOnly, whole(50, 1, 1), func(string) float32 { return 3 })
				require.Equal(t, scoresOnly, assert.ObjectsAreEqual(hidden[0], hidden[1]),
					"h^(1) with dropout on scores only: %v", scoresOnly)
				require.NotEqual(t, logits[0], logits[1], "scores")
				if scoresOnly && !all { // dropout(3·h^(1) + 3), so some logits are 0, bias and all
					for i := range logits[0] {
						require.Contains(t, []float32{0, 2 * (3*hidden[0][i][0] + 3)}, logits[0][i][0])
					}
				}
			}
		}
	})
}

func TestReadoutsDropOutInTrainingAsTheyAreDefined(t *testing.T) {
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		for _, all := range []bool{false, true} {
			// h^(1) = relu(0·h + 1) = 1 whatever is dropped. Scores: 2 for h^(1); with all, 4 for the features.
			weights := map[string]float32{"layer0/linear0/biases": 1, "readout/weights": 2, "readout0/biases": 4,
				"readout1/weights": 2} // others are 0
			_, logits := readOut(t, b, all, false, whole(50, 1, 0), func(path string) float32 { return weights[path] })
			seen := map[float32]int{}
			for _, row := range logits[0] {
				seen[row[0]]++
			}
			// Dropped at ½ or doubled: twice 2; with all, separately for each score.
			want := []float32{0, 4}
			if all {
				want = []float32{0, 4, 8, 12}
			}
			require.Len(t, seen, len(want))
			for _, value := range want {
				require.Positive(t, seen[value], fmt.Sprint(value))
			}
		}
	})
}
