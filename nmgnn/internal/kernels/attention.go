package kernels

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers/activation"
)

// Attention is the input of [Product.Attend], which returns y_v = Σ_u drop(α_vu)·mask_u·h_u over the entries (v, u) of
// each row v, where drop is dropout. In each head, α is the softmax of the scores of row v.
type Attention struct {
	// Scores is [entries+padding, heads]. If Scores is nil, entry (v, u) has the score LeakyReLU(Source_u + Target_v):
	// Slope is LeakyReLU's slope for negative inputs, Source is [columns, heads] and Target is [rows, heads].
	Scores         *Node
	Source, Target *Node
	Slope          float64
	// Values [columns, width] has a row h_u for each column u of the sparse matrix; these rows are summed. Mask
	// [columns, 1] multiplies them and gets no gradient.
	Values, Mask *Node
	// Present [entries+padding, 1] is 1 for entries to use, else 0. nil means that all are used.
	Present *Node
	// Keep [entries+padding, heads] multiplies the softmax α, to apply dropout.
	Keep *Node
	// Bias [1, width], if not nil, is added to the result y.
	Bias *Node
	// Gradients requests gradients towards Scores (or Source and Target), Values and Bias.
	Gradients bool
}

func attendByParts(p Product, a Attention) *Node {
	if bias := a.Bias; bias != nil {
		a.Bias = nil
		return Add(attendByParts(p, a), bias)
	}
	e := a.Scores
	if e == nil {
		e = activation.LeakyReluWith(Add(Sources(p, a.Source, a.Gradients), Targets(p, a.Target, a.Gradients)), a.Slope)
	}
	heard, _ := masked(false, a.Values, a.Mask)
	scores, value := StopGradient(e), StopGradient(heard)
	headCount := e.Shape().Dimensions[1]
	present, scores := Among(p, scores, a.Present)
	shifted := p.noFuse(Sub(scores, p.Spread(p.Highest(scores))))
	q := p.noFuse(Where(present, Exp(shifted), ZerosLike(scores)))
	sum := p.Total(q)
	empty := Equal(sum, ZerosLike(sum))
	inverse := Where(empty, ZerosLike(sum), Inverse(Where(empty, OnesLike(sum), sum)))
	kept := q
	if a.Keep != nil {
		kept = p.noFuse(Mul(q, a.Keep))
	}
	y := perHead(p.Times(value, nil, kept), inverse)
	if !a.Gradients {
		return y
	}
	// The result is y_v = Σ_u kept_vu·h_u / Σ_w q_vw, where q = exp(e) for scores e, and kept is q after dropout. Let
	// d_v be the loss's gradient with respect to y_v, and d'_v = d_v / Σ_w q_vw. Then the loss's gradients are:
	//	with respect to h_u:  Σ_v kept_vu·d'_v
	//	with respect to e_vu: kept_vu·⟨d'_v, h_u⟩ - q_vu·⟨d'_v, y_v⟩
	return WithAdjoints(y, Argument{heard, func(v *Node) *Node { return p.Back(perHead(v, inverse), nil, kept) }},
		Argument{e, func(v *Node) *Node {
			v = p.noFuse(perHead(v, inverse))
			shared := sumHeads(Mul(v, y), headCount)
			return Sub(Mul(kept, p.Agreement(v, value, headCount)), Mul(q, p.Spread(shared)))
		}})
}

// RowSoftmax returns exp(e_vu) / Σ_w exp(e_vw) within each row v of p's matrix, for each column of e [entries+padding,
// heads]. For present, see [Attention].
func RowSoftmax(p Product, e, present *Node, gradients bool) *Node {
	there, e := Among(p, e, present)
	// The maximum only keeps exp in range, so it needs no gradient.
	shifted := Sub(e, StopGradient(p.Spread(p.Highest(e))))
	q := Where(there, Exp(Where(there, shifted, ZerosLike(shifted))), ZerosLike(shifted))
	sum := Total(p, q, gradients)
	sum = Where(GreaterThan(sum, ZerosLike(sum)), sum, OnesLike(sum))
	return Mul(q, Targets(p, Inverse(sum), gradients))
}

// Among returns a copy of e [entries+padding, width] with [Lowest] in rows to ignore, so that no maximum picks them:
// padding, and rows where present [entries+padding, 1] is zero. isUsed [entries+padding, width] is true in rows not
// ignored.
func Among(p Product, e, present *Node) (isUsed, among *Node) {
	g := e.Graph()
	if present == nil {
		present = Valid(p, g)
	}
	isUsed = BroadcastToDims(GreaterThan(present, ZerosLike(present)), e.Shape().Dimensions...)
	return isUsed, Where(isUsed, e, BroadcastToDims(Scalar(g, e.DType(), Lowest), e.Shape().Dimensions...))
}

// HeadProducts returns each head's inner products of a and the rows of x: x [rows, heads·width], a [heads, width] →
// [rows, heads].
func HeadProducts(x, a *Node) *Node {
	heads, width := a.Shape().Dimensions[0], a.Shape().Dimensions[1]
	return ReduceSum(Mul(Reshape(x, -1, heads, width), Reshape(a, 1, heads, width)), -1)
}

func perHead(x, weights *Node) *Node {
	width, n := x.Shape().Dimensions[1], weights.Shape().Dimensions[1]
	if n == 1 {
		return Mul(x, weights)
	}
	rows := x.Shape().Dimensions[0]
	return Reshape(Mul(Reshape(x, rows, n, width/n), Reshape(weights, rows, n, 1)), rows, width)
}

func sumHeads(x *Node, heads int) *Node {
	width := x.Shape().Dimensions[1]
	share := make([][]float32, width)
	for i := range share {
		share[i] = make([]float32, heads)
		share[i][i/(width/heads)] = 1
	}
	return DotGeneral(x, []int{1}, nil, Const(x.Graph(), share), []int{0}, nil)
}
