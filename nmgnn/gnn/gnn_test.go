package gnn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/layers/regularizer"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/checkpoint"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/optimizer"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/gnn"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/gomlx"
	nmtrain "nodemask/nmgnn/train"
)

func TestGINTrainsUnderGoMLXsTrainerAsUnderOurs(t *testing.T) {
	const steps, seed = 20, 3
	g, view := gnntest.Camps(t, 50, datasets.Transductive)
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		m := nmgnn.Model{Layers: []nmgnn.Layer{nmgnn.GIN{Width: []int{8, 8}}, nmgnn.GIN{Width: []int{g.NumClasses()}}}}
		p, err := hyper.Preset("standard")
		require.NoError(t, err)
		p.MaxEpochs, p.Patience, p.WeightDecay, p.NormalizeFeatures = steps, steps, 0, false
		ours := nmtrain.Experiment{Graph: g, Own: &m, Parameters: p.WithMasking(0.5), Setting: datasets.Transductive,
			TrainPercent: 50, SplitSeed: 1}
		results, err := ours.Run(t.Context(), b, []uint64{seed}, nmtrain.RunOptions{})
		require.NoError(t, err)
		trial := results[0]

		store := model.NewStore()
		first, err := infer.Untrained(b, m, g.Features.Width, seed)
		require.NoError(t, err)
		for _, w := range first.Weights {
			_, err := store.CreateVariable(w.Path, tensors.FromFlatDataAndDimensions(w.Values, w.Dimensions...))
			require.NoError(t, err)
		}
		edges := gnn.New(view.Train.Edges)
		trainer := train.NewTrainer(b.Backend, store, func(scope *model.Scope, in []*Node) *Node {
			scope = scope.At(gomlx.ModelScope)
			x := activation.Relu(gnn.GIN(scope.In("layer0"), edges, in[0], 8, 8).Mask(in[1]).Done())
			return gnn.GIN(scope.In("layer1"), edges, x, g.NumClasses()).Mask(in[1]).Done()
		}, loss.SparseCategoricalCrossEntropyLogits, optimizer.Adam().LearningRate(0.01).Epsilon(1e-8).Done(), nil, nil)
		n, draw := g.NumNodes(), rand.New(gomlx.HostSource(seed, "mask"))
		labels, scored := make([]int32, n), make([]bool, n)
		for _, v := range view.Train.Score {
			labels[v], scored[v] = g.Labels[view.Train.Nodes[v]], true
		}
		x := g.Features.Select(view.Train.Nodes).Stored(false).Dense
		for step := range steps {
			delta := hyper.KeepRate(0.5).Draw(draw, n, nil).Delta()
			metrics, err := trainer.TrainStep(train.Batch{
				Inputs: []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, n, g.Features.Width),
					tensors.FromFlatDataAndDimensions(delta, n)},
				Labels: []*tensors.Tensor{tensors.FromFlatDataAndDimensions(labels, n, 1), tensors.FromValue(scored)}})
			require.NoError(t, err)
			require.InDelta(t, trial.History[step].TrainLoss, tensors.ToScalar[float32](metrics[0]), 1e-5, "step %d", step)
		}
	})
}

type layerFn func(scope *model.Scope, x *Node) *Node

// under returns GoMLX's trainer of f. The loss is the sum of f's outputs; steps leave weights as they are.
func under(b *backend.Backend, store *model.Store, f layerFn) *train.Trainer {
	sum := func(_, predictions []*Node) *Node { return ReduceAllSum(predictions[0]) }
	return train.NewTrainer(b.Backend, store, func(scope *model.Scope, in []*Node) *Node { return f(scope, in[0]) }, sum,
		optimizer.StochasticGradientDescent().WithLearningRate(1e-30).Done(), nil, nil)
}

func batchOf(t *testing.T, x any) train.Batch {
	t.Helper()
	rows, err := tensors.FromAnyValue(x)
	require.NoError(t, err)
	return train.Batch{Inputs: []*tensors.Tensor{rows}}
}

func trained(t *testing.T, trainer *train.Trainer, x any) float32 {
	t.Helper()
	metrics, err := trainer.TrainStep(batchOf(t, x))
	require.NoError(t, err)
	return tensors.ToScalar[float32](metrics[0])
}

