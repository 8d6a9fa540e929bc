package train

import (
	"fmt"
	"time"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/learn"
	"nodemask/nmgnn/kernels"
)

// Trainer is a model compiled for one view of a graph. It can train any number of trials, one after the other. Several
// trainers may run at the same time on one backend.
type Trainer struct {
	backend *backend.Backend
	model   nmgnn.Model
	options Options
	view    *datasets.View
	graph   *datasets.Graph
	plan    kernels.Plan
	// features of all nodes of the graph, as the model reads them
	features datasets.Features
	classes  int

	store       *model.Store
	train, test phaseData
	validations []phaseData // of the view, and of those in Options.Also whose validation graphs are others
	validatedBy []int       // which of validations belongs to the view, and to each in Options.Also
	epoch       *model.Exec
	trainOnly   *model.Exec                   // without validation; nil until it is timed
	timing      *draws                        // of TimeEpochs
	drawn       *draws                        // of the trial in hand, or the last one
	represents  map[*nmgnn.Loaded]*model.Exec // all layers' outputs over a phase, once asked for
	arrivals    map[bool]arrivals             // the test graph as the cache sees it, by together, once asked for
	readings    *readingGraphs                // nil until they are asked for
	start       learn.Start                   // first values of the optimizer's own variables
	deltaSize   int

	// CompileSeconds is how long building and compiling the program took.
	CompileSeconds float64
}

// phaseData is a phase on the device.
type phaseData struct {
	phase   datasets.Phase
	data    *nmgnn.Loaded
	labels  []int32        // of the scored nodes
	targets *learn.Targets // of those that a loss is computed for
}

// New compiles m for training on the view's train graph, with validation and test on theirs.
func New(b *backend.Backend, m nmgnn.Model, g *datasets.Graph, view *datasets.View, o Options) (_ *Trainer, err error) {
	o = o.withDefaults()
	if err := m.Check(); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	for _, v := range append([]*datasets.View{view}, o.Also...) {
		if len(v.Train.Score) == 0 || len(v.Validation.Score) == 0 {
			return nil, fmt.Errorf("train: %d nodes to train on and %d to validate with: each needs at least one", len(v.Train.Score), len(v.Validation.Score))
		}
	}
	if g.Features.Width == 0 {
		return nil, fmt.Errorf("train: %s has no features: a model needs at least one number for each node, if only 1 for all", g.Name)
	}
	t := &Trainer{backend: b, model: m, options: o, view: view, graph: g, classes: g.NumClasses(), store: model.NewStore(), represents: map[*nmgnn.Loaded]*model.Exec{}, arrivals: map[bool]arrivals{},
		deltaSize: view.Train.Edges.NumNodes()}
	begin := time.Now()
	defer func() {
		if err != nil {
			t.store.Finalize()
		}
	}()
	defer gomlx.Guard(&err, "building the model")
	if err := t.compile(g); err != nil {
		return nil, err
	}
	t.CompileSeconds = time.Since(begin).Seconds()
	return t, nil
}

func (t *Trainer) compile(g *datasets.Graph) error {
	t.features = t.normalized()
	plan := t.options.Plan
	if plan == nil {
		best := t.backend.PlanFor(t.features.Density())
		plan = &best
	}
	t.plan = *plan
	if err := t.load(); err != nil {
		return err
	}
	var err error
	if t.epoch, err = t.compileStep(true); err != nil {
		return err
	}
	// What the optimizer wants to start from, before it has run.
	t.start, err = learn.StartOf(t.store)
	return err
}

// normalized is the features of all nodes as the model reads them.
func (t *Trainer) normalized() datasets.Features {
	if t.options.NormalizeFeatures {
		return t.graph.Features.RowNormalized()
	}
	return t.graph.Features
}

// rows are the features of a phase's nodes.
func (t *Trainer) rows(phase datasets.Phase) datasets.Features {
	if len(phase.Nodes) == t.features.Rows {
		return t.features
	}
	return t.features.Select(phase.Nodes)
}

