package train

import (
	"fmt"

	"nodemask/internal/memory"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
)

// memory estimates how many bytes the parallel jobs take, rather too low than too high. It returns 0 on a GPU or for a
// custom model.
func (x Experiment) memory(b *backend.Backend, jobs int) float64 {
	if b.ID == "xla:cuda" || x.Own != nil {
		return 0
	}
	size := x.size()
	if b.Plugin == "" {
		return processBytes + float64(jobs)*size.trial(x.Parameters)
	}
	return xlaProcessBytes + float64(jobs)*(xlaClientBytes+size.trial(x.Parameters))
}

func (x Experiment) size() graphSize {
	f := x.Graph.Features
	return graphSize{Nodes: x.Graph.NumNodes(), Edges: len(x.Graph.Edges.Indices), Classes: x.Graph.NumClasses(),
		Features: f.Width, Sparse: f.IsSparse(), Values: len(f.Values)}
}

// Within returns an error if the experiment would take more memory than is free or more than limit bytes. In the latter
// case the error wraps memory.ErrTooLarge.
func (x Experiment) Within(b *backend.Backend, limit int64) error {
	if need := x.memory(b, 1); need > float64(limit) {
		return fmt.Errorf("%d layers of width %d on %d nodes take about %s, %w: expected at most %s",
			x.Parameters.Layers, x.Parameters.Hidden,
			x.Graph.NumNodes(), memory.About(need), memory.ErrTooLarge, memory.Text(limit))
	}
	return x.checkMemory(b, 1)
}

// CheckInference returns an error if one forward pass that keeps all layers' outputs takes more than the free memory.
// It reads only Graph, Own and Parameters.
func (x Experiment) CheckInference(b *backend.Backend) error {
	left, _ := memory.Get()
	return x.inferenceFits(b, left)
}

func (x Experiment) inferenceFits(b *backend.Backend, left memory.Left) error {
	if b.ID == "xla:cuda" || x.Own != nil {
		return nil
	}
	need := x.size().pass(x.Parameters)
	if need <= float64(left.Bytes) {
		return nil
	}
	return fmt.Errorf("what %d layers of width %d compute of %d nodes takes about %s of memory, and %v: "+
		"take a smaller graph, or part of it",
		x.Parameters.Layers, x.Parameters.Hidden, x.Graph.NumNodes(), memory.About(need), left)
}

func (x Experiment) checkMemory(b *backend.Backend, jobs int) error {
	left, _ := memory.Get()
	return x.fits(b, jobs, left)
}

func (x Experiment) fits(b *backend.Backend, jobs int, left memory.Left) error {
	need := x.memory(b, jobs)
	if need <= float64(left.Bytes) {
		return nil
	}
	remedy := "take a smaller hidden width, or fewer layers or features"
	if one := x.memory(b, 1); jobs > 1 && one <= float64(left.Bytes) {
		remedy = fmt.Sprintf("take fewer trials side by side: one takes %s", memory.About(one))
	}
	many, size := "", x.size()
	if jobs > 1 {
		many = fmt.Sprintf(" with %d trials side by side", jobs)
	}
	return fmt.Errorf("%d layers of width %d on %d nodes with %d features and %d classes take about %s of "+
		"memory%s, and %v: %s", x.Parameters.Layers, x.Parameters.Hidden, size.Nodes, size.Features, size.Classes,
		memory.About(need), many, left, remedy)
}

type graphSize struct {
	Nodes, Edges      int // Edges counts an undirected edge twice
	Features, Classes int
	Sparse            bool
	Values            int // number of stored values of sparse features
}

const numberBytes = 4

const (
	processBytes, xlaProcessBytes = 60e6, 130e6 // bytes of a process before training
	xlaClientBytes                = 80e6

	weightCopies = 5 // weights, gradients, Adam's two moments, the best weights
	outputCopies = 5 // arrays per layer in memory: output, gradient, 3 temporaries
	passCopies   = 2 // copies of a layer's output in inference: on device and host
	entryCopies  = 8
	// copies of the logits that training holds in memory
	scoreCopies = 2
)

func (s graphSize) numbers(p hyper.Parameters) (weights, hidden float64) {
	traits, in := hyper.TraitsOf(p.Model), float64(s.Features)
	linear := 1
	if traits.MLP {
		linear = max(p.MLPLayers, 1)
	}
	for i := range p.Layers * linear {
		out := float64(p.Hidden)
		if i == p.Layers*linear-1 && p.Readout == "" {
			out = float64(s.Classes)
		} else {
			hidden += out
		}
		weights, in = weights+float64(traits.Matrices)*in*out, out
	}
	if p.Readout != "" {
		weights += in * float64(s.Classes)
	}
	return weights, hidden
}

// trial estimates the memory, in bytes, that a trial takes in addition to what its process takes before training.
func (s graphSize) trial(p hyper.Parameters) float64 {
	features := 3 * float64(s.Nodes) * float64(s.Features)
	if s.Sparse {
		// A feature takes 2 numbers, its value and its column, and again 2 in the transpose. The factor 2 is a margin
		// for the several graphs that are loaded.
		features = 4 * 2 * float64(s.Values)
	}
	weights, hidden := s.numbers(p)
	outputs := outputCopies*hidden + scoreCopies*float64(s.Classes)
	entries := entryCopies * float64(s.Edges) * float64(max(p.Heads, 1))
	return numberBytes * (weightCopies*weights + float64(s.Nodes)*outputs + entries + features)
}

func (s graphSize) pass(p hyper.Parameters) float64 {
	_, hidden := s.numbers(p)
	return numberBytes * passCopies * float64(s.Nodes) * (hidden + float64(s.Classes))
}
