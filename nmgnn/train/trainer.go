package train

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels"
	"nodemask/stats"
)

// trainer trains on the whole graph. Several trainers may run concurrently on one backend.
type trainer struct {
	subject
	backend  *backend.Backend
	model    nmgnn.Model
	plan     kernels.Plan
	features datasets.Features

	store       *model.Store
	rates       *kernels.Rates
	train, test phaseData
	validations []phaseData // validation graphs of t.view and of the views in options.Also, without duplicates
	// View i is validated on validations[validatedBy[i]]. View 0 is t.view, the others are options.Also.
	validatedBy []int
	epoch       *model.Exec
	drawn       *draws
	represents  map[*nmgnn.Loaded]*model.Exec
	arrivals    map[testGraph]arrivals
	start       firstValues
}

type phaseData struct {
	phase   datasets.Phase
	data    *nmgnn.Loaded
	labels  []int32
	targets *targets
}

func newTrainer(b *backend.Backend, m nmgnn.Model, g *datasets.Graph, view *datasets.View,
	o options) (_ *trainer, err error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	if err := checkTrainable(g, o.views(view)...); err != nil {
		return nil, err
	}
	t := &trainer{subject: subject{g, view, o}, backend: b, model: m, store: model.NewStore(),
		represents: map[*nmgnn.Loaded]*model.Exec{}, arrivals: map[testGraph]arrivals{}}
	defer func() {
		if err != nil {
			t.store.Finalize()
		}
	}()
	defer gomlx.Guard(&err, "building the model")
	return t, t.compile()
}

func (t *trainer) compile() error {
	t.features = t.normalized()
	t.plan = kernels.PlanFor(t.backend.Backend, t.features.Density())
	if t.options.Plan != nil {
		t.plan = *t.options.Plan
	}
	if err := t.load(); err != nil {
		return err
	}
	var err error
	if t.rates, err = kernels.NewRates(t.store, "/"+gomlx.DataScope+"/rates", t.options.rates()); err != nil {
		return err
	}
	if t.epoch, err = t.compileStep(true); err != nil {
		return err
	}
	t.start, err = firstValuesOf(t.store)
	return err
}

func (t *trainer) views() []*datasets.View { return t.options.views(t.view) }

func (t *trainer) trainNodes() int { return t.view.Train.Edges.NumNodes() }

func (t *trainer) normalized() datasets.Features {
	if t.options.NormalizeFeatures {
		return t.graph.Features.RowNormalized()
	}
	return t.graph.Features
}

func (t *trainer) rows(phase datasets.Phase) datasets.Features {
	if len(phase.Nodes) == t.features.Rows {
		return t.features
	}
	return t.features.Select(phase.Nodes)
}

