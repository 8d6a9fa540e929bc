package infer

import "math"

// Representation is a layer's result for all nodes: row v is h_v.
type Representation struct {
	Rows, Width int
	Values      []float32 // row-major
}

// Row returns h_v, sharing memory.
func (r Representation) Row(v int) []float32 { return r.Values[v*r.Width : (v+1)*r.Width] }

// Classes returns the column of each row's maximum: the predicted class for logits or probabilities.
func (r Representation) Classes() []int32 {
	classes := make([]int32, r.Rows)
	for v := range classes {
		row := r.Row(v)
		for c, x := range row {
			if x > row[classes[v]] {
				classes[v] = int32(c)
			}
		}
	}
	return classes
}

// Softmax returns each row's probabilities.
func (r Representation) Softmax() Representation {
	p := Representation{Rows: r.Rows, Width: r.Width, Values: make([]float32, len(r.Values))}
	for v := range r.Rows {
		from, to := r.Row(v), p.Row(v)
		highest, sum := math.Inf(-1), 0.0
		for _, x := range from {
			highest = max(highest, float64(x))
		}
		for _, x := range from {
			sum += math.Exp(float64(x) - highest)
		}
		for c, x := range from {
			to[c] = float32(math.Exp(float64(x)-highest) / sum)
		}
	}
	return p
}
