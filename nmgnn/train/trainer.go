package train

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
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
	labels   phaseLabels
	classes  int

	store      *model.Store
	phases     phaseData
	epoch      *model.Exec
	trainOnly  *model.Exec                   // without validation; nil until it is timed
	timing     *draws                        // of TimeEpochs
	represents map[*nmgnn.Loaded]*model.Exec // all layers' outputs over a phase, once asked for
	arrivals   *nmgnn.Loaded                 // the test graph as the cache sees it; nil until it is asked for
	resting    map[string]*tensors.Tensor    // first values of the optimizer's own variables
	deltaSize  int

	// CompileSeconds is how long building and compiling the program took.
	CompileSeconds float64
}

// phaseLabels are the labels of the scored nodes of each phase.
type phaseLabels struct{ train, validation, test []int32 }

// New compiles m for training on the view's train graph, with validation and test on theirs.
func New(b *backend.Backend, m nmgnn.Model, g *datasets.Graph, view *datasets.View, o Options) (_ *Trainer, err error) {
	o = o.withDefaults()
	if err := m.Check(); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if len(view.Train.Score) == 0 || len(view.Validation.Score) == 0 {
		return nil, fmt.Errorf("train: %d nodes to train on and %d to validate with: each needs at least one", len(view.Train.Score), len(view.Validation.Score))
	}
	if g.Features.Width == 0 {
		return nil, fmt.Errorf("train: %s has no features: a model needs at least one number for each node, if only 1 for all", g.Name)
	}
	t := &Trainer{backend: b, model: m, options: o, view: view, graph: g, classes: g.NumClasses(), store: model.NewStore(), represents: map[*nmgnn.Loaded]*model.Exec{},
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
	features := g.Features
	if t.options.NormalizeFeatures {
		features = features.RowNormalized()
	}
	plan := t.options.Plan
	if plan == nil {
		best := t.backend.PlanFor(features.Density())
		plan = &best
	}
	t.features, t.plan = features, *plan
	phases := []datasets.Phase{t.view.Train, t.view.Validation, t.view.Test}
	data := make([]*nmgnn.Loaded, len(phases))
	for i, phase := range phases {
		if same := slices.IndexFunc(phases[:i], func(p datasets.Phase) bool { return p.Edges == phase.Edges }); same >= 0 {
			data[i] = data[same]
			continue
		}
		x := features
		if len(phase.Nodes) != features.Rows {
			x = features.Select(phase.Nodes)
		}
		var err error
		path := fmt.Sprintf("/%s/%s", infer.DataScope, [...]string{"train", "validation", "test"}[i])
		if data[i], err = nmgnn.Load(t.store, path, phase.Edges, x, *plan, i == 0); err != nil {
			return err
		}
	}
	train, validation, test := data[0], data[1], data[2]
	t.labels = phaseLabels{labelsOf(g, t.view.Train), labelsOf(g, t.view.Validation), labelsOf(g, t.view.Test)}
	trainTargets, err := t.targets("train", t.view.Train.Score, t.labels.train)
	if err != nil {
		return err
	}
	validationTargets, err := t.targets("validation", t.view.Validation.Score, t.labels.validation)
	if err != nil {
		return err
	}

	t.phases = phaseData{train: train, validation: validation, test: test, trainTargets: trainTargets, validationTargets: validationTargets}
	if t.epoch, err = t.compileStep(true); err != nil {
		return err
	}
	// What the optimizer wants to start from, before it has run.
	t.resting = map[string]*tensors.Tensor{}
	for v := range t.store.IterVariables() {
		if t.owns(v) && !infer.IsWeight(v) && v.HasValue() {
			value, err := v.Value()
			if err != nil {
				return gomlx.Error(err)
			}
			if t.resting[v.Path()], err = value.LocalClone(); err != nil {
				return gomlx.Error(err)
			}
		}
	}
	return nil
}

// phaseData holds what the programs of a trainer are made from.
type phaseData struct {
	train, validation, test         *nmgnn.Loaded
	trainTargets, validationTargets targets
}

// forward runs the model over a phase as it is outside training: without mask, dropout or gradients.
func (t *Trainer) forward(scope *model.Scope, graph *Graph, phase *nmgnn.Loaded) []*Node {
	return t.model.Forward(nmgnn.Pass{Scope: scope.At(infer.ModelScope), Near: phase.Neighbours(false, nil), Features: phase.Features(graph, false)})
}

// compileStep compiles one epoch: δ [nodes, 1] and a key [2] for what is drawn on the device → the loss that was trained
// on and, with validate, the validation loss after it and the classes predicted for the validation nodes.
func (t *Trainer) compileStep(validate bool) (*model.Exec, error) {
	train, validation := t.phases.train, t.phases.validation
	step := func(scope *model.Scope, delta, key *Node) []*Node {
		graph := delta.Graph()
		random := kernels.NewRandom(key, t.plan.Kernel)
		pass := nmgnn.Pass{Scope: scope.At(infer.ModelScope), Near: train.Neighbours(true, random), Features: train.Features(graph, true), Random: random}
		if t.options.Mask.KeepRate.Active() {
			pass.Mask = delta
		}
		if t.options.Regulariser != nil {
			pass = t.options.Regulariser.Apply(pass)
		}
		loss := t.phases.trainTargets.loss(last(t.model.Forward(pass)))
		t.update(scope, loss)
		if !validate {
			return []*Node{loss}
		}
		// From here on variables hold the updated weights.
		logits := last(t.forward(scope, graph, validation))
		return []*Node{loss, t.phases.validationTargets.loss(logits), ArgMax(t.phases.validationTargets.rows(logits), 1, dtypes.Int32)}
	}
	exec, err := model.NewExec(t.backend.Backend, t.store, step)
	if err != nil {
		return nil, fmt.Errorf("train: %w", gomlx.Error(err))
	}
	if _, err := exec.Compile(shapes.Make(dtypes.Float32, t.deltaSize, 1), shapes.Make(dtypes.Uint32, 2)); err != nil {
		exec.Finalize()
		return nil, fmt.Errorf("train: compiling for %s: %w", t.backend.ID, gomlx.Error(err))
	}
	return exec, nil
}

// SetKeepRate changes the keep rate for trials to come. It returns an error for a rate that would turn masking on or off:
// the mask is drawn outside the compiled program, but whether there is one is compiled in.
func (t *Trainer) SetKeepRate(p hyper.KeepRate) error {
	if err := p.Check(); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	if p.Active() != t.options.Mask.KeepRate.Active() {
		return fmt.Errorf("train: keep rate %v in place of %v: node masking cannot be turned on or off in a compiled program", p.Probability(), t.options.Mask.KeepRate.Probability())
	}
	t.options.Mask.KeepRate = p
	return nil
}

// owns says whether a variable is changed by training, unlike the data.
func (t *Trainer) owns(v *model.Variable) bool {
	return !strings.HasPrefix(v.Path(), "/"+infer.DataScope+"/")
}

// fromGradients is what GoMLX's optimizers can do beyond optimizer.Interface.
type fromGradients interface {
	UpdateGraphWithGradients(scope *model.Scope, gradients []*Node, lossDType dtypes.DType)
}

// update adds Adam's step for the loss, with L2 on all weights.
func (t *Trainer) update(scope *model.Scope, loss *Node) {
	graph := loss.Graph()
	gradients := scope.BuildTrainableVariablesGradientsGraph(loss)
	if t.options.WeightDecay > 0 {
		i := 0
		for v := range scope.IterVariables() {
			if v.Trainable && v.InUseByGraph(graph) {
				gradients[i] = Add(gradients[i], MulScalar(v.NodeValue(graph), t.options.WeightDecay))
				i++
			}
		}
	}
	adam := optimizer.Adam().LearningRate(t.options.LearningRate).Epsilon(1e-8).Done().(fromGradients)
	adam.UpdateGraphWithGradients(scope.WithInitializer(initializer.Zero), gradients, loss.DType())
}

func last[T any](all []T) T { return all[len(all)-1] }

func labelsOf(g *datasets.Graph, phase datasets.Phase) []int32 {
	labels := make([]int32, len(phase.Score))
	for i, v := range phase.Score {
		labels[i] = g.Labels[phase.Nodes[v]]
	}
	return labels
}

// targets are the scored nodes of a phase and their labels, in variables.
type targets struct {
	score, labels *model.Variable
	classes       int
}

func (t *Trainer) targets(name string, score, labels []int32) (targets, error) {
	v := kernels.NewConstants(t.store, "/"+infer.DataScope+"/targets_"+name)
	n := len(score)
	return targets{classes: t.classes, score: v.Ints("score", score, n, 1), labels: v.Ints("label", labels, n, 1)}, v.Err()
}

// rows picks the scored rows: logits [nodes, classes] → [scored, classes].
func (t targets) rows(logits *Node) *Node {
	return Gather(logits, t.score.NodeValue(logits.Graph()), true)
}

// loss is the mean cross-entropy over the scored nodes.
func (t targets) loss(logits *Node) *Node {
	if got := logits.Shape().Dimensions; got[1] != t.classes {
		panic(fmt.Errorf("the last layer has %d outputs for %d classes", got[1], t.classes))
	}
	rows := t.rows(logits)
	labels := Squeeze(t.labels.NodeValue(logits.Graph()), 1)
	picked := ReduceSum(Mul(LogSoftmax(rows, 1), OneHot(labels, t.classes, rows.DType())), 1)
	return Neg(ReduceAllMean(picked))
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
	t.store.Finalize()
}
