// Package rows computes the layers of a saved model a node at a time, in float32: what a node sends to its neighbours, what
// adds up of what they send, and what the node makes of that. It knows no graph. Whoever has one brings the parts together, in
// any order and grouping: [Part.Add] is associative and commutative, but for rounding.
//
// For each layer, with N_v of a graph without self-loops:
//
//	sent_v  = Model.Send(layer, row_v)
//	part_v  = Model.Own(layer, sent_v) + Σ_{u ∈ N_v} Model.Term(layer, sent_u, sent_v.Target)
//	row'_v  = Model.Finish(layer, sent_v.Root, part_v)
//
// Attention's part is a softmax that is not divided yet: the greatest score so far, the sum of e^(score-greatest) and the rows
// weighed by it. So a node of many neighbours needs no more memory than one of few.
package rows

import (
	"fmt"
	"math"

	"nodemask/datasets"
	"nodemask/nmgnn/cached"
)

// Row is what a node has between two layers.
type Row struct {
	Degree int       // |N_v|
	H      []float32 // h_v
	Scores []float32 // of a readout so far
}

// Sent is what a layer makes of a node's own row alone.
type Sent struct {
	Message []float32 // what its neighbours take
	Source  []float32 // GAT: its score as a neighbour, for each head
	Target  []float32 // GAT, GATv2: what scores of its neighbours depend on
	Root    Root
}

// Root is what a node keeps for itself until its part is complete.
type Root struct {
	Degree int
	Term   []float32 // added to the sum over neighbours; nil if there is none
	H      []float32 // of the layer's input, added to its output; nil without a residual connection
	Scores []float32
}

// Part is some of a sum over neighbours. The zero value is the sum of nothing.
type Part struct {
	Values []float32 // [width]
	Top    []float32 // attention: for each head, the greatest score
	Weight []float32 // and the sum of e^(score-Top)
}

// Add returns the sum of both parts. It may change p, and keeps nothing of q.
func (p Part) Add(q Part) Part {
	switch {
	case len(q.Values) == 0:
		return p
	case len(p.Values) == 0:
		return Part{Values: append([]float32(nil), q.Values...), Top: append([]float32(nil), q.Top...), Weight: append([]float32(nil), q.Weight...)}
	case len(p.Top) == 0:
		for i, x := range q.Values {
			p.Values[i] += x
		}
		return p
	}
	width := len(p.Values) / len(p.Top)
	for head := range p.Top {
		top := max(p.Top[head], q.Top[head])
		a, b := exp(p.Top[head]-top), exp(q.Top[head]-top)
		p.Top[head], p.Weight[head] = top, a*p.Weight[head]+b*q.Weight[head]
		for i := head * width; i < (head+1)*width; i++ {
			p.Values[i] = a*p.Values[i] + b*q.Values[i]
		}
	}
	return p
}

func exp(x float32) float32 {
	if x == 0 {
		return 1
	}
	return float32(math.Exp(float64(x)))
}

// layer is one layer of a model. term's target is nil where attends is false.
type layer interface {
	attends() bool
	send(h []float32, degree int) Sent
	term(from Sent, target []float32) Part
	own(s Sent) Part // nil for a layer whose sum leaves v out
	finish(root Root, sum Part) []float32
}

// Model is a saved model, ready to compute.
type Model struct {
	Classes  []string
	Features int

	layers    []layer
	widths    []int // of the layers' inputs and, last, of the last one's output
	norms     []norm
	activate  func([]float32)
	normalize bool
	residual  bool
	readout   []linear // empty: none; one: of the last layer's output; else of the features and every layer's output
}

// New returns the model, or an error that names the weights which are missing or of other dimensions than the settings say.
func New(m *cached.Model) (*Model, error) {
	if err := m.Settings.Check(); err != nil {
		return nil, fmt.Errorf("rows: settings: %w", err)
	}
	w := newWeights(m.Weights)
	r := w.model(m)
	if w.err != nil {
		return nil, fmt.Errorf("rows: %w", w.err)
	}
	return r, nil
}

// Layers returns how many there are.
func (m *Model) Layers() int { return len(m.layers) }

// Attends reports whether a layer's terms depend on the node that takes them, so that [Model.Term] needs its Target.
func (m *Model) Attends(layer int) bool { return m.layers[layer].attends() }

// First returns the row that the first layer reads, of a node's features as a data set has them. It keeps the slice, and changes it.
func (m *Model) First(features []float32) (Row, error) {
	if len(features) != m.Features {
		return Row{}, fmt.Errorf("%d features: expected %d, as the model was trained with", len(features), m.Features)
	}
	if m.normalize {
		datasets.NormalizeRow(features)
	}
	return Row{H: features}, nil
}

// Send returns what a layer makes of a node's row. It may keep the row's slices.
func (m *Model) Send(layer int, r Row) (Sent, error) {
	if len(r.H) != m.widths[layer] {
		return Sent{}, fmt.Errorf("layer %d: a row of %d numbers: expected %d", layer+1, len(r.H), m.widths[layer])
	}
	s := m.layers[layer].send(r.H, r.Degree)
	s.Root.Degree, s.Root.Scores = r.Degree, r.Scores
	if layer == 0 && len(m.readout) > 1 {
		s.Root.Scores = m.readout[0].of(r.H)
	}
	if m.residual && m.widths[layer] == m.widths[layer+1] {
		s.Root.H = r.H
	}
	return s, nil
}

// Own returns a node's own part.
func (m *Model) Own(layer int, s Sent) Part { return m.layers[layer].own(s) }

// Term returns what a node adds to the sum of a neighbour whose Target is given, where the layer attends.
func (m *Model) Term(layer int, from Sent, target []float32) Part {
	return m.layers[layer].term(from, target)
}

// Finish returns a node's row behind a layer, of the complete sum. It may change the slices of both.
func (m *Model) Finish(layer int, root Root, sum Part) Row {
	h := m.layers[layer].finish(root, sum)
	if layer < len(m.layers)-1 || len(m.readout) > 0 {
		if m.norms != nil {
			m.norms[layer].apply(h)
		}
		m.activate(h)
	}
	for i, x := range root.H {
		h[i] += x
	}
	r := Row{Degree: root.Degree, H: h, Scores: root.Scores}
	switch last := layer == len(m.layers)-1; {
	case len(m.readout) > 1:
		add(r.Scores, m.readout[layer+1].of(h))
	case len(m.readout) == 1 && last:
		r.Scores = m.readout[0].of(h)
	}
	return r
}

// Logits returns the classes' scores in a row behind the last layer.
func (m *Model) Logits(r Row) []float32 {
	if len(m.readout) > 0 {
		return r.Scores
	}
	return r.H
}

// Softmax returns the class of the greatest score, and its probability.
func Softmax(logits []float32) (class int, probability float32) {
	for i, x := range logits {
		if x > logits[class] {
			class = i
		}
	}
	var sum float64
	for _, x := range logits {
		sum += math.Exp(float64(x) - float64(logits[class]))
	}
	return class, float32(1 / sum)
}
