package hyper

import (
	"fmt"
	"math"
)

// KeepRate is the paper's "node masking rate" p, the probability of keeping a node in an epoch, in (0, 1]. 1, or the
// zero value, masks nothing. (Dropout rates are the opposite.)
type KeepRate float64

// explicitZero marks a caller's 0, since the zero value means 1.
const explicitZero KeepRate = math.SmallestNonzeroFloat64

// NewKeepRate returns a user's keep rate, or an error unless p is in (0, 1] and 1/p is finite in float32. 0 is an
// error: with all nodes masked a model learns nothing from neighbours.
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
