package gnn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/optimizer"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/gnn"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/variables"
	nmtrain "nodemask/nmgnn/train"
)

// crossEntropy is the mean over labelled rows: labels [nodes, 1], -1 for others.
func crossEntropy(labels, predictions []*Node) *Node {
	logits := predictions[0]
	known := GreaterOrEqual(labels[0], ZerosLike(labels[0]))
	class := OneHot(Squeeze(Max(labels[0], ZerosLike(labels[0])), 1), logits.Shape().Dimensions[1], logits.DType())
	weights := ConvertDType(Squeeze(known, 1), logits.DType())
	picked := ReduceSum(Mul(LogSoftmax(logits, 1), class), 1)
	return Neg(Div(ReduceAllSum(Mul(picked, weights)), ReduceAllSum(weights)))
}

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
			scope = scope.At(variables.ModelScope)
			x := activation.Relu(gnn.GIN(scope.In("layer0"), edges, in[0], 8, 8).Mask(in[1]).Done())
			return gnn.GIN(scope.In("layer1"), edges, x, g.NumClasses()).Mask(in[1]).Done()
		}, crossEntropy, optimizer.Adam().LearningRate(0.01).Epsilon(1e-8).Done(), nil, nil)
		n, draw := g.NumNodes(), rand.New(variables.HostSource(seed, "mask"))
		labels := make([]int32, n)
		for v := range labels {
			labels[v] = -1
		}
		for _, v := range view.Train.Score {
			labels[v] = g.Labels[view.Train.Nodes[v]]
		}
		x := g.Features.Select(view.Train.Nodes).Stored(false).Dense
		for step := range steps {
			delta := hyper.KeepRate(0.5).Draw(draw, n, nil).Delta()
			metrics, err := trainer.TrainStep(train.Batch{
				Inputs: []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, n, g.Features.Width),
					tensors.FromFlatDataAndDimensions(delta, n)},
				Labels: []*tensors.Tensor{tensors.FromFlatDataAndDimensions(labels, n, 1)}})
			require.NoError(t, err)
			require.InDelta(t, trial.History[step].TrainLoss, tensors.ToScalar[float32](metrics[0]), 1e-5, "step %d", step)
		}
	})
}

// run evaluates f twice on a new store.
func run(t *testing.T, b *backend.Backend, training bool, f func(scope *model.Scope, x *Node) *Node,
	x [][]float32) (first, second [][]float32, store *model.Store) {
	t.Helper()
	store = model.NewStore()
	exec, err := model.NewExec(b.Backend, store, func(scope *model.Scope, x *Node) *Node {
		scope.Store().SetTraining(x.Graph(), training)
		return f(scope, x)
	})
	require.NoError(t, err)
	defer exec.Finalize()
	for _, into := range []*[][]float32{&first, &second} {
		out, err := exec.Call(x)
		require.NoError(t, err)
		*into = out[0].Value().([][]float32)
	}
	return first, second, store
}

var five = [][]float32{{1, 0}, {0, 1}, {2, 1}, {1, 3}, {0, 0}}

func TestLayersDropAndMaskInTrainingAlone(t *testing.T) {
	edges := gnn.New(gnntest.Undirected(t, 5, [][2]int32{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}}))
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		for name, f := range map[string]func(scope *model.Scope, x *Node) *Node{
			"attention dropout": func(scope *model.Scope, x *Node) *Node {
				return gnn.GAT(scope, edges, x, 4, 8).AttentionDropout(0.9).Done()
			},
			"masking, by the scope": func(scope *model.Scope, x *Node) *Node {
				scope.SetParam("node_keep_rate", 0.5)
				return gnn.GCN(scope, edges, x, 8).Mask(gnn.DrawMask(scope, edges, x, 0)).Done()
			},
		} {
			first, second, _ := run(t, b, true, f, five)
			require.NotEqual(t, first, second, name)
			first, second, _ = run(t, b, false, f, five)
			require.Equal(t, first, second, name)
		}
	})
}

func TestWeightsStartWhereTheirLayersHaveThem(t *testing.T) {
	edges := gnn.New(gnntest.Undirected(t, 5, [][2]int32{{0, 1}}))
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		_, _, store := run(t, b, true, func(scope *model.Scope, x *Node) *Node {
			x = gnn.Of(scope.In("gin"), edges, x, nmgnn.GIN{Width: []int{16, 16}, Norm: true}).Done()
			return gnn.GAT(scope.In("gat"), edges, x, 2, 8).Done()
		}, five)
		defer store.Finalize()
		for path, bound := range map[string]float64{"/gin/linear0/weights": math.Sqrt(0.5), "/gin/linear0/biases": math.Sqrt(
			0.5), "/gin/linear1/biases": 0.25, "/gat/weights": math.Sqrt(6.0 / 32), "/gat/biases": 0, "/gin/norm0/beta": 0} {
			value, err := store.GetVariable(path).Value()
			require.NoError(t, err)
			for _, w := range tensors.MustCopyFlatData[float32](value) {
				require.LessOrEqual(t, math.Abs(float64(w)), bound+1e-6, path)
			}
		}
		gamma, err := store.GetVariable("/gin/norm0/gamma").Value()
		require.NoError(t, err)
		require.Equal(t, float32(1), tensors.MustCopyFlatData[float32](gamma)[3])
		for scoped, value := range store.IterParams() {
			require.False(t, strings.Contains(fmt.Sprint(scoped), "_first"), "%v: %v would be in checkpoints", scoped, value)
		}
	})
}

func TestGraphsOfOneSizeDoNotMeetInAStore(t *testing.T) {
	a := gnn.New(gnntest.Undirected(t, 5, [][2]int32{{0, 1}}))
	b := gnn.New(gnntest.Undirected(t, 5, [][2]int32{{3, 4}}))
	sum := func(g *gnn.Graph) func(*model.Scope, *Node) *Node {
		return func(scope *model.Scope, x *Node) *Node { return gnn.Of(scope, g, x, adder{}).Done() }
	}
	store := model.NewStore()
	defer store.Finalize()
	for g, want := range map[*gnn.Graph][][]float32{a: {{0, 1}, {1, 0}, {0, 0}, {0, 0}, {0, 0}},
		b: {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {1, 3}}} {
		out, err := model.CallOnce(gnntest.Go(t).Backend, store, sum(g), five)
		require.NoError(t, err)
		require.Equal(t, want, out.Value())
		require.NotEmpty(t, g.Variables(store))
	}
	require.Len(t, append(a.Variables(store), b.Variables(store)...), store.NumVariables(), "nothing else is stored")
}

// adder is a custom layer.
type adder struct{}

func (adder) Forward(_ *model.Scope, near nmgnn.Neighbours, h nmgnn.Input, mask *Node) *Node {
	return near.Sum(h.Node(), mask)
}
