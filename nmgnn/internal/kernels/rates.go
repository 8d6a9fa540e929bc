package kernels

import (
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Rates are drop rates that a computation reads from variables: others can be put in their place without compiling
// again. A draw finds its variable by the rate that it was compiled with.
type Rates struct {
	compiled       []float64
	bounds, scales *model.Variable // [rates]; nil: there are no rates
}

// NewRates makes variables for rates below a path of the store. A rate of 0 is that of something that draws nothing.
func NewRates(store *model.Store, path string, rates []float64) (*Rates, error) {
	r := &Rates{compiled: slices.Clone(rates)}
	if len(rates) == 0 {
		return r, nil
	}
	into := NewConstants(store, path)
	bounds, scales := valuesOf(rates)
	r.bounds, r.scales = add(into, "bound", bounds, len(rates)), into.Floats("scale", scales, len(rates))
	return r, into.Err()
}

// Replace puts other rates in the place of these, in order. It returns [ErrNoFit] if the computation is another one:
// for another number of rates, where a rate of 0 was not or no longer is 0, and where rates that were equal when it was
// compiled differ.
func (r *Rates) Replace(rates []float64) error {
	if len(rates) != len(r.compiled) {
		return ErrNoFit
	}
	for i, was := range r.compiled {
		if (was == 0) != (rates[i] == 0) || rates[slices.Index(r.compiled, was)] != rates[i] {
			return ErrNoFit
		}
	}
	if r.bounds == nil {
		return nil
	}
	bounds, scales := valuesOf(rates)
	if err := overwrite(r.bounds, bounds); err != nil {
		return err
	}
	return overwrite(r.scales, scales)
}

// in returns what a draw at a rate compares hashes with and what it multiplies by what it keeps: both [].
func (r *Rates) in(g *Graph, rate float64) (bound, scale *Node) {
	if r != nil {
		if i := slices.Index(r.compiled, rate); i >= 0 {
			of := func(v *model.Variable) *Node { return Reshape(Slice(v.NodeValue(g), AxisElem(i))) }
			return of(r.bounds), of(r.scales)
		}
	}
	bounds, scales := valuesOf([]float64{rate})
	return Const(g, bounds[0]), Const(g, scales[0])
}

// valuesOf returns, for each rate, what a hash must not be below if its position is to be kept, and 1/(1-rate).
func valuesOf(rates []float64) (bounds []uint32, scales []float32) {
	for _, rate := range rates {
		bounds = append(bounds, uint32(math.Round(rate*(1<<32-1))))
		scales = append(scales, float32(1/(1-rate)))
	}
	return bounds, scales
}
