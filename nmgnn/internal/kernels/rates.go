package kernels

import (
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Rates keeps drop rates in variables, so that the rates can change without recompiling. Each variable has one element
// per rate. A dropout compiled with rate p reads the element that held p at compilation, whatever rate it holds now; if
// several held p, the first of them.
type Rates struct {
	compiled       []float64
	bounds, scales *model.Variable // results of valuesOf; both nil without drop rates
}

// NewRates puts rates into variables in the scope path. Rate 0 means no dropout.
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

// Replace sets new rates, in the order given to [NewRates]. It returns [ErrNoFit] if rates need another program: if
// their number differs, a rate changes to or from 0, or two rates that were equal at compilation now differ.
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

// Use makes dropout in computation g read its rates from r. If r is nil, rates are compiled in.
func (r *Rates) Use(g *Graph) {
	if r != nil {
		model.SetGraphParam(g, ratesParam, r)
	}
}

const ratesParam = "/nodemask_rates"

func readRate(g *Graph, rate float64) (bound, scale *Node) {
	used, _ := model.GetGraphParam(g, ratesParam)
	if r, ok := used.(*Rates); ok {
		if i := slices.Index(r.compiled, rate); i >= 0 {
			of := func(v *model.Variable) *Node { return Reshape(Slice(v.NodeValue(g), AxisElem(i))) }
			return of(r.bounds), of(r.scales)
		}
	}
	bounds, scales := valuesOf([]float64{rate})
	return Const(g, bounds[0]), Const(g, scales[0])
}

// valuesOf returns, for each rate, the bound below which a hash means a drop, and the scale 1/(1-rate).
func valuesOf(rates []float64) (bounds []uint32, scales []float32) {
	for _, rate := range rates {
		bounds = append(bounds, uint32(math.Round(rate*(1<<32-1))))
		scales = append(scales, float32(1/(1-rate)))
	}
	return bounds, scales
}