func (t *trainer) load() error {
	loaded := map[*csr.Graph]*nmgnn.Loaded{}
	load := func(name string, phase datasets.Phase, gradients bool) (*nmgnn.Loaded, error) {
		if same := loaded[phase.Edges]; same != nil {
			return same, nil
		}
		data, err := t.loadPhase(name, phase, gradients)
		loaded[phase.Edges] = data
		return data, err
	}
	scored := func(name string, phase datasets.Phase, gradients bool) (p phaseData, err error) {
		p = phaseData{phase: phase, labels: labelsOf(t.graph, phase)}
		if p.data, err = load(name, phase, gradients); err != nil {
			return p, err
		}
		p.targets, err = newTargets(t.store, name, phase.Score, p.labels, phase.Edges.NumNodes(), t.graph.NumClasses())
		return p, err
	}
	var err error
	if t.train, err = scored("train", t.view.Train, true); err != nil {
		return err
	}
	validations, by := validationsOf(t.views())
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

func (t *trainer) loadPhase(name string, phase datasets.Phase, gradients bool) (*nmgnn.Loaded, error) {
	x, o := t.rows(phase), nmgnn.LoadOptions{Gradients: gradients,
		Backend: kernels.Planned{Backend: t.backend.Backend, Plan: t.plan}}
	if t.options.Room {
		o.Room = withRoom(len(phase.Edges.Indices), len(t.graph.Edges.Indices))
		o.FeatureRoom = withRoom(len(x.Values), len(t.features.Values))
	}
	return nmgnn.Load(t.store, fmt.Sprintf("/%s/%s", gomlx.DataScope, name), phase.Edges, x, o)
}

func validationsOf(views []*datasets.View) (phases []datasets.Phase, by []int) {
	at := map[bool]int{}
	for _, v := range views {
		apart := v.Arrivals == datasets.TrainEdges
		i, ok := at[apart]
		if !ok {
			i = len(phases)
			at[apart] = i
			phases = append(phases, v.Validation)
		}
		by = append(by, i)
	}
	return phases, by
}

// withRoom returns how many entries (edges or feature values) a program has room for, if the split has n entries and
// the whole graph has total. This is more than n, so that most other splits fit into the program, too.
func withRoom(n, total int) int { return min(n+n/5+256, total) }

// forward runs the model without gradients and dropout. It masks nodes only if the regulariser is DropGNN.
func (t *trainer) forward(scope *model.Scope, graph *Graph, phase *nmgnn.Loaded, seen *Node) []*Node {
	pass := nmgnn.Pass{Scope: scope.At(gomlx.ModelScope), Near: phase.Neighbours(false, nil),
		Features: phase.Features(graph, false)}
	if d, ok := t.options.regulariser().(nmgnn.DropGNN); ok {
		t.rates.Use(graph)
		return d.Forward(t.model, pass)
	}
	pass.Seen = seen
	return t.model.Forward(pass)
}

// compileStep compiles one epoch (see [trainStep.compile]). The program returns the training loss. If validate is true,
// it also returns, for each validation graph, the loss and predicted classes of the validation nodes.
func (t *trainer) compileStep(validate bool) (*model.Exec, error) {
	step := trainStep{Model: t.model, Data: t.train.data, Masks: t.options.KeepRate.Active(),
		ZeroOne: !t.options.Rescale, Regulariser: t.options.regulariser(), Rates: t.rates,
		LearningRate: t.options.LearningRate, Targets: t.train.targets, SeesScored: true}
	if validate {
		step.More = func(scope *model.Scope, trained *Node) (outputs []*Node) {
			for _, v := range t.validations {
				logits := last(t.forward(scope, trained.Graph(), v.data, v.targets.Seen(trained.Graph())))
				outputs = append(outputs, v.targets.Loss(logits), ArgMax(v.targets.Rows(logits), 1, dtypes.Int32))
			}
			return outputs
		}
	}
	return step.compile(t.backend, t.store, t.trainNodes())
}

func (t *trainer) Begin(_ context.Context, seed uint64) error {
	t.drawn = newDraws(seed, t.trainNodes())
	return t.start.Reset(t.store, t.options.LearningRate, seed)
}

func (t *trainer) Epoch(context.Context) ([]Epoch, []stats.Metrics, error) {
	outputs, err := t.step(t.epoch, t.drawn)
	if err != nil {
		return nil, nil, err
	}
	defer gomlx.Finalize(outputs)
	epochs, metrics := make([]Epoch, len(t.validatedBy)), make([]stats.Metrics, len(t.validatedBy))
	loss := float64(tensors.ToScalar[float32](outputs[0]))
	for k, v := range t.validations {
		predictions, err := tensors.CopyFlatData[int32](outputs[2+2*k])
		if err != nil {
			return nil, nil, gomlx.Error(err)
		}
		m, err := stats.Evaluate(predictions, v.labels, t.graph.NumClasses())
		if err != nil {
			return nil, nil, err
		}
		for view, by := range t.validatedBy {
			if by == k {
				epochs[view] = Epoch{TrainLoss: loss, ValidationLoss: float64(tensors.ToScalar[float32](outputs[1+2*k])),
					ValidationF1: m.MacroF1, ValidationAccuracy: m.Accuracy}
				metrics[view] = m
			}
		}
	}
	return epochs, metrics, nil
}

func (t *trainer) Weights() ([]infer.Weight, error) { return gomlx.WeightsOf[infer.Weight](t.store) }

func (t *trainer) step(epoch *model.Exec, d *draws) ([]*tensors.Tensor, error) {
	copy(d.Delta, t.options.DrawDelta(rand.New(d.Masks), len(d.Delta), t.view.Train.Score))
	return runStep(epoch, d, t.options.WeightDecay, tensors.FromFlatDataAndDimensions(d.Delta, len(d.Delta), 1))
}

func last[T any](all []T) T { return all[len(all)-1] }

func (t *trainer) Close() {
	t.epoch.Finalize()
	for _, exec := range t.represents {
		exec.Finalize()
	}
	t.store.Finalize()
}

type options struct {
	hyper.Parameters
	Rates []float64 // drop rates that switchTo may change; others are compiled in
	Plan  *kernels.Plan

	// The field Also holds further views of the split, for [Runner.Variants]. In these views, new nodes join the graph
	// in other ways.
	Also []*datasets.View
	// Room reserves room for other splits' edges, so that switchTo seldom fails; results stay the same.
	Room bool
}

func (o options) views(first *datasets.View) []*datasets.View {
	return append([]*datasets.View{first}, o.Also...)
}

func optionsOf(p hyper.Parameters) options {
	return options{Parameters: p, Rates: []float64{p.ModelDropout(), p.AttentionDropout}}
}

// regulariser returns nil for dropout, because the model itself applies dropout.
func (o options) regulariser() nmgnn.Regulariser {
	switch o.Regulariser {
	case hyper.DropEdgeRegulariser:
		return nmgnn.DropEdge{Rate: o.RegulariserRate}
	case hyper.DropGNNRegulariser:
		return nmgnn.DropGNN{Rate: o.RegulariserRate}
	}
	return nil
}

func (o options) rates() []float64 {
	if r := o.regulariser(); r != nil {
		return append(slices.Clone(o.Rates), r.DropRate())
	}
	return o.Rates
}

// switchTo changes view and options to those of an experiment with the same program ([programOf]), without compiling.
// Results equal those of a new trainer. switchTo returns [kernels.ErrNoFit] if the train, validation or test set
// changes size, if the split's edges do not fit ([options].Room), or if two drop rates were equal at compilation and
// now differ. After an error only call Close.
func (t *trainer) switchTo(view *datasets.View, o options) error {
	if err := checkTrainable(t.graph, o.views(view)...); err != nil {
		return err
	}
	for i, v := range o.views(view) {
		was := t.views()[i]
		if len(v.Train.Nodes) != len(was.Train.Nodes) || len(v.Validation.Nodes) != len(was.Validation.Nodes) ||
			len(v.Test.Nodes) != len(was.Test.Nodes) {
			return kernels.ErrNoFit
		}
	}
	if err := t.rates.Replace(o.rates()); err != nil {
		return err
	}
	o.Rates = t.options.Rates // keep the rates of compilation, the keys by which programs find current rates
	o.Regulariser, o.RegulariserRate = t.options.Regulariser, t.options.RegulariserRate
	otherFeatures := o.NormalizeFeatures != t.options.NormalizeFeatures
	t.view, t.options = view, o
	if otherFeatures {
		t.features = t.normalized()
	}
	replaced := map[*nmgnn.Loaded]bool{}
	replace := func(data *nmgnn.Loaded, was, now datasets.Phase) error {
		if replaced[data] || was.Edges == now.Edges && slices.Equal(was.Nodes, now.Nodes) && !otherFeatures {
			return nil
		}
		replaced[data] = true
		return data.Replace(now.Edges, t.rows(now))
	}
	scored := func(p *phaseData, now datasets.Phase) error {
		if err := replace(p.data, p.phase, now); err != nil {
			return err
		}
		p.phase, p.labels = now, labelsOf(t.graph, now)
		return p.targets.Replace(now.Score, p.labels)
	}
	err := scored(&t.train, view.Train)
	validations, _ := validationsOf(o.views(view))
	for i := range t.validations {
		if err == nil {
			err = scored(&t.validations[i], validations[i])
		}
	}
	if err == nil {
		err = replace(t.test.data, t.test.phase, view.Test)
		t.test.phase, t.test.labels = view.Test, labelsOf(t.graph, view.Test)
	}
	return err
}