func evaluated(t *testing.T, trainer *train.Trainer, x any) float32 {
	t.Helper()
	metrics, err := trainer.EvalStep(batchOf(t, x))
	require.NoError(t, err)
	return tensors.ToScalar[float32](metrics[0])
}

func numbers(t *testing.T, store *model.Store, path string) []float32 {
	t.Helper()
	value, err := store.GetVariable(path).Value()
	require.NoError(t, err)
	return tensors.MustCopyFlatData[float32](value)
}

var five = [][]float32{{1, 0}, {0, 1}, {2, 1}, {1, 3}, {0, 0}}

func TestLayersDropAndMaskInTrainingAlone(t *testing.T) {
	edges := gnn.New(gnntest.Undirected(t, 5, [][2]int32{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}}))
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		for name, f := range map[string]layerFn{
			"attention dropout": func(scope *model.Scope, x *Node) *Node {
				return gnn.GAT(scope, edges, x, 4, 8).AttentionDropout(0.5).Done()
			},
			"masking and dropout, by the scope": func(scope *model.Scope, x *Node) *Node {
				scope.SetParam("node_keep_rate", 0.5)
				scope.SetParam("attention_dropout", 0.5)
				return gnn.GATv2(scope, edges, x, 4, 8).Mask(gnn.DrawMask(scope, edges, x, 0)).Done()
			},
		} {
			trainer := under(b, model.NewStore(), f)
			require.NotEqual(t, trained(t, trainer, five), trained(t, trainer, five), name)
			require.Equal(t, evaluated(t, trainer, five), evaluated(t, trainer, five), name)
		}
	})
}

func TestWeightsStartWhereTheirLayersHaveThem(t *testing.T) {
	edges := gnn.New(gnntest.Undirected(t, 5, [][2]int32{{0, 1}}))
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		store := model.NewStore()
		defer store.Finalize()
		trainer := under(b, store, func(scope *model.Scope, x *Node) *Node {
			x = gnn.Apply(scope.In("gin"), edges, x, nmgnn.GIN{Width: []int{16, 16}, Norm: true}).Done()
			return gnn.GAT(scope.In("gat"), edges, x, 2, 8).Done()
		})
		require.False(t, math.IsNaN(float64(evaluated(t, trainer, five))), "running variances start at 1")
		for path, bound := range map[string]float64{"/gin/linear0/weights": math.Sqrt(0.5), "/gin/linear0/biases": math.Sqrt(
			0.5), "/gin/linear1/biases": 0.25, "/gat/weights": math.Sqrt(6.0 / 32), "/gat/biases": 0, "/gin/norm0/beta": 0} {
			for _, w := range numbers(t, store, path) {
				require.LessOrEqual(t, math.Abs(float64(w)), bound+1e-6, path)
			}
		}
		for _, path := range []string{"/gin/norm0/gamma", "/gin/norm0/running_variance"} {
			require.Equal(t, float32(1), numbers(t, store, path)[3])
		}
	})
}

type adder struct{}

func (adder) Forward(scope *model.Scope, near nmgnn.Neighbours, h nmgnn.Input, mask *Node) *Node {
	one := Exp(nmgnn.ZeroWeights(scope, h.Graph(), "zero", 1, 1)) // trainers need something to train
	return Mul(near.Sum(h.Node(), mask), one)
}

func sums(g *gnn.Graph) layerFn {
	return func(scope *model.Scope, x *Node) *Node { return gnn.Apply(scope, g, x, adder{}).Done() }
}

func TestAnotherGraphOfTheSameSizeIsTheOneUsed(t *testing.T) {
	a := gnn.New(gnntest.Undirected(t, 5, [][2]int32{{0, 1}}))
	c := gnn.New(gnntest.Undirected(t, 5, [][2]int32{{3, 4}}))
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		store := model.NewStore()
		defer store.Finalize()
		ofA, ofC := under(b, store, sums(a)), under(b, store, sums(c))
		require.Equal(t, []float32{2, 4, 2}, []float32{trained(t, ofA, five), trained(t, ofC, five), trained(t, ofA, five)})
	})
}

