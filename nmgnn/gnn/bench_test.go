package gnn_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/layers/fnn"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/optimizer"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/gnn"
)

// BenchmarkStep times GIN's training steps under GoMLX's trainer, in turns with this package and with GoMLX's Gather
// and ScatterSum.
func BenchmarkStep(b *testing.B) {
	for _, size := range []struct{ nodes, edges int }{{2_700, 10_600}, {200_000, 5_000_000}} {
		for _, id := range []string{"xla:cpu", "go"} {
			b.Run(fmt.Sprintf("nodes=%d/%s", size.nodes, id), func(b *testing.B) { benchmarkStep(b, id, size.nodes, size.edges) })
		}
	}
}

func benchmarkStep(b *testing.B, id string, nodes, edges int) {
	const width, classes = 64, 8
	opened, err := backend.Open(id)
	if err != nil {
		b.Skipf("skipped: %v", err)
	}
	defer opened.Finalize()
	r := rand.New(rand.NewPCG(1, 2))
	pairs := make([]csr.Edge, edges/2)
	for i := range pairs {
		pairs[i] = csr.Edge{Node: r.Int32N(int32(nodes)), Neighbour: r.Int32N(int32(nodes))}
	}
	all, _, err := csr.FromEdges(nodes, pairs, csr.Options{})
	require.NoError(b, err)
	x, labels := make([]float32, nodes*width), make([]int32, nodes)
	for i := range x {
		x[i] = r.Float32()
	}
	for v := range labels {
		labels[v] = r.Int32N(classes)
	}
	g := gnn.New(all)
	ours := func(scope *model.Scope, in []*Node) *Node {
		x := activation.Relu(gnn.GIN(scope.In("first"), g, in[0], width).Done())
		return gnn.GIN(scope.In("second"), g, x, classes).Done()
	}
	scatter := func(scope *model.Scope, in []*Node) *Node {
		variable := func(name string, numbers []int32) *Node {
			return scope.Store().VariableWithValue("/edges/"+name, tensors.FromFlatDataAndDimensions(numbers, len(numbers),
				1)).SetTrainable(false).NodeValue(in[0].Graph())
		}
		row, column := variable("row", all.Matrix().RowIndices()), variable("column", all.Indices)
		gin := func(name string, x *Node, width int) *Node {
			z := fnn.New(scope.In("%s", name), x, width).UseBias(false).Done()
			return Add(z, ScatterSum(ZerosLike(z), row, Gather(z, column), true, false))
		}
		return gin("second", activation.Relu(gin("first", in[0], width)), classes)
	}
	var trainers [2]*train.Trainer
	for i, f := range []func(*model.Scope, []*Node) *Node{ours, scatter} {
		trainers[i] = train.NewTrainer(opened.Backend, model.NewStore(), f, loss.SparseCategoricalCrossEntropyLogits,
			optimizer.Adam().Done(), nil, nil)
	}
	var laps [2][]float64
	step := func() {
		for i, trainer := range trainers {
			batch := train.Batch{Inputs: []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, nodes, width)},
				Labels: []*tensors.Tensor{tensors.FromFlatDataAndDimensions(labels, nodes, 1)}}
			begin := time.Now()
			metrics, err := trainer.TrainStep(batch)
			require.NoError(b, err)
			tensors.ToScalar[float32](metrics[0])
			laps[i] = append(laps[i], float64(time.Since(begin).Microseconds())/1000)
		}
	}
	step() // compiles
	laps = [2][]float64{}
	for b.Loop() {
		step()
	}
	here, there := slices.Min(laps[0]), slices.Min(laps[1])
	b.ReportMetric(here, "min-ms")
	b.ReportMetric(there, "scatter-min-ms")
	b.ReportMetric(there/here, "ratio")
}
