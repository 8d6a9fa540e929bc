package gnn_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/dataset"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/layers/fnn"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/checkpoint"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/metric"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/gnn"
)

// Example classifies Cora's nodes with GoMLX's trainer, layers, optimizer, metrics and checkpoints.
func Example() {
	data, err := datasets.Cora()
	check(err)
	edges, n := gnn.New(data.Edges).WithFeatures(data.Features), data.NumNodes()
	modelFn := func(scope *model.Scope, in []*graph.Node) *graph.Node {
		mask := gnn.DrawMask(scope, edges, in[0], 0.5) // one for all layers; nil outside training
		x := activation.Relu(gnn.GIN(scope.In("gin"), edges, in[0], 32).Features(0.5).Mask(mask).Done())
		x = layers.DropoutStatic(scope.In("dropout"), x, 0.5)
		return gnn.GAT(scope.In("gat"), edges, x, 1, data.NumClasses()).Mask(mask).Done()
	}
	split, err := datasets.Stratified(data, datasets.SplitOptions{TrainPercent: 10, Seed: 1})
	check(err)
	of := func(nodes []int32) train.Dataset { // one batch: the whole graph, of whose nodes these count
		counts := make([]bool, n)
		for _, v := range nodes {
			counts[v] = true
		}
		return dataset.Const(train.Batch{Inputs: []*tensors.Tensor{tensors.FromScalar(float32(0))}, // it takes one
			Labels: []*tensors.Tensor{tensors.FromFlatDataAndDimensions(data.Labels, n, 1), tensors.FromValue(counts)}})
	}

	store := seeded()
	accuracy := []metric.Interface{metric.NewSparseCategoricalAccuracy("accuracy", "acc")}
	trainer := train.NewTrainer(adopted().Backend, store, modelFn, loss.SparseCategoricalCrossEntropyLogits,
		optimizer.Adam().LearningRate(0.01).Done(), nil, accuracy)
	folder, err := os.MkdirTemp("", "cora")
	check(err)
	defer os.RemoveAll(folder)
	saved, err := checkpoint.Build(store).Dir(folder).Done()
	check(err)
	loop := train.NewLoop(trainer) // commandline.AttachProgressBar(loop) shows a bar and metrics
	train.EveryNSteps(loop, 20, "save", 100, func(*train.Loop, []*tensors.Tensor) error { return saved.Save() })
	_, err = loop.RunSteps(of(split.Train), 80)
	check(err)
	metrics, err := trainer.Eval(dataset.Take(of(split.Test), 1))
	check(err)
	fmt.Println("more than 70 % of the test nodes:", tensors.ToScalar[float32](metrics[len(metrics)-1]) > 0.7)
	// Output: more than 70 % of the test nodes: true
}

// Example_links predicts a removed tenth of Cora's citations from the others.
func Example_links() {
	data, err := datasets.Cora()
	check(err)
	n, r := data.NumNodes(), rand.New(rand.NewPCG(1, 2))
	var kept []csr.Edge
	var pairs [2][][]int32 // to train and to test on
	var links [2][][]float32
	add := func(to int, v, u int32, link float32) {
		pairs[to], links[to] = append(pairs[to], []int32{v, u}), append(links[to], []float32{link})
	}
	for v := range int32(n) {
		for _, u := range data.Edges.Neighbours(v) {
			if u < v {
				to := 0
				if r.IntN(10) == 0 {
					to = 1
				} else {
					kept = append(kept, csr.Edge{Node: v, Neighbour: u})
				}
				add(to, v, u, 1)
				add(to, r.Int32N(int32(n)), r.Int32N(int32(n)), 0) // hardly ever an edge
			}
		}
	}
	known, _, err := csr.FromEdges(n, kept, csr.Options{})
	check(err)
	edges := gnn.New(known).WithFeatures(data.Features)
	modelFn := func(scope *model.Scope, in []*graph.Node) *graph.Node { // in[0]: pairs of nodes
		mask := gnn.DrawMask(scope, edges, in[0], 0.8)
		x := activation.Relu(gnn.SAGE(scope.In("first"), edges, in[0], 32).Features(0).Mask(mask).Done())
		x = gnn.SAGE(scope.In("second"), edges, x, 16).Mask(mask).Done()
		of := func(i int) *graph.Node { return graph.Gather(x, graph.SliceAxis(in[0], 1, graph.AxisElem(i))) }
		bias := scope.VariableWithValue("bias", float32(0)).NodeValue(x.Graph())
		return graph.Add(graph.ReduceAndKeep(graph.Mul(of(0), of(1)), graph.ReduceSum, -1), bias)
	}
	of := func(i int) train.Dataset {
		return dataset.Const(train.Batch{Inputs: []*tensors.Tensor{tensors.FromValue(pairs[i])},
			Labels: []*tensors.Tensor{tensors.FromValue(links[i])}})
	}
	accuracy := []metric.Interface{metric.NewMeanBinaryLogitsAccuracy("accuracy", "acc")}
	trainer := train.NewTrainer(adopted().Backend, seeded(), modelFn, loss.BinaryCrossentropyLogits,
		optimizer.Adam().LearningRate(0.01).Done(), nil, accuracy)
	_, err = train.NewLoop(trainer).RunSteps(of(0), 60)
	check(err)
	metrics, err := trainer.Eval(dataset.Take(of(1), 1))
	check(err)
	fmt.Println("more than 60 % of the pairs:", tensors.ToScalar[float32](metrics[len(metrics)-1]) > 0.6)
	// Output: more than 60 % of the pairs: true
}

