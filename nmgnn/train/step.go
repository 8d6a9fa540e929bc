package train

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels"
	"nodemask/stats"
)

type trainStep struct {
	Model        nmgnn.Model
	Data         *nmgnn.Loaded
	Masks        bool
	ZeroOne      bool // masks hold only 0 and 1
	Regulariser  nmgnn.Regulariser
	Rates        *kernels.Rates // variables with the drop rates; nil if the rates are constants
	LearningRate float64
	Targets      *targets // nodes in the loss; nil if the step changes no weights
	SeesScored   bool     // the function More reads only the logits of the nodes in Targets
	// After, if set, changes each layer's output (see [nmgnn.Pass]).
	After func(layer int, h *Node) *Node
	// More, if set, computes further outputs from the updated weights and the step's logits.
	More func(scope *model.Scope, logits *Node) []*Node
}

// compile returns the step's program. The program's inputs are a key [2] for random numbers on the device, the weight
// decay (scalar) and the mask δ [nodes, 1]. The program returns the loss, if s.Targets is set, then the results of
// s.More, if set.
func (s trainStep) compile(b *backend.Backend, store *model.Store, nodes int) (*model.Exec, error) {
	inputs := []shapes.Shape{shapes.Make(dtypes.Uint32, 2), shapes.Make(dtypes.Float32),
		shapes.Make(dtypes.Float32, nodes, 1)}
	return gomlx.Compile(b.Backend, b.ID, store, func(scope *model.Scope, in []*Node) []*Node {
		key, decay, graph := in[0], in[1], in[0].Graph()
		s.Rates.Use(graph)
		random := s.Data.Random(key)
		pass := nmgnn.Pass{Scope: scope.At(gomlx.ModelScope), Near: s.Data.Neighbours(true, random),
			Features: s.Data.Features(graph, true), Random: random, After: s.After}
		if s.Masks {
			pass.Mask, pass.ZeroOne = in[2], s.ZeroOne
		}
		if s.Regulariser != nil {
			pass = s.Regulariser.Apply(pass)
		} else if s.SeesScored {
			pass.Seen = s.Targets.Seen(graph)
		}
		all := s.Model.Forward(pass)
		logits := all[len(all)-1]
		var outputs []*Node
		if s.Targets != nil {
			loss := s.Targets.Loss(logits)
			update(scope, loss, decay, s.LearningRate)
			outputs = append(outputs, loss)
		}
		if s.More != nil {
			outputs = append(outputs, s.More(scope, logits)...)
		}
		kernels.Donate(graph, store)
		return outputs
	}, inputs...)
}

type draws struct {
	// sources of random numbers: Masks draws the masks, Keys each step's seed for the device, Order the batch order
	Masks, Keys, Order *rand.PCG
	Delta              []float32 // mask δ of each node of the train graph
}

func newDraws(seed uint64, nodes int) *draws {
	return &draws{gomlx.HostSource(seed, "mask"), gomlx.HostSource(seed, "dropout"), gomlx.HostSource(seed, "batches"),
		make([]float32, nodes)}
}

func runStep(step *model.Exec, d *draws, decay float64, mask *tensors.Tensor) ([]*tensors.Tensor, error) {
	r := rand.New(d.Keys)
	key := tensors.FromFlatDataAndDimensions([]uint32{r.Uint32(), r.Uint32()}, 2)
	outputs, err := step.Call(key, tensors.FromScalar(float32(decay)), mask)
	return outputs, gomlx.Error(err)
}

func checkTrainable(g *datasets.Graph, views ...*datasets.View) error {
	for _, v := range views {
		if v == nil {
			return errors.New("the view is nil: expected one that datasets.NewView returns")
		}
		if len(v.Train.Score) == 0 || len(v.Validation.Score) == 0 || len(v.Test.Score) == 0 {
			return fmt.Errorf("a view of %d train, %d validation and %d test nodes: each needs at least one",
				len(v.Train.Score), len(v.Validation.Score), len(v.Test.Score))
		}
	}
	if err := g.CheckTrainable(); err != nil {
		return fmt.Errorf("%s: %w", g.Name, err)
	}
	return nil
}

type subject struct {
	graph   *datasets.Graph
	view    *datasets.View
	options options
}

func (s subject) how() options { return s.options }

// onGraph extends the test graph's classes to all nodes; nodes outside the test graph get -1.
func (s subject) onGraph(classes []int32) []int32 {
	if len(classes) == s.graph.NumNodes() {
		return classes
	}
	all := slices.Repeat([]int32{-1}, s.graph.NumNodes())
	for i, v := range s.view.Test.Nodes {
		all[v] = classes[i]
	}
	return all
}

func (s subject) score(classes []int32) (stats.Metrics, error) {
	phase := s.view.Test
	predicted := make([]int32, len(phase.Score))
	for i, v := range phase.Score {
		predicted[i] = classes[phase.Nodes[v]]
	}
	return stats.Evaluate(predicted, labelsOf(s.graph, phase), s.graph.NumClasses())
}

func evaluate(g *datasets.Graph, phase datasets.Phase, classes []int32) (stats.Metrics, error) {
	predicted := make([]int32, len(phase.Score))
	for i, v := range phase.Score {
		predicted[i] = classes[v]
	}
	return stats.Evaluate(predicted, labelsOf(g, phase), g.NumClasses())
}

func labelsOf(g *datasets.Graph, phase datasets.Phase) []int32 {
	labels := make([]int32, len(phase.Score))
	for i, v := range phase.Score {
		labels[i] = g.Labels[phase.Nodes[v]]
	}
	return labels
}
