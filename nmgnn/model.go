package nmgnn

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/kernels"
)

// Model is a stack of layers that ends in one output a class. Between two layers stand an activation and dropout.
type Model struct {
	// Layers from the input on; without a readout, the last one's outputs are the logits.
	Layers []Layer
	// Readout computes the logits; its zero value takes the last layer's outputs, and all other layers are hidden.
	Readout Readout
	// Activation follows every hidden layer; nil: ReLU.
	Activation func(x *Node) *Node
	// Norm normalises what each hidden layer returns, before the activation: see [BatchNorm].
	Norm bool
	// Residual adds each layer's input, before dropout, to its output, after the activation, where they have the same
	// width: h^(k) = layer(h^(k-1)) + h^(k-1), as in appendix B of Kipf and Welling (2017).
	Residual bool
	// Dropout is the probability that an entry of a layer's input is dropped while training, for every layer. Node
	// masking is something else: see [Mask].
	Dropout float64
	// ScoresOnly has Dropout on the readout's scores alone.
	ScoresOnly bool
}

// Pass is one run of a model over one graph, inside a computation.
type Pass struct {
	Scope    *model.Scope // where the weights are
	Near     Neighbours
	Features Input           // [nodes, width]
	Mask     *Node           // δ [nodes, 1], shared by all layers; nil: inactive
	Random   *kernels.Random // for dropout; nil: none, as outside training
	// After, if set, changes a layer's output, after its activation and before all that reads it; layers count from 0.
	After func(layer int, h *Node) *Node
}

// Forward returns the representations h^(1)…h^(k) of all nodes, each [nodes, width], and the logits [nodes, classes]
// last, without activation: these are h^(k), or with a readout one more node behind it.
func (m Model) Forward(p Pass) []*Node {
	h := p.Features
	all := make([]*Node, 0, len(m.Layers)+1)
	for i := range m.Layers {
		out := m.Step(p, i, h)
		all = append(all, out)
		h = Dense(out)
	}
	if m.Readout.Classes > 0 {
		all = append(all, m.ReadOut(p, all))
	}
	return all
}

// Step returns what layer i, counted from 0, makes of the representations below it: h^(i+1) of all nodes, [nodes,
// width].
func (m Model) Step(p Pass, i int, h Input) *Node {
	scope := p.Scope.In("layer%d", i)
	input := h
	if !m.ScoresOnly {
		input = h.Dropout(p.Random, m.Dropout)
	}
	out := m.Layers[i].Forward(scope, p.Near, input, p.Mask)
	if hidden := i < len(m.Layers)-1 || m.Readout.Classes > 0; hidden {
		if m.Norm {
			out = BatchNorm(scope.In("norm"), p.Near, out)
		}
		if m.Activation != nil {
			out = m.Activation(out)
		} else {
			out = relu(out)
		}
	}
	if m.Residual && h.Width() == out.Shape().Dimensions[1] {
		out = Add(out, h.Node())
	}
	if p.After != nil {
		out = p.After(i, out)
	}
	return out
}

// ReadOut returns the logits [nodes, classes] of a model with a readout, for h^(1)…h^(k).
func (m Model) ReadOut(p Pass, all []*Node) *Node {
	return m.Readout.logits(p, all, m.Dropout, m.ScoresOnly)
}

// Check returns an error if the model cannot be built.
func (m Model) Check() error {
	if len(m.Layers) == 0 {
		return fmt.Errorf("a model needs at least one layer")
	}
	for i, l := range m.Layers {
		if l == nil {
			return fmt.Errorf("layer %d is nil", i)
		}
		if c, ok := l.(interface{ check() error }); ok {
			if err := c.check(); err != nil {
				return fmt.Errorf("layer %d: %w", i, err)
			}
		}
	}
	if m.Readout.Classes < 0 {
		return fmt.Errorf("a readout of %d classes: expected 0, for none, or more", m.Readout.Classes)
	}
	return hyper.CheckDropRate("dropout", m.Dropout)
}

// checkWidths returns an error for a layer without outputs, or with a number of them below 1.
func checkWidths(all ...int) error {
	if len(all) == 0 || slices.Min(all) < 1 {
		return fmt.Errorf("widths %v: expected at least 1 each", all)
	}
	return nil
}

// checkAttention returns an error for settings that no attention has.
func checkAttention(heads, width int, dropout float64) error {
	if heads < 0 {
		return fmt.Errorf("%d heads: expected 1 or more; 0 is 1", heads)
	}
	if err := checkWidths(width); err != nil {
		return err
	}
	return hyper.CheckDropRate("dropout", dropout)
}

// relu is max(x, 0), as a choice: the gradient of a maximum takes five operations where that of a choice is one. In
// pages the five are faster, as each has a loop in nmgnn/internal/kernels/fused/lanes. Both compute the same numbers.
func relu(x *Node) *Node {
	if runtime.GOARCH == "wasm" {
		return activation.Relu(x)
	}
	return Where(LessThan(x, ScalarZero(x.Graph(), x.DType())), ZerosLike(x), x) // NaN stays NaN
}

// String returns the model in a line: "Model(2 layers: nmgnn.GIN, nmgnn.GIN; dropout 0.5)".
func (m Model) String() string {
	kinds := make([]string, len(m.Layers))
	for i, layer := range m.Layers {
		kinds[i] = fmt.Sprintf("%T", layer)
	}
	return fmt.Sprintf("Model(%d layers: %s; dropout %v)", len(m.Layers), strings.Join(kinds, ", "), m.Dropout)
}
