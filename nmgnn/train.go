package nmgnn

import (
	"context"
	"fmt"
	"math"
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
)

// StopOn names the validation score that early stopping follows.
type StopOn string

const (
	StopOnLoss StopOn = "loss" // the lowest loss
	StopOnF1   StopOn = "f1"   // the highest macro F1
)

// TrainOptions are the settings of training. The zero value trains without masking and weight decay, at the paper's
// epochs and patience; [Standard] is what reproduces the paper.
type TrainOptions struct {
	Mask              Mask    // zero: node masking is inactive
	LearningRate      float64 // of Adam; 0: 0.01
	WeightDecay       float64 // L2: added to the gradient of every weight and bias, not decoupled
	MaxEpochs         int     // 0: 1000
	Patience          int     // epochs without a better validation score before stopping; 0: 50
	StopOn            StopOn  // "": StopOnLoss
	NormalizeFeatures bool    // divide each node's features by the sum of their absolute values
	Plan              *Plan   // how to compute; nil: what the backend does best
}

func (o TrainOptions) withDefaults() TrainOptions {
	if o.LearningRate == 0 {
		o.LearningRate = 0.01
	}
	if o.MaxEpochs == 0 {
		o.MaxEpochs = 1000
	}
	if o.Patience == 0 {
		o.Patience = 50
	}
	if o.StopOn == "" {
		o.StopOn = StopOnLoss
	}
	return o
}

func (o TrainOptions) check() error {
	if err := o.Mask.Check(); err != nil {
		return err
	}
	switch {
	case !(o.LearningRate > 0) || math.IsInf(o.LearningRate, 0):
		return fmt.Errorf("nmgnn: learning rate %v: expected a number above 0", o.LearningRate)
	case !(o.WeightDecay >= 0) || math.IsInf(o.WeightDecay, 0):
		return fmt.Errorf("nmgnn: weight decay %v: expected a number from 0 up", o.WeightDecay)
	case o.MaxEpochs < 1:
		return fmt.Errorf("nmgnn: %d epochs: expected at least 1", o.MaxEpochs)
	case o.Patience < 1:
		return fmt.Errorf("nmgnn: patience %d: expected at least 1 epoch", o.Patience)
	case o.StopOn != StopOnLoss && o.StopOn != StopOnF1:
		return fmt.Errorf("nmgnn: no early stopping on %q: expected %q or %q", o.StopOn, StopOnLoss, StopOnF1)
	}
	return nil
}

// Epoch is what was measured in one epoch: the loss that was trained on (with mask and dropout, before the update), and
// the validation scores after it (without them).
type Epoch struct {
	TrainLoss, ValidationLoss, ValidationF1 float64
}

// Trial is one training run.
type Trial struct {
	Seed        uint64
	History     []Epoch
	BestEpoch   int     // counted from 1; its weights were restored
	Seconds     float64 // training and evaluation, without compiling
	Validation  Metrics // at the best epoch, in the validation graph
	Test        Metrics // in the test graph
	Predictions []int32 // class of every node of the test graph
	Weights     []Weight
}

// Weight is one trained variable.
type Weight struct {
	Path       string
	Dimensions []int
	Values     []float32 // row-major
}

// Trainer is a model compiled for one view of a graph. It can train any number of trials, one after the other; trainers
// of their own may run at the same time on one backend.
type Trainer struct {
	backend *Backend
	model   Model
	options TrainOptions
	view    *datasets.View
	labels  phaseLabels
	classes int

	store     *model.Store
	epoch     *model.Exec
	predict   *model.Exec
	resting   map[string]*tensors.Tensor // first values of the optimizer's own variables
	deltaSize int

	// CompileSeconds is how long building and compiling the program took.
	CompileSeconds float64
}

// phaseLabels are the labels of the scored nodes of each phase.
type phaseLabels struct{ train, validation, test []int32 }

const (
	modelScope = "model"
	dataScope  = "data"
)

