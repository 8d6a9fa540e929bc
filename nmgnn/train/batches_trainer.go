package train

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/datasets"
	"nodemask/internal/ended"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/safetensors"
	"nodemask/stats"
)

// Compiled programs have room for the largest batch. Normalized dense features and cached representations are in
// memory-mapped files.
type batchTrainer struct {
	subject
	backend  *backend.Backend
	model    nmgnn.Model
	clusters int

	features   datasets.Features
	onDisk     *safetensors.Array[float32]
	train      *engine
	validation *engine // equals train if both have the same graph
	targets    *targets
	scored     scored
	epoch      *model.Exec // training program for clusters with train nodes
	// program for batches whose nodes are not in the loss but whose outputs are cached; may be nil
	push  *model.Exec
	start firstValues
	// readers are the indices of the layers whose inputs are cached: none if no cluster has edges to other clusters.
	readers []int
	// For i in readers, caches[0][i] is layer i's input from the previous epoch, caches[1][i] from this epoch.
	caches [2][]*safetensors.Array[float32]
	draws  *draws
}

func newBatchTrainer(b *backend.Backend, x Experiment, view *datasets.View, clusters int) (_ *batchTrainer, err error) {
	g := x.Graph
	if err := checkTrainable(g, view); err != nil {
		return nil, err
	}
	if nodes := view.Train.Edges.NumNodes(); clusters > nodes {
		return nil, fmt.Errorf("%d batches of a graph of %d nodes to train on: expected at most one a node: take fewer",
			clusters, nodes)
	}
	t := &batchTrainer{subject: subject{g, view, optionsOf(x.Parameters)}, backend: b, model: x.model(),
		clusters: clusters}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	defer gomlx.Guard(&err, "building the model")
	return t, t.compile()
}

func (t *batchTrainer) engineFor(phase datasets.Phase, gradients bool) (*engine, error) {
	size := func(p datasets.Phase) float64 { return float64(p.Edges.NumEdges()) + float64(p.Edges.NumNodes()) }
	parts := math.Ceil(float64(t.clusters) * size(phase) / size(t.view.Train))
	return t.newEngine(phase, partition(phase.Edges, int(parts)), gradients)
}

func (t *batchTrainer) compile() error {
	var err error
	if t.features, t.onDisk, err = readAs(t.graph.Features, t.options.NormalizeFeatures); err != nil {
		return err
	}
	if t.train, err = t.engineFor(t.view.Train, true); err != nil {
		return err
	}
	t.scored = scoredOf(t.train.phase, t.train.clusters, t.graph.Labels)
	if t.targets, err = newPaddedTargets(t.train.store, "train", t.scored.most, t.graph.NumClasses()); err != nil {
		return err
	}
	e := t.train
	if e.hasHalo() {
		for i := 1; i < len(t.model.Layers); i++ {
			t.readers = append(t.readers, i)
		}
	}
	if t.epoch, err = t.compileStep(true); err != nil {
		return err
	}
	if t.start, err = firstValuesOf(e.store); err != nil {
		return err
	}
	unscored := func(nodes []int32) bool { return len(nodes) == 0 }
	if len(t.readers) > 0 && slices.ContainsFunc(t.scored.nodes, unscored) {
		if t.push, err = t.compileStep(false); err != nil {
			return err
		}
	}
	t.validation = e
	if t.view.Validation.Edges != t.view.Train.Edges {
		if t.validation, err = t.engineFor(t.view.Validation, false); err != nil {
			return err
		}
	}
	v := t.validation
	v.scored = scoredOf(t.view.Validation, v.clusters, t.graph.Labels)
	v.targets, err = newPaddedTargets(v.store, "validation", v.scored.most, t.graph.NumClasses())
	return err
}

// compileStep compiles one step on a batch (see [trainStep.compile]). The program returns the training loss and, for
// each layer i in t.readers, the layer's input h^(i) for the nodes of the batch's cluster. If learns is false, weights
// stay and no loss is returned.
func (t *batchTrainer) compileStep(learns bool) (*model.Exec, error) {
	e := t.train
	step := trainStep{Model: t.model, Data: e.data, Masks: t.options.KeepRate.Active(),
		Regulariser: t.options.regulariser(), LearningRate: t.options.LearningRate}
	var own []*Node
	if len(t.readers) > 0 {
		step.After = func(layer int, h *Node) *Node {
			if layer == len(t.model.Layers)-1 {
				return h
			}
			cached, err := e.room(layer+1, h.Shape().Dimensions[1])
			if err != nil {
				panic(err)
			}
			if layer == 0 {
				own = nil // in case the computation graph is built again
			}
			own = append(own, firstRows(h, e.shape.own))
			others := SliceAxis(cached.NodeValue(h.Graph()), 0, AxisRangeToEnd(e.shape.own))
			return Concatenate([]*Node{own[len(own)-1], others}, 0)
		}
	}
	if learns {
		step.Targets = t.targets
	}
	step.More = func(_ *model.Scope, logits *Node) []*Node {
		if learns {
			return own
		}
		// The pure-Go backend fails if a program's last node is not an output.
		return append(own, ReduceAllSum(logits))
	}
	return step.compile(t.backend, e.store, e.shape.nodes)
}