func TestCheckpointsHoldNoGraph(t *testing.T) {
	edges := gnntest.Undirected(t, 5, [][2]int32{{0, 1}, {1, 2}})
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		for _, before := range []bool{true, false} {
			store, folder, g := model.NewStore(), t.TempDir(), gnn.New(edges)
			var saved *checkpoint.Handler
			if before {
				saved = checkpoint.Build(store).Dir(folder).MustDone()
			}
			trained(t, under(b, store, func(scope *model.Scope, x *Node) *Node {
				return gnn.GAT(scope.In("gat"), g, gnn.GIN(scope.In("gin"), g, x, 4, 4).Done(), 2, 2).Done()
			}), five)
			require.NotEmpty(t, g.Variables(store))
			if !before {
				saved = checkpoint.Build(store).Dir(folder).ExcludeVars(g.Variables(store)...).MustDone()
			}
			require.NoError(t, saved.Save())
			again := model.NewStore()
			checkpoint.Load(again).Dir(folder).Immediate().MustDone()
			var weights int
			for v := range again.IterVariables() {
				require.False(t, strings.HasPrefix(v.Path(), "/gnn/"), v.Path())
				if strings.HasPrefix(v.Path(), "/gat/") || strings.HasPrefix(v.Path(), "/gin/") {
					weights++
				}
			}
			require.Equal(t, 8, weights)
			for scoped, value := range again.IterParams() {
				require.False(t, strings.Contains(fmt.Sprint(scoped), "_first"), "%v: %v", scoped, value)
			}
		}
	})
}

func TestMasksAndRowsOfOtherTypesAreTaken(t *testing.T) {
	g := gnn.New(gnntest.Undirected(t, 5, [][2]int32{{0, 1}, {1, 3}}))
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		for _, mask := range []any{[]bool{true, false, true, true, true}, []float32{1, 0, 1, 1, 1},
			[][]int32{{1}, {0}, {1}, {1}, {1}}, []float64{1, 0, 1, 1, 1}} {
			for _, x := range []any{five, [][]float64{{1, 0}, {0, 1}, {2, 1}, {1, 3}, {0, 0}}} {
				trainer := under(b, model.NewStore(), func(scope *model.Scope, x *Node) *Node {
					y := gnn.Apply(scope, g, x, adder{}).Mask(Const(x.Graph(), mask)).Done()
					require.Equal(t, x.DType(), y.DType())
					return ConvertDType(y, dtypes.Float32)
				})
				require.Equal(t, float32(1+4), trained(t, trainer, x), "of 0 and 3; 1 is masked: %T", mask)
			}
		}
		_, err := under(b, model.NewStore(), sums(g)).TrainStep(batchOf(t, [][]int32{{1}, {0}, {2}, {1}, {0}}))
		require.ErrorContains(t, err, "x is (Int32)[5, 1]: expected floats [5, width], a row for each node")
	})
}

func TestSparseFeaturesAreThoseThatAreGivenDensely(t *testing.T) {
	edges := gnntest.Undirected(t, 5, [][2]int32{{0, 1}, {1, 2}})
	wide := make([][]float32, 5) // a tenth is not zero: stored sparsely
	for v := range wide {
		wide[v] = make([]float32, 10)
		wide[v][2*v] = float32(v + 1)
	}
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		store, one := model.NewStore(), [][]float32{{0}, {0}, {0}, {0}, {0}}
		defer store.Finalize()
		dense := gnn.New(edges)
		want := trained(t, under(b, store, func(scope *model.Scope, x *Node) *Node {
			return gnn.GIN(scope, dense, x, 3, 2).Done()
		}), wide)
		g := gnn.New(edges).WithFeatures(gnntest.SparseRows(wide))
		for _, dropout := range []float64{0, 0.5} {
			trainer := under(b, store, func(scope *model.Scope, x *Node) *Node {
				return gnn.GIN(scope, g, x, 3, 2).Features(dropout).Done()
			})
			require.InDelta(t, want, evaluated(t, trainer, one), 1e-5)
			if got := trained(t, trainer, one); dropout == 0 {
				require.InDelta(t, want, got, 1e-5)
			}
		}
		_, err := under(b, store, func(scope *model.Scope, x *Node) *Node {
			return gnn.GIN(scope, dense, x, 3, 2).Features(0).Done()
		}).TrainStep(batchOf(t, one))
		require.ErrorContains(t, err, "the graph has no features: give it some by WithFeatures")
	})
}

