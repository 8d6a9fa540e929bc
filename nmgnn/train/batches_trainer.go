package train

import (
	"context"
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
	"nodemask/nmgnn/internal/learn"
	"nodemask/nmgnn/internal/safetensors"
	"nodemask/stats"
)

// batchTrainer has one compiled program for all batches, with room for the largest; features and cached representations
// are in memory-mapped files.
type batchTrainer struct {
	backend *backend.Backend
	model   nmgnn.Model
	options Batches
	view    *datasets.View
	graph   *datasets.Graph

	features   datasets.Features           // normalized if asked
	onDisk     *safetensors.Array[float32] // their file; nil: in the graph itself
	train      *engine
	validation *engine // the same engine as train if the graphs are the same
	targets    *learn.Targets
	scored     scored
	step       *model.Exec // for a batch with scored nodes
	push       *model.Exec // for a batch without; nil if all have some
	start      learn.Start
	// readers are the layers with cached inputs; empty if no batch has neighbours outside.
	readers []int
	caches  [2][]*safetensors.Array[float32] // by reading layer: of the previous epoch, and of this one
	current int                              // file set of caches[0]
	draws   *learn.Draws                     // of the current trial
	trial   *Result                          // the current one
}

func newBatchTrainer(b *backend.Backend, m nmgnn.Model, g *datasets.Graph, view *datasets.View,
	o Batches) (_ *batchTrainer, err error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil { // with the number of clusters chosen for Memory
		return nil, err
	}
	if err := learn.CheckTrainable(g, view); err != nil {
		return nil, err
	}
	if o.Release == nil {
		o.Release = func() {}
	}
	t := &batchTrainer{backend: b, model: m, options: o, view: view, graph: g}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	defer gomlx.Guard(&err, "building the model")
	return t, t.compile()
}

func clustersOf(phase, train datasets.Phase, parts int) [][]int32 {
	if parts > 1 {
		size := func(p datasets.Phase) float64 { return float64(p.Edges.NumEdges()) + float64(p.Edges.NumNodes()) }
		parts = int(math.Ceil(float64(parts) * size(phase) / size(train)))
	}
	return partition(phase.Edges, parts)
}

func (t *batchTrainer) engineFor(phase datasets.Phase, gradients bool) (*engine, error) {
	clusters := t.options.clusters[phase.Edges]
	if clusters == nil {
		clusters = clustersOf(phase, t.view.Train, max(t.options.Clusters, 1))
	}
	return t.newEngine(phase, clusters, gradients)
}