// shapes yields batches of rings and stars, and puts each batch into a graph.
type shapes struct {
	batch  *gnn.Graph
	random *rand.Rand
}

const perBatch, mostNodes = 32, 12

func (shapes) Name() string { return "rings and stars" }

func draw(r *rand.Rand) (all []*csr.Graph, stars [][]float32) {
	for range perBatch {
		n, star := 4+r.Int32N(mostNodes-3), r.Int32N(2)
		var edges []csr.Edge
		for v := range n {
			if u := (v + 1) % n; star == 0 {
				edges = append(edges, csr.Edge{Node: v, Neighbour: u})
			} else if v > 0 {
				edges = append(edges, csr.Edge{Node: v, Neighbour: 0})
			}
		}
		g, _, err := csr.FromEdges(int(n), edges, csr.Options{})
		check(err)
		all, stars = append(all, g), append(stars, []float32{float32(star)})
	}
	return all, stars
}

func (s shapes) Iter() iter.Seq2[train.Batch, error] {
	return func(yield func(train.Batch, error) bool) {
		for {
			all, stars := draw(s.random)
			ones := slices.Repeat([]float32{1}, s.batch.NumNodes())
			err := s.batch.Replace(datasets.Features{}, all...)
			if !yield(train.Batch{Inputs: []*tensors.Tensor{tensors.FromFlatDataAndDimensions(ones, s.batch.NumNodes(), 1)},
				Labels: []*tensors.Tensor{tensors.FromValue(stars)}}, err) {
				return
			}
		}
	}
}

// Example_graphs distinguishes rings from stars, in batches of small graphs that share one compiled program.
func Example_graphs() {
	r := rand.New(rand.NewPCG(1, 2))
	first, _ := draw(r)
	batch := gnn.New(first...).Reserve(perBatch*mostNodes, 2*perBatch*mostNodes, 0)
	modelFn := func(scope *model.Scope, in []*graph.Node) *graph.Node { // in[0]: features, a row for each node
		x := activation.Relu(gnn.GIN(scope.In("gin"), batch, in[0], 8, 8).Done())
		return fnn.New(scope.In("readout"), batch.PoolMean(scope, x), 1).Done()
	}
	accuracy := []metric.Interface{metric.NewMeanBinaryLogitsAccuracy("accuracy", "acc")}
	trainer := train.NewTrainer(adopted().Backend, seeded(), modelFn, loss.BinaryCrossentropyLogits,
		optimizer.Adam().LearningRate(0.01).Done(), nil, accuracy)
	_, err := train.NewLoop(trainer).RunSteps(shapes{batch, r}, 200)
	check(err)
	metrics, err := trainer.Eval(dataset.Take(shapes{batch, r}, 10))
	check(err)
	fmt.Println("more than 95 % of the graphs:", tensors.ToScalar[float32](metrics[len(metrics)-1]) > 0.95)
	// Output: more than 95 % of the graphs: true
}

// seeded returns a store with the same initial weights, masks and dropout in each run.
func seeded() *model.Store {
	store := model.NewStore()
	check(store.SetRNGStateFromSeed(1))
	return store
}

// adopted returns a backend opened by GoMLX; compute.New opens XLA.
func adopted() *backend.Backend {
	opened, err := gobackend.New("ops_sequential")
	check(err)
	b, err := backend.Adopt(opened)
	check(err)
	return b
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