// NewTrainer compiles m for training on the view's train graph, with validation and test on theirs.
func NewTrainer(b *Backend, m Model, g *datasets.Graph, view *datasets.View, o TrainOptions) (t *Trainer, err error) {
	o = o.withDefaults()
	if err := m.Check(); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if len(view.Train.Score) == 0 || len(view.Validation.Score) == 0 {
		return nil, fmt.Errorf("nmgnn: %d nodes to train on and %d to validate with: each needs at least one", len(view.Train.Score), len(view.Validation.Score))
	}
	if g.Features.Width == 0 {
		return nil, fmt.Errorf("nmgnn: %s has no features: a model needs at least one number for each node, if only 1 for all", g.Name)
	}
	t = &Trainer{backend: b, model: m, options: o, view: view, classes: g.NumClasses(), store: model.NewStore(),
		deltaSize: view.Train.Edges.NumNodes()}
	begin := time.Now()
	defer guard(&err, "building the model")
	if err := t.compile(g); err != nil {
		t.store.Finalize()
		return nil, err
	}
	t.CompileSeconds = time.Since(begin).Seconds()
	return t, nil
}

// guard turns the panics with which computations report errors while they are built into errors.
func guard(err *error, doing string) {
	switch r := recover().(type) {
	case nil:
	case error:
		*err = fmt.Errorf("nmgnn: %s: %s", doing, firstLine(r))
	default:
		panic(r) // not an error of GoMLX's: a defect of ours
	}
}

