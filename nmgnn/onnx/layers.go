package onnx

import (
	"fmt"

	"nodemask/nmgnn"
)

// Copies of nmgnn's constants for attention and batch normalisation; tests compare them with the originals.
const (
	leak        = 0.2
	normEpsilon = 1e-5
)

// forward is nmgnn.Model.Forward for inference: features x → logits [nodes, classes].
func (b *builder) forward(m nmgnn.Model, x value) value {
	between := "Relu"
	if m.Activation != nil { // then it is ELU: nmgnn.Build sets no other function
		between = "Elu"
	}
	h := x
	var all []value
	for i, layer := range m.Layers {
		b.scope = fmt.Sprintf("layer%d", i)
		out := b.layer(layer, h)
		if hidden := i < len(m.Layers)-1 || m.Readout.Classes > 0; hidden {
			if m.Norm {
				out = b.norm(out, "norm")
			}
			out = b.elementwise(between, out)
		}
		if m.Residual && h.width == out.width {
			out = b.sum(out, h)
		}
		all, h = append(all, out), out
	}
	b.scope = "readout"
	switch {
	case m.Readout.Classes == 0:
		return h
	case !m.Readout.All:
		return b.scores(h, "readout", m.Readout.Classes)
	}
	sum := b.scores(x, "readout0", m.Readout.Classes)
	for j, h := range all {
		sum = b.sum(sum, b.scores(h, fmt.Sprintf("readout%d", j+1), m.Readout.Classes))
	}
	return sum
}

func (b *builder) scores(h value, scope string, classes int) value {
	b.scope = scope
	return b.plus(b.times(h, "weights", classes), "biases")
}

func (b *builder) layer(layer nmgnn.Layer, h value) value {
	switch l := layer.(type) {
	case nmgnn.GIN:
		return b.gin(l, h)
	case nmgnn.GAT:
		return b.gat(l, h)
	case nmgnn.GATv2:
		return b.gatv2(l, h)
	case nmgnn.SGAT:
		wh := b.times(h, "weights", l.Width)
		sum := b.scatter("add", wh, b.sources(wh))
		return b.plus(b.elementwise("Div", sum, b.degree(true).name), "biases")
	case nmgnn.GCN:
		root := b.elementwise("Sqrt", b.degree(true))
		wh := b.elementwise("Div", b.times(h, "weights", l.Width), root.name)
		return b.plus(b.elementwise("Div", b.scatter("add", wh, b.sources(wh)), root.name), "biases")
	case nmgnn.SAGE:
		neighbours := b.times(h, "weights", l.Width)
		sum := b.scatter("add", b.filled(0, l.Width), b.sources(neighbours))
		mean := b.elementwise("Div", sum, b.elementwise("Max", b.degree(false), b.scalar(1)).name)
		return b.plus(b.sum(b.times(h, "root_weights", l.Width), mean), "biases")
	}
	b.fail("a layer %T: no export is written for it", layer)
	return h
}

func (b *builder) gin(l nmgnn.GIN, h value) value {
	z := b.times(h, "linear0/weights", l.Width[0])
	self := float32(1 + l.Epsilon)
	if l.LearnEpsilon {
		if learned := b.weight("epsilon", 1, 1); b.err == nil {
			self += learned[0]
		}
	}
	root := z
	if self != 1 {
		root = b.elementwise("Mul", z, b.scalar(self))
	}
	z = b.plus(b.scatter("add", root, b.sources(z)), "linear0/biases")
	for i, width := range l.Width[1:] {
		if l.Norm {
			z = b.norm(z, fmt.Sprintf("norm%d", i))
		}
		z = b.times(b.elementwise("Relu", z), fmt.Sprintf("linear%d/weights", i+1), width)
		z = b.plus(z, fmt.Sprintf("linear%d/biases", i+1))
	}
	return z
}

func (b *builder) gat(l nmgnn.GAT, h value) value {
	heads := max(l.Heads, 1)
	wh := b.times(h, "weights", heads*l.Width)
	source, target := b.headProducts(wh, "source", heads), b.headProducts(wh, "target", heads)
	own := b.leaky(b.sum(source, target))
	edges := b.leaky(b.sum(b.sources(source), b.atTargets(target)))
	return b.plus(b.attend(own, edges, wh), "biases")
}

func (b *builder) gatv2(l nmgnn.GATv2, h value) value {
	heads := max(l.Heads, 1)
	source := b.plus(b.times(h, "source_weights", heads*l.Width), "source_biases")
	target := b.plus(b.times(h, "target_weights", heads*l.Width), "target_biases")
	own := b.headProducts(b.leaky(b.sum(source, target)), "attention", heads)
	edges := b.headProducts(b.leaky(b.sum(b.sources(source), b.atTargets(target))), "attention", heads)
	return b.plus(b.attend(own, edges, source), "biases")
}

func (b *builder) leaky(x value) value {
	return value{b.add("LeakyRelu", []string{x.name}, float("alpha", leak)), x.width}
}

// attend sums h over v ∪ N_v, weighted by the softmax of selfScores [nodes, heads] and edgeScores [edges, heads].
// Subtracting the maximum keeps exp in range and the softmax's divisor at least 1.
func (b *builder) attend(selfScores, edgeScores, h value) value {
	top := b.scatter("max", selfScores, edgeScores)
	own := b.elementwise("Exp", b.elementwise("Sub", selfScores, top.name))
	edges := b.elementwise("Exp", b.elementwise("Sub", edgeScores, b.atTargets(top).name))
	total := b.scatter("add", own, edges)
	sum := b.scatter("add", b.perHead("Mul", h, own), b.perHead("Mul", b.sources(h), edges))
	return b.perHead("Div", sum, total)
}

func (b *builder) norm(h value, name string) value {
	inputs := []string{h.name}
	for _, weight := range []string{"gamma", "beta", "running_mean", "running_variance"} {
		inputs = append(inputs, b.vector(name+"/"+weight, h.width))
	}
	return value{b.add("BatchNormalization", inputs, float("epsilon", normEpsilon)), h.width}
}

// rowNormalized divides each row by its sum of absolute values; zero rows stay.
func (b *builder) rowNormalized(x value) value {
	b.scope = "features"
	sum := b.add("ReduceSum", []string{b.add("Abs", []string{x.name}), b.ints(1)}, integer("keepdims", 1))
	empty := b.add("Equal", []string{sum, b.scalar(0)})
	return b.elementwise("Div", x, b.add("Where", []string{empty, b.scalar(1), sum}))
}
