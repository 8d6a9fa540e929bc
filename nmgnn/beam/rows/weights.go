package rows

import (
	"fmt"
	"math"
	"slices"

	"nodemask/nmgnn"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/infer"
)

// weights finds a model's weights by what docs/FORMATS.md calls them. What goes wrong first stays in err.
type weights struct {
	all   map[string]infer.Weight
	scope string
	err   error
}

func newWeights(all []infer.Weight) *weights {
	w := &weights{all: make(map[string]infer.Weight, len(all))}
	for _, one := range all {
		w.all[one.Path] = one
	}
	return w
}

// get returns a weight of the scope in hand; of the wrong dimensions, zeros in its place.
func (w *weights) get(name string, dims ...int) []float32 {
	path := "/" + infer.ModelScope + "/" + w.scope + name
	size := 1
	for _, d := range dims {
		size *= d
	}
	found, is := w.all[path]
	if is && slices.Equal(found.Dimensions, dims) && len(found.Values) == size {
		return found.Values
	}
	if w.err == nil {
		w.err = fmt.Errorf("weights %s: %d numbers of dimensions %v: expected %v by the model's settings: train the model again", path, len(found.Values), found.Dimensions, dims)
	}
	return nil
}

// linear is a layer of weights below a name.
func (w *weights) linear(name string, in, out int) linear {
	return linear{w.get(name+"weights", in, out), w.get(name+"biases", 1, out)}
}

// norm is batch normalisation of weights below a name.
func (w *weights) norm(name string, width int) norm {
	gamma, beta := w.get(name+"/gamma", 1, width), w.get(name+"/beta", 1, width)
	mean, variance := w.get(name+"/running_mean", 1, width), w.get(name+"/running_variance", 1, width)
	n := norm{make([]float32, width), make([]float32, width)}
	if w.err != nil {
		return n
	}
	for i := range n.scale {
		if variance[i] < 0 {
			w.err = fmt.Errorf("weights %s%s/running_variance: number %d is %v: expected a variance from 0 up", w.scope, name, i, variance[i])
		}
		n.scale[i] = gamma[i] / float32(math.Sqrt(float64(variance[i]+normEpsilon)))
		n.shift[i] = beta[i] - mean[i]*n.scale[i]
	}
	return n
}

// model puts the model together that nmgnn.Build makes of the settings.
func (w *weights) model(m *cached.Model) *Model {
	network := m.Network()
	r := &Model{Classes: m.Classes, Features: m.Features, widths: []int{m.Features}, activate: relu, normalize: network.NormalizeFeatures, residual: network.Residual}
	if network.Activation != nil { // nmgnn.Build knows no other
		r.activate = elu
	}
	for i, of := range network.Layers {
		in := r.widths[i]
		w.scope = fmt.Sprintf("layer%d/", i)
		l, out := w.layer(of, in)
		r.layers, r.widths = append(r.layers, l), append(r.widths, out)
		if network.Norm && (i < len(network.Layers)-1 || network.Readout.Classes > 0) {
			r.norms = append(r.norms, w.norm("norm", out))
		}
	}
	classes := network.Readout.Classes
	if classes == 0 {
		return r
	}
	if w.scope = "readout/"; !network.Readout.All {
		r.readout = []linear{w.linear("", r.widths[len(r.widths)-1], classes)}
		return r
	}
	for i, width := range r.widths {
		w.scope = fmt.Sprintf("readout%d/", i)
		r.readout = append(r.readout, w.linear("", width, classes))
	}
	return r
}

// layer is one that reads rows of a width, and the width of its own.
func (w *weights) layer(of nmgnn.Layer, in int) (layer, int) {
	switch l := of.(type) {
	case nmgnn.GIN:
		g := gin{self: float32(1 + l.Epsilon)}
		if l.LearnEpsilon {
			if learned := w.get("epsilon", 1, 1); learned != nil {
				g.self += learned[0]
			}
		}
		for i, out := range l.Width {
			g.linears = append(g.linears, w.linear(fmt.Sprintf("linear%d/", i), in, out))
			if l.Norm && i < len(l.Width)-1 {
				g.norms = append(g.norms, w.norm(fmt.Sprintf("norm%d", i), out))
			}
			in = out
		}
		return g, in
	case nmgnn.GAT:
		heads := max(l.Heads, 1)
		out := heads * l.Width
		return gat{w.attention(heads, out), linear{weights: w.get("weights", in, out)}, w.get("source", heads, l.Width), w.get("target", heads, l.Width)}, out
	case nmgnn.GATv2:
		heads := max(l.Heads, 1)
		out := heads * l.Width
		return gatv2{w.attention(heads, out), linear{w.get("source_weights", in, out), w.get("source_biases", 1, out)},
			linear{w.get("target_weights", in, out), w.get("target_biases", 1, out)}, w.get("attention", heads, l.Width)}, out
	case nmgnn.SGAT:
		return sgat{linear: w.linear("", in, l.Width)}, l.Width
	case nmgnn.GCN:
		return gcn{linear: w.linear("", in, l.Width)}, l.Width
	case nmgnn.SAGE:
		biases := w.get("biases", 1, l.Width)
		return sage{near: linear{w.get("weights", in, l.Width), biases}, root: linear{weights: w.get("root_weights", in, l.Width)}}, l.Width
	}
	if w.err == nil {
		w.err = fmt.Errorf("a layer %T: it is not written for rows", of)
	}
	return nil, 0
}

func (w *weights) attention(heads, out int) attention {
	return attention{heads, w.get("biases", 1, out)}
}
