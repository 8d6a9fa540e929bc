package rows

import "math"

// leak is the slope of the LeakyReLU in attention scores below zero, and normEpsilon what is added to variances: nmgnn's.
const (
	leak        = 0.2
	normEpsilon = 1e-5
)

// plain is shared by layers that add up what neighbours send as it is.
type plain struct{}

func (plain) attends() bool                    { return false }
func (plain) term(from Sent, _ []float32) Part { return Part{Values: from.Message} }
func (plain) own(Sent) Part                    { return Part{} }

// gin is MLP((1+ε)·h_v + Σ h_u); the first product comes before the sum.
type gin struct {
	plain
	linears []linear
	norms   []norm // nil: none
	self    float32
}

func (l gin) send(h []float32, _ int) Sent {
	z := l.linears[0].times(h)
	root := append([]float32(nil), z...)
	for i := range root {
		root[i] *= l.self
	}
	return Sent{Message: z, Root: Root{Term: root}}
}

func (l gin) finish(root Root, sum Part) []float32 {
	z := root.Term
	add(z, sum.Values)
	add(z, l.linears[0].biases)
	for i, next := range l.linears[1:] {
		if l.norms != nil {
			l.norms[i].apply(z)
		}
		relu(z)
		z = next.of(z)
	}
	return z
}

// sage is W_root·h_v + W·mean of h_u + b.
type sage struct {
	plain
	near, root linear
}

func (l sage) send(h []float32, _ int) Sent {
	return Sent{Message: l.near.times(h), Root: Root{Term: l.root.times(h)}}
}

func (l sage) finish(root Root, sum Part) []float32 {
	z, degree := root.Term, float32(max(root.Degree, 1))
	for i, x := range sum.Values {
		z[i] += x / degree
	}
	add(z, l.near.biases)
	return z
}

// sgat is the mean of W·h_u over v∪N_v, plus b.
type sgat struct {
	plain
	linear
}

func (l sgat) send(h []float32, _ int) Sent { return Sent{Message: l.times(h)} }
func (l sgat) own(s Sent) Part              { return Part{Values: s.Message} }

func (l sgat) finish(root Root, sum Part) []float32 {
	z, count := sum.Values, float32(root.Degree+1)
	for i := range z {
		z[i] = z[i]/count + l.biases[i]
	}
	return z
}

// gcn is Σ W·h_u / √(d_u·d_v) + b over v∪N_v, d_v = |v∪N_v|.
type gcn struct {
	plain
	linear
}

func scale(degree int) float32 { return float32(1 / math.Sqrt(float64(degree+1))) }

func (l gcn) send(h []float32, degree int) Sent {
	z, s := l.times(h), scale(degree)
	for i := range z {
		z[i] *= s
	}
	return Sent{Message: z}
}

func (l gcn) own(s Sent) Part { return Part{Values: s.Message} }

func (l gcn) finish(root Root, sum Part) []float32 {
	z, s := sum.Values, scale(root.Degree)
	for i := range z {
		z[i] = z[i]*s + l.biases[i]
	}
	return z
}

// attention is shared by the layers that weigh neighbours: Σ α_vu·message_u + b over v∪N_v.
type attention struct {
	heads  int
	biases []float32
}

func (attention) attends() bool { return true }

// single is the part of one neighbour with its scores.
func (a attention) single(scores, message []float32) Part {
	weight := make([]float32, len(scores))
	for i := range weight {
		weight[i] = 1
	}
	return Part{Values: message, Top: scores, Weight: weight}
}

func (a attention) finish(_ Root, sum Part) []float32 {
	z, width := sum.Values, len(sum.Values)/a.heads
	for i := range z {
		z[i] = z[i]/sum.Weight[i/width] + a.biases[i]
	}
	return z
}

// gat scores LeakyReLU(source·W·h_u + target·W·h_v).
type gat struct {
	attention
	linear
	source, target []float32 // [heads, width/heads]
}

func (l gat) send(h []float32, _ int) Sent {
	z := l.times(h)
	return Sent{Message: z, Source: perHead(z, l.source, l.heads), Target: perHead(z, l.target, l.heads)}
}

func (l gat) term(from Sent, target []float32) Part {
	scores := make([]float32, l.heads)
	for i := range scores {
		scores[i] = leaky(from.Source[i] + target[i])
	}
	return l.single(scores, from.Message)
}

func (l gat) own(s Sent) Part                      { return l.term(s, s.Target) }
func (l gat) finish(root Root, sum Part) []float32 { return l.attention.finish(root, sum) }

// gatv2 scores a·LeakyReLU(s_u + t_v).
type gatv2 struct {
	attention
	source, target linear
	weights        []float32 // [heads, width/heads]
}

func (l gatv2) send(h []float32, _ int) Sent {
	return Sent{Message: l.source.of(h), Target: l.target.of(h)}
}

func (l gatv2) term(from Sent, target []float32) Part {
	pair := make([]float32, len(from.Message))
	for i := range pair {
		pair[i] = leaky(from.Message[i] + target[i])
	}
	return l.single(perHead(pair, l.weights, l.heads), from.Message)
}

func (l gatv2) own(s Sent) Part { return l.term(s, s.Target) }

// perHead returns the products of each head's share of z with its share of w.
func perHead(z, w []float32, heads int) []float32 {
	all, width := make([]float32, heads), len(z)/heads
	for i, x := range z {
		all[i/width] += x * w[i]
	}
	return all
}

func leaky(x float32) float32 {
	if x < 0 {
		return leak * x
	}
	return x
}

func relu(z []float32) {
	for i, x := range z {
		z[i] = max(x, 0)
	}
}

func elu(z []float32) {
	for i, x := range z {
		if x < 0 {
			z[i] = float32(math.Expm1(float64(x)))
		}
	}
}

func add(z, more []float32) {
	for i, x := range more {
		z[i] += x
	}
}

// linear is h·W + b.
type linear struct {
	weights []float32 // [in, out]
	biases  []float32 // [out]
}

// times returns h·W. Features are mostly zero, and hidden rows often.
func (l linear) times(h []float32) []float32 {
	out := len(l.weights) / len(h)
	z := make([]float32, out)
	for i, x := range h {
		if x == 0 {
			continue
		}
		for j, w := range l.weights[i*out : (i+1)*out] {
			z[j] += x * w
		}
	}
	return z
}

// of returns h·W + b.
func (l linear) of(h []float32) []float32 {
	z := l.times(h)
	add(z, l.biases)
	return z
}

// norm is batch normalisation by its running statistics, as a factor and a shift.
type norm struct{ scale, shift []float32 }

func (n norm) apply(z []float32) {
	for i := range z {
		z[i] = z[i]*n.scale[i] + n.shift[i]
	}
}
