package nmgnn

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/kernels"
)

// Model is a stack of layers with activations and dropout, with one output per class.
type Model struct {
	// Layers are in order from the input.
	Layers []Layer
	// Readout computes the logits; the zero value takes the last layer's outputs.
	Readout Readout
	// Activation follows every hidden layer; nil: ReLU.
	Activation func(x *Node) *Node
	// Norm adds batch normalisation to each hidden layer's output, before the activation.
	Norm bool
	// Residual adds each layer's input, without dropout, to the layer's activated output, if both have the same width:
	// h^(k) = layer(h^(k-1)) + h^(k-1), as in appendix B of Kipf and Welling (2017).
	Residual bool
	// Dropout is the probability of dropping an entry of a layer's input in training.
	Dropout float64
	// ScoresOnly applies Dropout only to the readout's scores.
	ScoresOnly bool
}

// Pass is one run of a model over one graph, inside a computation.
type Pass struct {
	Scope    *model.Scope // scope of the weights
	Near     Neighbours
	Features Input   // [nodes, width]
	Mask     *Node   // δ [nodes, 1], shared by all layers; nil: no masking
	ZeroOne  bool    // states that the mask holds only 0 and 1
	Random   *Random // random numbers for dropout; nil outside training
	// Seen [nodes, 1] is nonzero for nodes whose results are read; results of other nodes may be wrong. nil: all are
	// read.
	Seen *Node
	// After, if set, changes the output of each layer (counted from 0) after the activation.
	After func(layer int, h *Node) *Node
}

// Forward returns h^(1)…h^(k), each [nodes, width], and with a readout one more element, the readout's output. The last
// element holds the logits [nodes, classes].
func (m Model) Forward(p Pass) []*Node {
	seen := m.seen(p)
	h := seeing(p.Features, seen[0])
	if m.isLean() {
		kernels.Lean(p.Features.Graph(), p.ZeroOne)
	}
	all := make([]*Node, 0, len(m.Layers)+1)
	for i := range m.Layers {
		p.Near = p.Near.seeing(seen[i+1])
		out, before := m.step(p, i, h)
		all = append(all, out)
		h = dense{node: out, seen: seen[i+1], before: before}
	}
	if m.Readout.Classes > 0 {
		all = append(all, m.ReadOut(p, all))
	}
	return all
}

// isLean reports whether the shortcuts of [kernels.Lean] change no digit of the results.
func (m Model) isLean() bool {
	return !m.Norm && !slices.ContainsFunc(m.Layers, func(l Layer) bool {
		switch l := l.(type) {
		case GIN:
			return l.Norm
		case GAT, GATv2, SGAT, GCN, SAGE:
			return false
		}
		return true
	})
}

// seen returns k+1 tensors [nodes, 1], one for the features and one for each of h^(1)…h^(k). Each tensor is nonzero at
// the rows that are read; a nil tensor means that all rows are read.
func (m Model) seen(p Pass) []*Node {
	all := make([]*Node, len(m.Layers)+1)
	if p.Seen == nil || p.After != nil || m.Norm {
		return all
	}
	all[len(m.Layers)] = p.Seen
	for i := len(m.Layers) - 1; i >= 0; i-- {
		var mask *Node
		// This is a switch, not a method of Layer, because types that embed these layers would inherit the method.
		switch l := m.Layers[i].(type) {
		case GIN:
			if mask = p.Mask; l.Norm {
				return make([]*Node, len(all))
			}
		case GAT, GATv2, SGAT: // attention also reads masked neighbours
		default:
			return make([]*Node, len(all))
		}
		if all[i] = p.Near.reach(all[i+1], mask); all[i] == nil {
			return make([]*Node, len(all))
		}
	}
	return all
}

// Step returns the output h^(i+1) of layer i (from 0): [nodes, width].
func (m Model) Step(p Pass, i int, h Input) *Node {
	out, _ := m.step(p, i, h)
	return out
}

// step returns [Model.Step]'s output. If a ReLU computes this output, before is the ReLU's input, else nil.
func (m Model) step(p Pass, i int, h Input) (out, before *Node) {
	scope := p.Scope.In("layer%d", i)
	defer nameLayer(i, m.Layers[i])
	input := h
	if !m.ScoresOnly {
		input = h.Dropout(p.Random, m.Dropout)
	}
	out = m.Layers[i].Forward(scope, p.Near, input, p.Mask)
	if hidden := i < len(m.Layers)-1 || m.Readout.Classes > 0; hidden {
		if m.Norm {
			out = batchNorm(scope.In("norm"), p.Near, out)
		}
		if m.Activation != nil {
			out = m.Activation(out)
		} else {
			before, out = out, relu(out)
		}
	}
	if m.Residual && h.Width() == out.Shape().Dimensions[1] {
		before, out = nil, Add(out, h.Node())
	}
	if p.After != nil {
		before, out = nil, p.After(i, out)
	}
	return out, before
}

