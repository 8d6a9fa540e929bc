package learn

import (
	"math"

	"nodemask/nmgnn/hyper"
)

// Size is the size of a graph or a batch, for estimates in bytes. They err low for whole graphs, which are refused if
// too large, and high for batches, whose number depends on them.
type Size struct {
	Nodes, Edges      int // entries of the rows
	Features, Classes int
	Sparse            bool // features
	Values            int  // numbers in sparse features
}

const numberBytes = 4

// For whole graphs: measured on Cora with hidden layers of 64 to 4096, and on 15,000 nodes in 5,000 classes; estimates
// were 0.6 to 1.0 of the peak.
const (
	ProcessBytes, XLAProcessBytes = 60e6, 130e6 // before training, on the pure-Go backend and with XLA
	XLAClientBytes                = 80e6        // per XLA client

	weightCopies   = 5 // weights, gradients, Adam's two moments, the best weights
	outputCopies   = 5 // a layer's output, its gradient, and temporaries
	passCopies     = 2 // a layer's output, on device and host
	entryCopies    = 8
	scoreCopies    = 4 // of the logits, for the loss
	fewScoreCopies = 2 // the same with XLA if the train graph is a subset
	theoremCopies  = 8 // of a hidden layer: a star of 300,000 nodes took 1.8 GB, estimated as 1.4 GB
)

// hidden is per node, without logits.
func (s Size) numbers(p hyper.Parameters) (weights, hidden float64) {
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

// Weights returns the weights' bytes in training.
func (s Size) Weights(p hyper.Parameters) float64 {
	weights, _ := s.numbers(p)
	return numberBytes * weightCopies * weights
}

// Whole returns the bytes of one trial on the whole graph beyond its process; few: XLA trains on a subset.
func (s Size) Whole(p hyper.Parameters, few bool) float64 {
	features := 3 * float64(s.Nodes) * float64(s.Features)
	if s.Sparse {
		features = 4 * 2 * float64(s.Values) // columns and values, also transposed, for several graphs
	}
	scores := float64(scoreCopies)
	if few {
		scores = fewScoreCopies
	}
	_, hidden := s.numbers(p)
	outputs := outputCopies*hidden + scores*float64(s.Classes)
	entries := entryCopies * float64(s.Edges) * float64(max(p.Heads, 1))
	return s.Weights(p) + numberBytes*(float64(s.Nodes)*outputs+entries+features)
}

// Pass returns the bytes of one pass over the graph that keeps all layers' outputs.
func (s Size) Pass(p hyper.Parameters) float64 {
	_, hidden := s.numbers(p)
	return numberBytes * passCopies * float64(s.Nodes) * (hidden + float64(s.Classes)*scoreCopies/outputCopies)
}

// Theorem returns the bytes of passes over a graph and a tree with this many nodes in total.
func Theorem(nodes float64, features int, p hyper.Parameters) float64 {
	return nodes * numberBytes * float64(2*features+theoremCopies*(p.Layers-1)*p.Hidden)
}

// For batches: measured with GIN on reddit-like at several scales, rounded up. docs/PERFORMANCE.md compares estimates
// with measurements.
const (
	ProgramBytes = 100 << 20 // of a compiled program and what the allocator keeps
	PlaceBytes   = 64        // per node of the whole graph: place, cluster, mask, …

	edgeBytes   = 20    // per edge: column in both directions, on the device and while cutting out a batch
	headBytes   = 16    // per edge: attention weights, dropout and gradients
	valueBytes  = 40    // the same per number of sparse features
	hiddenBytes = 4 * 4 // per number of a node's layer: forward, backward, gathered
	nodeBytes   = 96    // a node's remaining data in a batch
)

// Batch returns a batch's bytes; dropped limits the bytes of dense features that dropout makes at once.
func (s Size) Batch(p hyper.Parameters, dropped float64) int64 {
	traits := hyper.TraitsOf(p.Model)
	edges, edge := float64(s.Edges), float64(edgeBytes)
	if traits.WithSelf { // v ∪ N_v is a separate pattern
		edges *= 2
	}
	if traits.Heads || !traits.Attention {
		edge += headBytes * float64(p.Heads)
	}
	hidden := float64(p.Hidden * max(p.MLPLayers, 1) * max(p.Layers, 1))
	bytes := edges*edge + float64(s.Values)*valueBytes + float64(s.Nodes)*(nodeBytes+hidden*hiddenBytes)
	if bytes += s.dense(); p.Dropout > 0 {
		bytes += min(s.dense(), dropped)
	}
	return int64(math.Ceil(bytes))
}

func (s Size) dense() float64 {
	if s.Sparse {
		return 0
	}
	return numberBytes * float64(s.Nodes) * float64(s.Features)
}