func TestReplacedGraphsNeedNoCompilation(t *testing.T) {
	none := datasets.Features{}
	pair := gnntest.Undirected(t, 2, [][2]int32{{0, 1}})
	path := gnntest.Undirected(t, 4, [][2]int32{{0, 1}, {1, 2}, {2, 3}})
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		g, built := gnn.New(pair).Reserve(5, 8, 0), 0
		trainer := under(b, model.NewStore(), func(scope *model.Scope, x *Node) *Node {
			built++
			return sums(g)(scope, x)
		})
		require.Equal(t, float32(1+1), trained(t, trainer, five))
		require.NoError(t, g.Replace(none, path))
		require.Equal(t, float32(1+2*1+2*3+4), trained(t, trainer, five), "ends once, those between them twice")
		require.NoError(t, g.Replace(none, pair))
		require.Equal(t, float32(1+1), trained(t, trainer, five))
		require.Equal(t, 1, built)
		require.ErrorContains(t, g.Replace(none, gnntest.Undirected(t, 6, nil)),
			"1 graphs of 6 nodes, 0 neighbours and 0 values: there is room for 1, 5, 8 and 0")
		require.ErrorContains(t, gnn.New(pair).Replace(none, path), "call Reserve before the first layer")
	})
}

func TestPoolsAreOfEachGraphsRows(t *testing.T) {
	pair, one := gnntest.Undirected(t, 2, [][2]int32{{0, 1}}), gnntest.Undirected(t, 1, nil)
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		g := gnn.New(pair, one, pair).Reserve(6, 6, 0)
		store := model.NewStore()
		defer store.Finalize()
		exec, err := model.NewExec(b.Backend, store, func(scope *model.Scope, x *Node) []*Node {
			top := g.PoolMax(scope, x)
			return []*Node{g.PoolSum(scope, x), g.PoolMean(scope, x), top, Gradient(ReduceAllSum(Square(top)), x)[0],
				gnn.Apply(scope, g, x, adder{}).Done()}
		})
		require.NoError(t, err)
		defer exec.Finalize()
		pooled := func() (all []any) {
			outputs, err := exec.Call([][]float32{{1, -1}, {3, -2}, {5, 5}, {7, 1}, {9, 3}, {100, 100}})
			require.NoError(t, err)
			for _, y := range outputs {
				all = append(all, y.Value())
			}
			return all
		}
		require.Equal(t, []any{[][]float32{{4, -3}, {5, 5}, {16, 4}}, [][]float32{{2, -1.5}, {5, 5}, {8, 2}},
			[][]float32{{3, -1}, {5, 5}, {9, 3}}, [][]float32{{0, -2}, {6, 0}, {10, 10}, {0, 0}, {18, 6}, {0, 0}},
			[][]float32{{3, -2}, {1, -1}, {0, 0}, {9, 3}, {7, 1}, {0, 0}}}, pooled(), "the last row is spare")
		require.NoError(t, g.Replace(datasets.Features{}, one, pair))
		require.Equal(t, []any{[][]float32{{1, -1}, {8, 3}, {0, 0}}, [][]float32{{1, -1}, {4, 1.5}, {0, 0}},
			[][]float32{{1, -1}, {5, 5}, {0, 0}}, [][]float32{{2, -2}, {0, 0}, {10, 10}, {0, 0}, {0, 0}, {0, 0}},
			[][]float32{{0, 0}, {5, 5}, {3, -2}, {0, 0}, {0, 0}, {0, 0}}}, pooled(), "no third graph")
	})
}

func TestTheScopesRegularizationIsOfWeights(t *testing.T) {
	g := gnn.New(gnntest.Undirected(t, 5, [][2]int32{{0, 1}}))
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		store := model.NewStore()
		defer store.Finalize()
		layer := func(scope *model.Scope, x *Node) *Node { return gnn.GIN(scope.In("gin"), g, x, 3).Done() }
		without := trained(t, under(b, store, layer), five)
		store.SetParam("/"+regularizer.ParamL2, 0.5)
		var squares float32
		for _, w := range numbers(t, store, "/gin/linear0/weights") {
			squares += w * w
		}
		require.InDelta(t, without+squares/2, trained(t, under(b, store, layer), five), 1e-5)
	})
}
