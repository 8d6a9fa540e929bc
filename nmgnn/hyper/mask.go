package hyper

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Mask is an epoch's mask: true for masked nodes, which contribute to no neighbour but still have representations (eqs.
// 5 and 6). nil masks no node.
type Mask []bool

// Draw returns an epoch's mask for this many nodes. Only the nodes in maskable may be masked; nil means all. Draw takes
// one random number for each of these nodes. So, from generators in the same state, a lower keep rate masks the same
// nodes and more.
func (p KeepRate) Draw(r *rand.Rand, nodes int, maskable []int32) Mask {
	m, keep := make(Mask, nodes), p.Probability()
	if maskable == nil {
		for v := range m {
			m[v] = r.Float64() >= keep
		}
	}
	for _, v := range maskable {
		m[v] = r.Float64() >= keep
	}
	return m
}

// DrawDelta draws δ [nodes] for a training epoch: the factor that multiplies what each node sends to others. If
// MaskOver is MaskTrain, only the nodes in train can be masked, else all nodes. With Rescale, the factor of a node that
// could have been masked but was kept is 1/KeepRate instead of 1, so that sums keep their expectation.
func (p Parameters) DrawDelta(r *rand.Rand, nodes int, train []int32) []float32 {
	if p.MaskOver != MaskTrain {
		train = nil
	}
	delta := p.KeepRate.Draw(r, nodes, train).Delta()
	if !p.Rescale || !p.KeepRate.Active() {
		return delta
	}
	kept := float32(1 / p.KeepRate.Probability())
	if train == nil {
		for v := range delta {
			delta[v] *= kept
		}
	}
	for _, v := range train {
		delta[v] *= kept
	}
	return delta
}

// Delta returns δ [nodes]: 0 for masked nodes, else 1.
func (m Mask) Delta() []float32 {
	delta := make([]float32, len(m))
	for v, masked := range m {
		// Masks are random, so a branch would often be mispredicted. Holding 1 in a variable makes the compiler emit
		// a conditional move instead.
		one := math.Float32bits(1)
		if masked {
			one = 0
		}
		delta[v] = math.Float32frombits(one)
	}
	return delta
}

// Masked returns the masked nodes, ascending.
func (m Mask) Masked() []int32 {
	nodes := []int32{}
	for v, masked := range m {
		if masked {
			nodes = append(nodes, int32(v))
		}
	}
	return nodes
}

// KeepRate is the paper's "node masking rate" p, the probability of keeping a node in an epoch, in (0, 1]. 1, or the
// zero value, masks nothing. (Dropout rates are the opposite.)
type KeepRate float64

// explicitZero stands for a keep rate of 0 that a caller asked for, because the value 0 means 1.
const explicitZero KeepRate = math.SmallestNonzeroFloat64

// NewKeepRate returns a user's keep rate, or an error unless p is in (0, 1] and 1/p is finite in float32.
func NewKeepRate(p float64) (KeepRate, error) {
	switch {
	case !(p > 0 && p <= 1):
		return 0, fmt.Errorf("keep rate %v: expected a probability above 0 and up to 1, where 1 keeps every node and 0 would "+
			"mask every one", p)
	case math.IsInf(float64(float32(1/p)), 1):
		return 0, fmt.Errorf("keep rate %v: expected at least 3e-39: float32 does not hold what divides by less, as rescaling "+
			"does", p)
	}
	return KeepRate(p), nil
}

// Probability returns the probability of keeping a node.
func (p KeepRate) Probability() float64 {
	if p == 0 {
		return 1
	}
	return float64(p)
}

// Active reports whether any node can be masked.
func (p KeepRate) Active() bool { return p.Probability() != 1 }

// Check returns an error unless [NewKeepRate] accepts [KeepRate.Probability].
func (p KeepRate) Check() error {
	if p == explicitZero {
		_, err := NewKeepRate(0)
		return err
	}
	_, err := NewKeepRate(p.Probability())
	return err
}
