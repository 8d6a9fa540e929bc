package hyper

import (
	"fmt"
	"math"
)

// KeepRate is the paper's "node masking rate" p: the probability that a node is kept in an epoch, above 0 and up to 1.
// At 1 every node is kept and node masking is inactive; the zero value stands for 1. (Dropout rates elsewhere are the
// probability of the opposite.)
type KeepRate float64

// explicitZero is the keep rate of a caller who passed 0, where the zero value stands for 1.
const explicitZero KeepRate = math.SmallestNonzeroFloat64

// NewKeepRate returns the keep rate that a user asked for. It returns an error unless p is a probability above 0, and
// large enough for float32 to hold 1/p. Unlike the zero value, a p of 0 is an error: a model whose nodes are all masked
// learns nothing from neighbours.
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

// Probability returns the probability that a node is kept.
func (p KeepRate) Probability() float64 {
	if p == 0 {
		return 1
	}
	return float64(p)
}

// Active reports whether any node can be masked.
func (p KeepRate) Active() bool { return p.Probability() != 1 }

// Check returns an error unless [NewKeepRate] takes [KeepRate.Probability].
func (p KeepRate) Check() error {
	if p == explicitZero {
		_, err := NewKeepRate(0)
		return err
	}
	_, err := NewKeepRate(p.Probability())
	return err
}
