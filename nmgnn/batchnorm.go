package nmgnn

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels"
)

// PyTorch's defaults for BatchNorm1d.
const (
	normMomentum = 0.1
	normEpsilon  = 1e-5
)

// batchNorm normalises each column of h [nodes, width] → [nodes, width] (Ioffe and Szegedy 2015), as PyTorch's
// BatchNorm1d does:
//
//	y = γ·(h - mean) / √(variance + 10⁻⁵) + β
//
// In training, the mean and the variance are those of all n rows, including masked nodes; this variance divides by n.
// The running mean and variance move a tenth of the way towards the batch's, where the batch's variance divides by
// max(n-1, 1). They start at 0 and 1, are saved with the model and are used outside training. γ starts at 1, β at 0;
// both are trained.
func batchNorm(scope *model.Scope, near Neighbours, h *Node) *Node {
	g, width := h.Graph(), h.Shape().Dimensions[1]
	gamma, beta := gomlx.Make(scope, g, "gamma", 1, 0, 1, width).NodeValue(g), ZeroWeights(scope, g, "beta", 1, width)
	runningMean := gomlx.Make(scope, g, "running_mean", 0, 0, 1, width).SetTrainable(false)
	runningVariance := gomlx.Make(scope, g, "running_variance", 1, 0, 1, width).SetTrainable(false)
	if !near.train {
		scale := Mul(gamma, inverseDeviation(runningVariance.NodeValue(g)))
		return Add(Mul(h, scale), Sub(beta, Mul(runningMean.NodeValue(g), scale)))
	}
	// If SetOwn was called, the mean and the variance are over the rows that it marks. Other rows become β and get no
	// gradient.
	own, n := func(x *Node) *Node { return x }, float64(h.Shape().Dimensions[0])
	mean := func(sums *Node) *Node { return MulScalar(sums, 1/n) }
	unbiased := func(sums *Node) *Node { return MulScalar(sums, 1/max(n-1, 1)) }
	if near.own != nil {
		rows := StopGradient(near.own.NodeValue(g))
		count := columnSums(rows)
		own = func(x *Node) *Node { return Mul(x, rows) }
		mean = func(sums *Node) *Node { return Div(sums, count) }
		unbiased = func(sums *Node) *Node { return Div(sums, Max(SubScalar(count, 1), OnesLike(count))) }
	}
	x := StopGradient(h)
	m := mean(columnSums(own(x)))
	centred := own(Sub(x, m))
	squares := columnSums(Square(centred))
	inverse := inverseDeviation(mean(squares))
	move(runningMean, m)
	move(runningVariance, unbiased(squares))

	// The output is y = γ·z + β, where z = (h - mean) / √(variance + ε). With v = ∂loss/∂y, and ∂β, ∂γ, ∂h short for
	// ∂loss/∂β, ∂loss/∂γ, ∂loss/∂h:
	//	∂β = Σ v,   ∂γ = Σ v·z,   ∂h = γ/√(variance + ε) · (v - mean(v) - z·mean(v·z))
	z, scale := Mul(centred, inverse), StopGradient(Mul(gamma, inverse))
	type sums struct{ v, along *Node }
	of := kernels.Remember(func(v *Node) sums { return sums{columnSums(own(v)), columnSums(Mul(v, z))} })
	return kernels.WithAdjoints(Add(Mul(z, gamma), beta),
		kernels.Argument{X: h, Adjoint: func(v *Node) *Node {
			return Mul(own(scale), Sub(v, mean(Add(of(v).v, Mul(z, of(v).along)))))
		}},
		kernels.Argument{X: gamma, Adjoint: func(v *Node) *Node { return of(v).along }},
		kernels.Argument{X: beta, Adjoint: func(v *Node) *Node { return of(v).v }})
}

func columnSums(x *Node) *Node { return ReduceAndKeep(x, ReduceSum, 0) }

func inverseDeviation(variance *Node) *Node { return Rsqrt(AddScalar(variance, normEpsilon)) }

func move(running *model.Variable, seen *Node) {
	seen = StopGradient(seen)
	old := running.NodeValue(seen.Graph())
	running.SetNodeValue(Add(MulScalar(old, 1-normMomentum), MulScalar(seen, normMomentum)))
}