func (t *batchTrainer) compile() error {
	var err error
	if t.features, t.onDisk, err = readAs(t.graph.Features, t.options.training.NormalizeFeatures, t.options.Clusters > 1,
		t.options.Folder, t.options.Release); err != nil {
		return err
	}
	if own, graph := t.onDisk, t.options.Release; own != nil {
		t.options.Release = func() {
			own.Release()
			graph()
		}
	}
	if t.train, err = t.engineFor(t.view.Train, true); err != nil {
		return err
	}
	t.scored = scoredOf(t.train.phase, t.train.clusters, t.graph.Labels)
	if t.targets, err = t.scored.newTargets(t.train.store, "train", t.train.classes); err != nil {
		return err
	}
	e := t.train
	if e.hasHalo() {
		for i := 1; i < len(t.model.Layers); i++ {
			t.readers = append(t.readers, i)
		}
	}
	if t.step, err = t.compileStep(true); err != nil {
		return err
	}
	if t.start, err = learn.StartOf(e.store); err != nil {
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
	v.targets, err = v.scored.newTargets(v.store, "validation", v.classes)
	return err
}

// compileStep compiles one step on a batch (see [learn.Step.Compile]) → training loss, and own nodes' h^(i) for each
// layer i with cached inputs. Without learns, weights stay.
func (t *batchTrainer) compileStep(learns bool) (*model.Exec, error) {
	e := t.train
	step := learn.Step{Model: t.model, Data: e.data, Masks: t.options.training.KeepRate.Active(),
		Regulariser: t.options.training.regulariser(), LearningRate: t.options.training.LearningRate}
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
				own = nil // a program may be built more than once
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
	return step.Compile(t.backend, e.store, e.shape.nodes)
}

// Train returns one trial; the seed determines initial weights, masks, dropout and batch order. report (may be nil) is
// called after each epoch. If cancelled, it returns the context's error and no trial.
func (t *batchTrainer) Train(ctx context.Context, seed uint64,
	report func(epoch int, e Epoch)) (trial *Result, err error) {
	defer gomlx.Guard(&err, "training")
	if t.options.Checkpoint == "" {
		return trainBy(ctx, t, t.options.training, seed, report)
	}
	free, err := t.own()
	if err != nil {
		return nil, err
	}
	defer free()
	err = safetensors.Guard(t.options.Checkpoint, func() error {
		trial, err = trainBy(ctx, t, t.options.training, seed, report)
		return err
	})
	return trial, err
}

// Begin implements [trainable], like the methods below; a trial resumes from its checkpoint.
func (t *batchTrainer) Begin(seed uint64) (trial *Result, err error) {
	t.closeCaches()
	t.current, t.draws = 0, learn.NewDraws(seed, t.train.phase.Edges.NumNodes())
	if trial, err = t.resume(seed); err != nil {
		return nil, err
	}
	if trial == nil {
		trial = &Result{Seed: seed}
		err = t.start.Reset(t.train.store, t.options.training.LearningRate, seed)
	}
	t.trial = trial
	return trial, err
}

// Epoch trains on all batches once and validates.
func (t *batchTrainer) Epoch(ctx context.Context) ([]Epoch, []stats.Metrics, error) {
	if t.caches[0] == nil {
		if err := t.prepareCaches(ctx, t.trial); err != nil {
			return nil, nil, err
		}
	}
	measured, metrics, err := t.epoch(ctx)
	return []Epoch{measured}, []stats.Metrics{metrics}, err
}

func (t *batchTrainer) prepareCaches(ctx context.Context, trial *Result) error {
	if len(trial.History) > 0 {
		if err := t.checkCaches(trial.Seed); err != nil {
			return err
		}
	}
	if err := t.openCaches(trial.Seed); err != nil || len(trial.History) > 0 {
		return err
	}
	return t.firstCaches(ctx)
}

func (t *batchTrainer) Weights() ([]infer.Weight, error) {
	return gomlx.WeightsOf[infer.Weight](t.train.store)
}

func (t *batchTrainer) Keep(trial *Result) error {
	if t.options.Checkpoint == "" {
		return nil
	}
	return t.save(trial)
}

func (t *batchTrainer) End(trial *Result) { t.dropCaches(trial.Seed) }

func (t *batchTrainer) firstCaches(ctx context.Context) error {
	if len(t.readers) == 0 {
		return nil
	}
	if err := t.train.represent(ctx); err != nil {
		return err
	}
	for _, i := range t.readers {
		t.caches[0][i].Copy(t.train.hidden[i].Values, t.train.hidden[i].Release)
	}
	return nil
}

func (t *batchTrainer) epoch(ctx context.Context) (measured Epoch, metrics stats.Metrics, err error) {
	copy(t.draws.Delta, t.options.training.DrawDelta(rand.New(t.draws.Masks), len(t.draws.Delta), t.view.Train.Score))
	if measured.TrainLoss, err = t.clustered(ctx); err != nil {
		return measured, metrics, err
	}
	t.caches[0], t.caches[1], t.current = t.caches[1], t.caches[0], 1-t.current
	if t.validation != t.train {
		if t.validation.weights, err = gomlx.WeightsOf[infer.Weight](t.train.store); err != nil {
			return measured, metrics, err
		}
	}
	classes, loss, err := t.validation.evaluate(ctx)
	if err != nil {
		return measured, metrics, err
	}
	if metrics, err = learn.Evaluate(t.graph, t.view.Validation, classes); err != nil {
		return measured, metrics, err
	}
	measured.ValidationLoss, measured.ValidationF1, measured.ValidationAccuracy = loss, metrics.MacroF1, metrics.Accuracy
	return measured, metrics, nil
}

// clustered trains on all clusters in random order and returns the mean loss.
func (t *batchTrainer) clustered(ctx context.Context) (loss float64, err error) {
	order := []int{0}
	if !t.train.whole() {
		order = rand.New(t.draws.Order).Perm(len(t.train.clusters))
	}
	for _, c := range order {
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
	e, program := t.train, t.step
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
	if err := t.scored.place(t.targets, cluster); err != nil {
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
	if program == t.step {
		loss, pushed = float64(tensors.ToScalar[float32](outputs[0])), outputs[1:]
	}
	for at, i := range t.readers {
		if err := e.spread(pushed[at], b, &t.caches[1][i], ""); err != nil {
			return 0, err
		}
	}
	return loss, nil
}

// skip selects the neighbours to omit: masked ones, if the model ignores them. nil: none.
func (t *batchTrainer) skip() func(u int32) bool {
	if !t.options.training.KeepRate.Active() || t.train.data.NeedsMasked() {
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
	return learn.Run(program, t.draws, t.options.training.WeightDecay, delta)
}

// Close frees programs, device data and files.
func (t *batchTrainer) Close() {
	for _, exec := range []*model.Exec{t.step, t.push} {
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
	_ = t.onDisk.Close() // temporary
}
