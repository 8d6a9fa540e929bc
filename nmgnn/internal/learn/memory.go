package learn

import (
	"math"

	"nodemask/nmgnn/hyper"
)

// Size is a graph, or a batch of one, as estimates of memory see it. They are of bytes, and rather too low than too
// high for a whole graph, which is refused where they do not fit, but too high for batches, whose number follows from
// them.
type Size struct {
	Nodes, Edges      int // entries of the rows
	Features, Classes int
	Sparse            bool // features
	Values            int  // numbers of sparse ones
}

const numberBytes = 4

// Of whole graphs: as measured on Cora with hidden layers of 64 to 4096, and on a graph of 15,000 nodes in 5,000
// classes, where estimates were between 0.6 and 1.0 of the peak.
const (
	ProcessBytes, XLAProcessBytes = 60e6, 130e6 // before it trains, on the pure-Go backend and with XLA
	XLAClientBytes                = 80e6        // of each client of XLA's

	weightCopies   = 5 // weights, their gradients, Adam's two moments and the best ones so far
	outputCopies   = 5 // what a layer returns, its gradient, and in between
	passCopies     = 2 // what a layer returns: on the device, and here
	entryCopies    = 8
	scoreCopies    = 4 // of the logits, which a loss is computed from
	fewScoreCopies = 2 // the same with XLA where the train graph is but a part
	theoremCopies  = 8 // of a hidden layer: a star of 300,000 nodes took 1.8 GB, of which this counts 1.4 GB
)

// numbers returns how many weights the model has, and how many numbers its layers compute for each node, logits apart.
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

// Weights is what the weights take while they are trained.
func (s Size) Weights(p hyper.Parameters) float64 {
	weights, _ := s.numbers(p)
	return numberBytes * weightCopies * weights
}

// Whole is what one trial on the whole graph takes beyond its process; few says that XLA trains on a part of it.
func (s Size) Whole(p hyper.Parameters, few bool) float64 {
	features := 3 * float64(s.Nodes) * float64(s.Features)
	if s.Sparse {
		features = 4 * 2 * float64(s.Values) // columns and values, the other way round too, for several graphs
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

// Pass is what one pass over the graph takes, of which all that layers compute is kept.
func (s Size) Pass(p hyper.Parameters) float64 {
	_, hidden := s.numbers(p)
	return numberBytes * passCopies * float64(s.Nodes) * (hidden + float64(s.Classes)*scoreCopies/outputCopies)
}

// Theorem is what passes over a graph and a tree take, with as many nodes together.
func Theorem(nodes float64, features int, p hyper.Parameters) float64 {
	return nodes * numberBytes * float64(2*features+theoremCopies*(p.Layers-1)*p.Hidden)
}

// Of batches: measured with GIN on reddit-like at several scales, and rounded up. docs/PERFORMANCE.md has what was
// estimated beside what was taken.
const (
	ProgramBytes = 100 << 20 // compiling one, and what the allocator keeps of that
	PlaceBytes   = 64        // what is kept of a node of the whole graph: its place, its cluster, its mask and so on

	edgeBytes   = 20     // its column in both directions, on the device and while a batch is cut out
	headBytes   = 16     // of an edge: attention weights, dropout and gradients
	valueBytes  = 40     // the same as of an edge, for a number of sparse features
	hiddenBytes = 4 * 4  // a number of a layer of a node: forward, backward, and what is gathered
	nodeBytes   = 96     // all else that a batch has of a node
	keptNode    = 28     // of a batch that is kept: offsets and degrees
	keptEdge    = 8      // columns in both directions
	keptSelf    = 32 - 8 // the same where v ∪ N_v is another pattern
	keptValue   = 20
)

// Batch is what a batch takes; dropped is how many bytes dropout makes of dense features at a time, at most.
func (s Size) Batch(p hyper.Parameters, dropped float64) int64 {
	traits := hyper.TraitsOf(p.Model)
	edges, edge := float64(s.Edges), float64(edgeBytes)
	if traits.WithSelf { // v ∪ N_v is another pattern
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

// Kept is what is kept of a batch from epoch to epoch, if it is.
func (s Size) Kept(p hyper.Parameters) int64 {
	edge := float64(keptEdge)
	if hyper.TraitsOf(p.Model).WithSelf {
		edge += keptSelf
	}
	return int64(float64(s.Edges)*edge + float64(s.Values)*keptValue + float64(s.Nodes)*keptNode + s.dense())
}

// dense is what features take that are not sparse.
func (s Size) dense() float64 {
	if s.Sparse {
		return 0
	}
	return numberBytes * float64(s.Nodes) * float64(s.Features)
}