// nameLayer, deferred, adds the layer's number and type to a panic's error, and for a custom layer the source line that
// panicked.
func nameLayer(i int, l Layer) {
	r := recover()
	err, ok := r.(error)
	switch {
	case r == nil:
		return
	case !ok:
		panic(r)
	}
	line, pcs := "", make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for more := true; more && line == ""; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case strings.HasSuffix(f.Function, "nmgnn.Model.Step"):
			more = false
		case !strings.HasPrefix(f.Function, "runtime.") && !strings.Contains(f.Function, "github.com/gomlx/") &&
			!strings.HasPrefix(f.Function, "nodemask/nmgnn."):
			line = fmt.Sprintf(", %s:%d", filepath.Base(f.File), f.Line)
		}
	}
	panic(fmt.Errorf("layer %d (%T%s): %w", i, l, line, err))
}

// ReadOut returns the readout's logits [nodes, classes] for h^(1)…h^(k).
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

func checkWidths(all ...int) error {
	if len(all) == 0 || slices.Min(all) < 1 {
		return fmt.Errorf("widths %v: expected at least 1 each", all)
	}
	return nil
}

func checkAttention(heads, width int, dropout float64) error {
	if heads < 0 {
		return fmt.Errorf("%d heads: expected 1 or more; 0 is 1", heads)
	}
	if err := checkWidths(width); err != nil {
		return err
	}
	return hyper.CheckDropRate("dropout", dropout)
}

// relu returns max(x, 0). It uses Where, whose gradient takes one operation; a maximum's gradient takes five. In
// WebAssembly a maximum is faster, because package lanes has loops for the maximum's operations.
func relu(x *Node) *Node {
	if runtime.GOARCH == "wasm" {
		return activation.Relu(x)
	}
	return Where(LessThan(x, ScalarZero(x.Graph(), x.DType())), ZerosLike(x), x) // NaN stays NaN
}

// String returns a line like "Model(2 layers: nmgnn.GIN, nmgnn.GIN; dropout 0.5)".
func (m Model) String() string {
	kinds := make([]string, len(m.Layers))
	for i, layer := range m.Layers {
		kinds[i] = fmt.Sprintf("%T", layer)
	}
	return fmt.Sprintf("Model(%d layers: %s; dropout %v)", len(m.Layers), strings.Join(kinds, ", "), m.Dropout)
}

// Build returns the model that p describes, with the given number of classes. p must pass Check.
func Build(p hyper.Parameters, classes int) Model {
	m := Model{Dropout: p.ModelDropout(), Norm: p.Norm == hyper.NormBoth, Residual: p.Residual,
		ScoresOnly: p.DropoutOn == hyper.DropoutOnScores}
	if p.Readout != "" {
		m.Readout = Readout{Classes: classes, All: p.Readout == hyper.ReadoutAll}
	}
	if hyper.TraitsOf(p.Model).ELU {
		m.Activation = kernels.ELU
	}
	for i := range p.Layers {
		width, heads := p.Hidden, p.Heads
		if i == p.Layers-1 && p.Readout == "" {
			width, heads = classes, 1
		}
		m.Layers = append(m.Layers, layers[p.Model](p, width, heads))
	}
	return m
}

var layers = map[string]maker{}

// A maker returns a layer with the given number of heads; width is the sum of the heads' widths.
type maker func(p hyper.Parameters, width, heads int) Layer

func named(model string, layer maker) struct{} {
	layers[model] = layer
	return struct{}{}
}

// Readout computes logits from representations by linear layers. The zero value means no readout.
type Readout struct {
	Classes int // logits per node; 0: no readout
	// All sums the scores of every representation and of the features, h^(0) (Xu et al. 2019):
	//
	//	logits_v = Σ_{j=0…k} dropout(W_j·h_v^(j) + b_j)
	//
	// Otherwise logits are W·dropout(h_v^(k)) + b, or dropout(W·h_v^(k) + b) if the model's ScoresOnly is set.
	All bool
}

func (r Readout) logits(p Pass, all []*Node, dropout float64, scoresOnly bool) *Node {
	scores := func(name string, h Input) *Node {
		w, b := linearWeights(p.Scope.In("%s", name), h.Graph(), h.Width(), r.Classes)
		return Add(h.Times(w), b)
	}
	if last := Dense(all[len(all)-1]); !r.All && scoresOnly {
		return p.Random.Dropout(scores("readout", last), dropout)
	} else if !r.All {
		return scores("readout", last.Dropout(p.Random, dropout))
	}
	sum := p.Random.Dropout(scores("readout0", p.Features), dropout)
	for j, h := range all {
		sum = Add(sum, p.Random.Dropout(scores(fmt.Sprintf("readout%d", j+1), Dense(h)), dropout))
	}
	return sum
}