// load puts the phases' graphs, features and targets into variables; a graph that two phases share is there once.
func (t *Trainer) load() error {
	loaded := map[*csr.Graph]*nmgnn.Loaded{}
	load := func(name string, phase datasets.Phase, gradients bool) (*nmgnn.Loaded, error) {
		if same := loaded[phase.Edges]; same != nil {
			return same, nil
		}
		x, o := t.rows(phase), nmgnn.LoadOptions{Plan: t.plan, Gradients: gradients}
		if t.options.Room {
			o.Room = withRoom(len(phase.Edges.Indices), len(t.graph.Edges.Indices))
			o.FeatureRoom = withRoom(len(x.Values), len(t.features.Values))
		}
		data, err := nmgnn.Load(t.store, fmt.Sprintf("/%s/%s", infer.DataScope, name), phase.Edges, x, o)
		loaded[phase.Edges] = data
		return data, err
	}
	scored := func(name string, phase datasets.Phase, gradients bool) (p phaseData, err error) {
		p = phaseData{phase: phase, labels: labelsOf(t.graph, phase)}
		if p.data, err = load(name, phase, gradients); err != nil {
			return p, err
		}
		p.targets, err = learn.NewTargets(t.store, name, phase.Score, p.labels, t.classes)
		return p, err
	}
	var err error
	if t.train, err = scored("train", t.view.Train, true); err != nil {
		return err
	}
	validations, by := validationsOf(t.view, t.options.Also)
	t.validations, t.validatedBy = make([]phaseData, len(validations)), by
	for i, phase := range validations {
		name := "validation"
		if i > 0 {
			name = fmt.Sprintf("validation%d", i)
		}
		if t.validations[i], err = scored(name, phase, false); err != nil {
			return err
		}
	}
	t.test = phaseData{phase: t.view.Test, labels: labelsOf(t.graph, t.view.Test)}
	t.test.data, err = load("test", t.view.Test, false)
	return err
}

// validationsOf lists the different validation phases of views of one split, and which of them each view has: only arrivals
// that leave out edges among new nodes make a difference.
func validationsOf(view *datasets.View, also []*datasets.View) (phases []datasets.Phase, by []int) {
	at := map[bool]int{}
	for _, v := range append([]*datasets.View{view}, also...) {
		apart := v.Arrivals == datasets.TrainEdges
		i, known := at[apart]
		if !known {
			i = len(phases)
			at[apart] = i
			phases = append(phases, v.Validation)
		}
		by = append(by, i)
	}
	return phases, by
}

// withRoom is how many entries other splits may have where one has n, and all nodes have all.
func withRoom(n, all int) int { return min(n+n/5+256, all) }

// forward runs the model over a phase as it is outside training: without mask, dropout or gradients.
func (t *Trainer) forward(scope *model.Scope, graph *Graph, phase *nmgnn.Loaded) []*Node {
	return t.model.Forward(nmgnn.Pass{Scope: scope.At(infer.ModelScope), Near: phase.Neighbours(false, nil), Features: phase.Features(graph, false)})
}

// compileStep compiles one epoch: δ [nodes, 1], a key [2] for what is drawn on the device and the weight decay [] → the loss
// that was trained on and, with validate, for each validation graph the loss after it and the classes predicted for its
// scored nodes.
func (t *Trainer) compileStep(validate bool) (*model.Exec, error) {
	train := t.train.data
	step := func(scope *model.Scope, delta, key, decay *Node) []*Node {
		graph := delta.Graph()
		random := kernels.NewRandom(key, t.plan.Kernel)
		pass := nmgnn.Pass{Scope: scope.At(infer.ModelScope), Near: train.Neighbours(true, random), Features: train.Features(graph, true), Random: random}
		if t.options.Mask.KeepRate.Active() {
			pass.Mask = delta
		}
		if t.options.Regulariser != nil {
			pass = t.options.Regulariser.Apply(pass)
		}
		loss := t.train.targets.Loss(last(t.model.Forward(pass)))
		learn.Update(scope, loss, decay, t.options.LearningRate)
		outputs := []*Node{loss}
		if !validate {
			return outputs
		}
		// From here on variables hold the updated weights.
		for _, v := range t.validations {
			logits := last(t.forward(scope, graph, v.data))
			outputs = append(outputs, v.targets.Loss(logits), ArgMax(v.targets.Rows(logits), 1, dtypes.Int32))
		}
		return outputs
	}
	exec, err := model.NewExec(t.backend.Backend, t.store, step)
	if err != nil {
		return nil, fmt.Errorf("train: %w", gomlx.Error(err))
	}
	if _, err := exec.Compile(shapes.Make(dtypes.Float32, t.deltaSize, 1), shapes.Make(dtypes.Uint32, 2), shapes.Make(dtypes.Float32)); err != nil {
		exec.Finalize()
		return nil, fmt.Errorf("train: compiling for %s: %w", t.backend.ID, gomlx.Error(err))
	}
	return exec, nil
}

func last[T any](all []T) T { return all[len(all)-1] }

func labelsOf(g *datasets.Graph, phase datasets.Phase) []int32 {
	labels := make([]int32, len(phase.Score))
	for i, v := range phase.Score {
		labels[i] = g.Labels[phase.Nodes[v]]
	}
	return labels
}

// Close frees the compiled programs and the data on the device.
func (t *Trainer) Close() {
	t.epoch.Finalize()
	if t.trainOnly != nil {
		t.trainOnly.Finalize()
	}
	for _, exec := range t.represents {
		exec.Finalize()
	}
	if t.readings != nil {
		t.readings.exec.Finalize()
	}
	t.store.Finalize()
}