func (t *Trainer) compile(g *datasets.Graph) error {
	features := g.Features
	if t.options.NormalizeFeatures {
		features = features.RowNormalized()
	}
	plan := t.options.Plan
	if plan == nil {
		density := 1.0
		if features.IsSparse() && features.Rows > 0 && features.Width > 0 {
			density = float64(features.NonZeros()) / float64(features.Rows) / float64(features.Width)
		}
		best := t.backend.PlanFor(density)
		plan = &best
	}
	phases := []datasets.Phase{t.view.Train, t.view.Validation, t.view.Test}
	data := make([]*phaseData, len(phases))
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
		path := fmt.Sprintf("/%s/%s", dataScope, [...]string{"train", "validation", "test"}[i])
		if data[i], err = newPhaseData(t.store, path, phase.Edges, x, *plan, i == 0); err != nil {
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

	step := func(scope *model.Scope, delta, key *Node) (trainLoss, validationLoss, predictions *Node) {
		graph := delta.Graph()
		var mask *Node
		if t.options.Mask.Active() {
			mask = delta
		}
		loss := trainTargets.loss(last(t.model.Forward(Pass{
			Scope: scope.At(modelScope), Near: train.neighbours(true), Features: train.input(graph, true),
			Mask: mask, Random: NewRandom(key)})))
		t.update(scope, loss)
		// From here on variables hold the updated weights.
		logits := last(t.model.Forward(Pass{
			Scope: scope.At(modelScope), Near: validation.neighbours(false), Features: validation.input(graph, false)}))
		return loss, validationTargets.loss(logits), ArgMax(validationTargets.rows(logits), 1, dtypes.Int32)
	}
	if t.epoch, err = model.NewExec(t.backend.Backend, t.store, step); err != nil {
		return fmt.Errorf("nmgnn: %s", firstLine(err))
	}
	predict := func(scope *model.Scope, graph *Graph) *Node {
		logits := last(t.model.Forward(Pass{
			Scope: scope.At(modelScope), Near: test.neighbours(false), Features: test.input(graph, false)}))
		if got := logits.Shape().Dimensions; got[1] != t.classes {
			panic(fmt.Errorf("the last layer has %d outputs for %d classes", got[1], t.classes))
		}
		return ArgMax(logits, 1, dtypes.Int32)
	}
	if t.predict, err = model.NewExec(t.backend.Backend, t.store, predict); err != nil {
		return fmt.Errorf("nmgnn: %s", firstLine(err))
	}
	if _, err := t.epoch.Compile(shapes.Make(dtypes.Float32, t.deltaSize, 1), shapes.Make(dtypes.Uint32, 2)); err != nil {
		return fmt.Errorf("nmgnn: compiling for %s: %s", t.backend.ID, firstLine(err))
	}
	// What the optimizer wants to start from, before it has run.
	t.resting = map[string]*tensors.Tensor{}
	for v := range t.store.IterVariables() {
		if t.owns(v) && !v.Trainable && v.HasValue() {
			value, err := v.Value()
			if err != nil {
				return err
			}
			if t.resting[v.Path()], err = value.LocalClone(); err != nil {
				return err
			}
		}
	}
	return nil
}

// owns says whether a variable is changed by training, unlike the data.
func (t *Trainer) owns(v *model.Variable) bool {
	return !strings.HasPrefix(v.Path(), "/"+dataScope+"/")
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

func last(nodes []*Node) *Node { return nodes[len(nodes)-1] }

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
	v := variables{store: t.store, path: "/" + dataScope + "/targets_" + name}
	n := len(score)
	return targets{classes: t.classes, score: v.ints("score", score, n, 1), labels: v.ints("label", labels, n, 1)}, v.err
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

// Train runs one trial from the seed: first weights, masks and dropout all follow from it. report, if not nil, is called
// after each epoch. A cancelled context ends it with the context's error and no trial.
func (t *Trainer) Train(ctx context.Context, seed uint64, report func(epoch int, e Epoch)) (trial *Trial, err error) {
	defer guard(&err, "training")
	begin := time.Now()
	if err := t.reset(seed); err != nil {
		return nil, err
	}
	trial = &Trial{Seed: seed}
	stopping := EarlyStopping{Patience: t.options.Patience}
	masks, keys := hostRandom(seed, "mask"), hostRandom(seed, "dropout")
	delta := make([]float32, t.deltaSize)
	for epoch := 1; epoch <= t.options.MaxEpochs && !stopping.Stop(); epoch++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t.options.Mask.Draw(masks, delta)
		trainLoss, validationLoss, predicted, err := t.epoch.Call3(
			tensors.FromFlatDataAndDimensions(delta, t.deltaSize, 1),
			tensors.FromFlatDataAndDimensions([]uint32{keys.Uint32(), keys.Uint32()}, 2))
		if err != nil {
			return nil, fmt.Errorf("nmgnn: epoch %d: %s", epoch, firstLine(err))
		}
		predictions, err := tensors.CopyFlatData[int32](predicted)
		if err != nil {
			return nil, fmt.Errorf("nmgnn: epoch %d: %s", epoch, firstLine(err))
		}
		metrics, err := Evaluate(predictions, t.labels.validation, t.classes)
		if err != nil {
			return nil, err
		}
		e := Epoch{float64(tensors.ToScalar[float32](trainLoss)), float64(tensors.ToScalar[float32](validationLoss)), metrics.MacroF1}
		for _, output := range []*tensors.Tensor{trainLoss, validationLoss, predicted} {
			output.MustFinalizeAll()
		}
		if math.IsNaN(e.TrainLoss) || math.IsInf(e.TrainLoss, 0) {
			return nil, fmt.Errorf("nmgnn: epoch %d: the training loss is %v: the learning rate %v may be too high, or the features too large", epoch, e.TrainLoss, t.options.LearningRate)
		}
		trial.History = append(trial.History, e)
		score := e.ValidationLoss
		if t.options.StopOn == StopOnF1 {
			score = -e.ValidationF1
		}
		if stopping.Observe(score) {
			trial.Validation = metrics
			if trial.Weights, err = t.weights(); err != nil {
				return nil, err
			}
		}
		if report != nil {
			report(epoch, e)
		}
	}
	trial.BestEpoch = stopping.BestEpoch()
	if trial.BestEpoch == 0 {
		return nil, fmt.Errorf("nmgnn: no validation loss in %d epochs was a number", len(trial.History))
	}
	if err := t.restore(trial.Weights); err != nil {
		return nil, err
	}
	if trial.Predictions, err = t.Predict(); err != nil {
		return nil, err
	}
	scored := make([]int32, len(t.view.Test.Score))
	for i, v := range t.view.Test.Score {
		scored[i] = trial.Predictions[v]
	}
	if trial.Test, err = Evaluate(scored, t.labels.test, t.classes); err != nil {
		return nil, err
	}
	trial.Seconds = time.Since(begin).Seconds()
	return trial, nil
}

// Predict returns the class of every node of the test graph, by the weights that training left, without mask or dropout.
func (t *Trainer) Predict() (classes []int32, err error) {
	defer guard(&err, "predicting")
	output, err := t.predict.Call1()
	if err != nil {
		return nil, fmt.Errorf("nmgnn: predicting: %s", firstLine(err))
	}
	return tensors.CopyFlatData[int32](output)
}

// reset gives weights their first values and the optimizer its own.
func (t *Trainer) reset(seed uint64) error {
	for v := range t.store.IterVariables() {
		if !t.owns(v) {
			continue
		}
		value := t.resting[v.Path()]
		var err error
		switch {
		case v.Trainable:
			value, err = t.firstValue(v, seed)
		case value != nil:
			value, err = value.LocalClone()
		default:
			value = tensors.FromShape(v.Shape())
		}
		if err != nil {
			return err
		}
		if err := v.SetValue(value); err != nil {
			return fmt.Errorf("nmgnn: variable %s: %s", v.Path(), firstLine(err))
		}
	}
	return nil
}

// firstValue draws a variable's first values on the host, so that they are the same on every backend.
func (t *Trainer) firstValue(v *model.Variable, seed uint64) (*tensors.Tensor, error) {
	shape := v.Shape()
	if shape.DType != dtypes.Float32 {
		return nil, fmt.Errorf("nmgnn: variable %s is of type %s: only float32 is trained", v.Path(), shape.DType)
	}
	bound, found := t.store.GetParam(v.Path() + boundSuffix)
	limit, isNumber := bound.(float64)
	if !found || !isNumber {
		// Made without Weights: Glorot for matrices, zero for the rest.
		if shape.Rank() >= 2 {
			limit = math.Sqrt(6 / float64(shape.Dimensions[shape.Rank()-2]+shape.Dimensions[shape.Rank()-1]))
		}
	}
	r := hostRandom(seed, "weights"+v.Path())
	values := make([]float32, shape.Size())
	for i := range values {
		values[i] = float32((2*r.Float64() - 1) * limit)
	}
	return tensors.FromFlatDataAndDimensions(values, shape.Dimensions...), nil
}

// weights copies the trained variables.
func (t *Trainer) weights() ([]Weight, error) {
	var all []Weight
	for v := range t.store.IterVariables() {
		if !v.Trainable {
			continue
		}
		value, err := v.Value()
		if err != nil {
			return nil, fmt.Errorf("nmgnn: variable %s: %s", v.Path(), firstLine(err))
		}
		w := Weight{Path: v.Path(), Dimensions: slices.Clone(v.Shape().Dimensions)}
		if w.Values, err = tensors.CopyFlatData[float32](value); err != nil {
			return nil, fmt.Errorf("nmgnn: variable %s: %s", v.Path(), firstLine(err))
		}
		all = append(all, w)
	}
	return all, nil
}

func (t *Trainer) restore(weights []Weight) error {
	for _, w := range weights {
		v := t.store.GetVariable(w.Path)
		if err := v.SetValue(tensors.FromFlatDataAndDimensions(w.Values, w.Dimensions...)); err != nil {
			return fmt.Errorf("nmgnn: variable %s: %s", w.Path, firstLine(err))
		}
	}
	return nil
}

// Close frees the compiled programs and the data on the device.
func (t *Trainer) Close() {
	t.epoch.Finalize()
	t.predict.Finalize()
	t.store.Finalize()
}
