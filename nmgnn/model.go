package nmgnn

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/kernels"
)

// Model is a stack of layers that ends in one output a class. Between two layers stand an activation and dropout.
type Model struct {
	// Layers from the input on; the last one's outputs are the logits.
	Layers []Layer
	// Activation follows every layer but the last; nil: ReLU.
	Activation func(x *Node) *Node
	// Dropout is the probability that an entry of a layer's input is dropped while training, for every layer. Node
	// masking is something else: see [Mask].
	Dropout float64
}

// Pass is one run of a model over one graph, inside a computation.
type Pass struct {
	Scope    *model.Scope // where the weights are
	Near     Neighbours
	Features Input           // [nodes, width]
	Mask     *Node           // δ [nodes, 1], shared by all layers; nil: inactive
	Random   *kernels.Random // for dropout; nil: none, as outside training
	// After, if set, changes a layer's output, after its activation and before the next layer; layers count from 0.
	After func(layer int, h *Node) *Node
}

// Forward returns the representations h^(1)…h^(k) of all nodes, each [nodes, width]; the last is the logits
// [nodes, classes], without activation.
func (m Model) Forward(p Pass) []*Node {
	between := m.Activation
	if between == nil {
		between = activation.Relu
	}
	h := p.Features
	all := make([]*Node, 0, len(m.Layers))
	for i, layer := range m.Layers {
		out := layer.Forward(p.Scope.In("layer%d", i), p.Near, h.Dropout(p.Random, m.Dropout), p.Mask)
		if i < len(m.Layers)-1 {
			out = between(out)
		}
		if p.After != nil {
			out = p.After(i, out)
		}
		all = append(all, out)
		h = Dense(out)
	}
	return all
}

// Check returns an error if the model cannot be built.
func (m Model) Check() error {
	if len(m.Layers) == 0 {
		return fmt.Errorf("nmgnn: a model needs at least one layer")
	}
	return hyper.CheckDropRate("dropout", m.Dropout)
}