func (t *batchTrainer) Begin(ctx context.Context, seed uint64) error {
	t.closeCaches()
	t.draws = newDraws(seed, t.train.phase.Edges.NumNodes())
	if err := t.start.Reset(t.train.store, t.options.LearningRate, seed); err != nil {
		return err
	}
	if err := t.openCaches(); err != nil || len(t.readers) == 0 {
		return err
	}
	if err := t.train.represent(ctx); err != nil {
		return err
	}
	for _, i := range t.readers {
		copy(t.caches[0][i].Values, t.train.hidden[i].Values)
	}
	return nil
}

func (t *batchTrainer) openCaches() (err error) {
	for set := range t.caches {
		t.caches[set] = make([]*safetensors.Array[float32], len(t.model.Layers))
		for _, i := range t.readers {
			size := t.train.phase.Edges.NumNodes() * t.train.rows[i].Shape().Dimensions[1]
			if t.caches[set][i], err = safetensors.NewArray[float32](size); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *batchTrainer) closeCaches() {
	for _, of := range t.caches {
		for _, cache := range of {
			_ = cache.Close() // the file is temporary
		}
	}
	t.caches = [2][]*safetensors.Array[float32]{}
}

func (t *batchTrainer) Weights() ([]infer.Weight, error) {
	return gomlx.WeightsOf[infer.Weight](t.train.store)
}

func (t *batchTrainer) Epoch(ctx context.Context) ([]Epoch, []stats.Metrics, error) {
	copy(t.draws.Delta, t.options.DrawDelta(rand.New(t.draws.Masks), len(t.draws.Delta), t.view.Train.Score))
	trained, err := t.clustered(ctx)
	if err != nil {
		return nil, nil, err
	}
	t.caches[0], t.caches[1] = t.caches[1], t.caches[0]
	if t.validation != t.train {
		if t.validation.weights, err = t.Weights(); err != nil {
			return nil, nil, err
		}
	}
	classes, loss, err := t.validation.evaluate(ctx)
	if err != nil {
		return nil, nil, err
	}
	m, err := evaluate(t.graph, t.view.Validation, classes)
	return []Epoch{{trained, loss, m.MacroF1, m.Accuracy}}, []stats.Metrics{m}, err
}

func (t *batchTrainer) clustered(ctx context.Context) (loss float64, err error) {
	for _, c := range rand.New(t.draws.Order).Perm(len(t.train.clusters)) {
		if err := ended.Err(ctx); err != nil {
			return 0, err
		}
		of, err := t.one(c)
		if err != nil {
			return 0, err
		}
		loss += of * float64(len(t.scored.nodes[c]))
	}
	return loss / float64(t.scored.all), nil
}

func (t *batchTrainer) one(cluster int) (loss float64, err error) {
	e, program := t.train, t.epoch
	if len(t.scored.nodes[cluster]) == 0 {
		if program = t.push; program == nil { // neither learning nor caching needs this batch
			return 0, nil
		}
	}
	skip := t.skip()
	b, err := e.put(cluster, true, true, skip)
	if err != nil {
		return 0, err
	}
	if err := t.targets.Replace(t.scored.nodes[cluster], t.scored.labels[cluster]); err != nil {
		return 0, err
	}
	for _, i := range t.readers {
		if err := e.fill(i, b, false, t.caches[0][i], skip); err != nil {
			return 0, err
		}
	}
	outputs, err := t.call(program, b)
	if err != nil {
		return 0, err
	}
	defer gomlx.Finalize(outputs)
	pushed := outputs
	if program == t.epoch {
		loss, pushed = float64(tensors.ToScalar[float32](outputs[0])), outputs[1:]
	}
	for at, i := range t.readers {
		if err := e.spread(pushed[at], b, &t.caches[1][i]); err != nil {
			return 0, err
		}
	}
	return loss, nil
}

// skip returns a function that reports whether a neighbour is masked, so that batches omit it. skip returns nil if
// masking is off or the model reads masked neighbours.
func (t *batchTrainer) skip() func(u int32) bool {
	if !t.options.KeepRate.Active() || t.train.data.NeedsMasked() {
		return nil
	}
	return func(u int32) bool { return t.draws.Delta[u] == 0 }
}

func (t *batchTrainer) call(program *model.Exec, b batch) ([]*tensors.Tensor, error) {
	delta := tensors.FromShape(shapes.Make(dtypes.Float32, t.train.shape.nodes, 1))
	tensors.MustMutableFlatData(delta, func(flat []float32) {
		for i, v := range b.own {
			flat[i] = t.draws.Delta[v]
		}
		for i, v := range b.halo {
			flat[t.train.shape.own+i] = t.draws.Delta[v]
		}
	})
	return runStep(program, t.draws, t.options.WeightDecay, delta)
}

// Close frees programs, device data and files; t may be nil.
func (t *batchTrainer) Close() {
	if t == nil {
		return
	}
	for _, exec := range []*model.Exec{t.epoch, t.push} {
		if exec != nil {
			exec.Finalize()
		}
	}
	t.closeCaches()
	if t.validation != nil && t.validation != t.train {
		t.validation.close()
	}
	if t.train != nil {
		t.train.close()
	}
	_ = t.onDisk.Close() // the file is temporary
}
