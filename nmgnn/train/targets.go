package train

import (
	"fmt"
	"strings"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels"
)

// owns reports whether training changes a variable.
func owns(v *model.Variable) bool {
	return !strings.HasPrefix(v.Path(), "/"+gomlx.DataScope+"/")
}

// GoMLX's optimizers implement this besides optimizer.Interface.
type fromGradients interface {
	UpdateGraphWithGradients(scope *model.Scope, gradients []*Node, lossDType dtypes.DType)
}

// update adds to the graph one step of Adam on the loss, with L2 regularisation of all weights by the factor decay
// (scalar).
func update(scope *model.Scope, loss, decay *Node, learningRate float64) {
	graph := loss.Graph()
	gradients := scope.BuildTrainableVariablesGradientsGraph(loss)
	i := 0
	for v := range scope.IterVariables() {
		if v.Trainable && v.InUseByGraph(graph) {
			gradients[i] = Add(gradients[i], Mul(v.NodeValue(graph), decay))
			i++
		}
	}
	adam := optimizer.Adam().LearningRate(learningRate).Epsilon(1e-8).Done().(fromGradients)
	adam.UpdateGraphWithGradients(scope.WithInitializer(initializer.Zero), gradients, loss.DType())
}

func learningRatePath() string { return "/" + optimizer.Scope + "/" + optimizer.ParamLearningRate }

// firstValues maps variable paths to initial values. It holds the optimizer's variables and the weights that layers
// initialise themselves.
type firstValues map[string]*tensors.Tensor

// firstValuesOf collects initial values from a store in which a step was compiled but never run.
func firstValuesOf(store *model.Store) (firstValues, error) {
	start := firstValues{}
	for v := range store.IterVariables() {
		if owns(v) && v.HasValue() && !gomlx.IsMade(store, v) {
			value, err := v.Value()
			if err != nil {
				return nil, gomlx.Error(err)
			}
			if start[v.Path()], err = value.LocalClone(); err != nil {
				return nil, gomlx.Error(err)
			}
		}
	}
	if start[learningRatePath()] == nil {
		return nil, fmt.Errorf("this version of GoMLX does not keep the learning rate in %s", learningRatePath())
	}
	return start, nil
}

// Reset sets the learning rate. Other variables that training changes get their value in s. Without a value in s, a
// weight is drawn from the seed, and any other variable becomes 0.
func (s firstValues) Reset(store *model.Store, learningRate float64, seed uint64) error {
	for v := range store.IterVariables() {
		if !owns(v) {
			continue
		}
		value := s[v.Path()]
		if value != nil && v.Path() == learningRatePath() {
			value = tensors.FromScalar(float32(learningRate))
		}
		var err error
		switch {
		case value != nil:
			value, err = value.LocalClone()
		case gomlx.IsWeight(v):
			value, err = gomlx.FirstValue(store, v, seed)
		default:
			value = tensors.FromShape(v.Shape())
		}
		if err != nil {
			return err
		}
		if err := v.SetValue(value); err != nil {
			return fmt.Errorf("variable %s: %w", v.Path(), gomlx.Error(err))
		}
	}
	return nil
}

// targets holds, in variables, the nodes of a graph that count in the loss (scored nodes) and their labels.
type targets struct {
	score, labels *model.Variable
	weights       *model.Variable // [slots, 1]: each scored node's weight in the loss; nil if equal
	seen          *model.Variable // [nodes, 1]: 1 for scored nodes, else 0; nil in padded targets
	classes       int
}

func newTargets(store *model.Store, name string, score, labels []int32, nodes, classes int) (*targets, error) {
	into := kernels.NewConstants(store, "/"+gomlx.DataScope+"/targets_"+name)
	t := &targets{classes: classes}
	n := len(score)
	t.score, t.labels = into.Ints("score", score, n, 1), into.Ints("label", labels, n, 1)
	if nodes > 0 {
		t.seen = into.Floats("seen", each(score, nodes), nodes, 1)
	}
	return t, into.Err()
}

// newPaddedTargets returns targets with room for the given number of scored nodes.
func newPaddedTargets(store *model.Store, name string, slots, classes int) (*targets, error) {
	t, err := newTargets(store, name, make([]int32, slots), make([]int32, slots), 0, classes)
	if err != nil {
		return nil, err
	}
	into := kernels.NewConstants(store, "/"+gomlx.DataScope+"/targets_"+name)
	t.weights = into.Floats("weight", make([]float32, slots), slots, 1)
	return t, into.Err()
}

// Replace sets new scored nodes and labels. It returns [kernels.ErrNoFit] if there are more nodes than t has room for,
// or if there are fewer and t is not padded.
func (t *targets) Replace(score, labels []int32) error {
	n := t.score.Shape().Dimensions[0]
	if len(score) > n || len(score) < n && t.weights == nil {
		return kernels.ErrNoFit
	}
	if t.weights != nil {
		weights := make([]float32, n)
		for i := range score {
			weights[i] = 1 / float32(len(score))
		}
		if err := t.weights.SetValue(tensors.FromFlatDataAndDimensions(weights, n, 1)); err != nil {
			return gomlx.Error(err)
		}
	}
	padded := func(from []int32) *tensors.Tensor {
		all := make([]int32, n)
		copy(all, from)
		return tensors.FromFlatDataAndDimensions(all, n, 1)
	}
	if err := t.score.SetValue(padded(score)); err != nil {
		return gomlx.Error(err)
	}
	if t.seen != nil {
		nodes := t.seen.Shape().Dimensions[0]
		if err := t.seen.SetValue(tensors.FromFlatDataAndDimensions(each(score, nodes), nodes, 1)); err != nil {
			return gomlx.Error(err)
		}
	}
	return gomlx.Error(t.labels.SetValue(padded(labels)))
}

func each(score []int32, nodes int) []float32 {
	seen := make([]float32, nodes)
	for _, v := range score {
		seen[v] = 1
	}
	return seen
}

// Seen returns t.seen [nodes, 1] in the computation g. It returns nil if t or t.seen is nil.
func (t *targets) Seen(g *Graph) *Node {
	if t == nil || t.seen == nil {
		return nil
	}
	return t.seen.NodeValue(g)
}

// Rows returns the scored rows: logits [nodes, classes] → [scored, classes].
func (t *targets) Rows(logits *Node) *Node {
	return Gather(logits, t.score.NodeValue(logits.Graph()), true)
}

// Loss returns the mean cross-entropy over the scored nodes, a scalar.
func (t *targets) Loss(logits *Node) *Node {
	if got := logits.Shape().Dimensions; got[1] != t.classes {
		panic(fmt.Errorf("the last layer has %d outputs for %d classes", got[1], t.classes))
	}
	rows := t.Rows(logits)
	labels := Squeeze(t.labels.NodeValue(logits.Graph()), 1)
	picked := ReduceSum(Mul(LogSoftmax(rows, 1), OneHot(labels, t.classes, rows.DType())), 1)
	if t.weights != nil {
		return Neg(ReduceAllSum(Mul(picked, Squeeze(t.weights.NodeValue(logits.Graph()), 1))))
	}
	return Neg(ReduceAllMean(picked))
}
