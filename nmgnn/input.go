package nmgnn

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/nmgnn/internal/kernels"
)

// Input is a layer's input [nodes, Width]: features, dense or sparse, or another layer's output.
type Input interface {
	// Graph returns the computation graph that the input belongs to.
	Graph() *Graph
	// Width returns the number of columns.
	Width() int
	// Times returns the matrix product of the input and w: [nodes, out], for w of shape [Width, out].
	Times(w *Node) *Node
	// Dropout returns the input after [Random.Dropout]; for a nil r, the input itself.
	Dropout(r *Random, rate float64) Input
	// Node returns the input as a dense tensor of shape [graph nodes, Width].
	Node() *Node
}

// Dense returns h [nodes, width] as an [Input].
func Dense(h *Node) Input { return dense{node: h} }

// seeing returns h with the promise that only rows where seen [nodes, 1] is nonzero will be read. If seen is nil, all
// rows may be read.
func seeing(h Input, seen *Node) Input {
	switch h := h.(type) {
	case dense:
		h.seen = seen
		return h
	case sparseInput:
		features := *h.sparseFeatures
		features.product = kernels.Seeing(features.product, seen)
		h.sparseFeatures = &features
		return h
	}
	return h
}

type dense struct {
	node       *Node            // the input before dropout that is yet to be applied
	transposed *Node            // the input's transpose, or nil
	positions  *model.Variable  // for each input entry, index of the random number for dropout; nil means 0, 1, …
	large      bool             // true if the input is too large to be copied
	dropped    *kernels.Dropped // the input with pending dropout, applied when used; nil if no dropout is pending
	seen       *Node            // [nodes, 1]: nonzero for input rows that the computation uses; nil if all are used
	before     *Node            // the tensor whose ReLU is the input; nil if unknown
}

func (d dense) Graph() *Graph { return d.node.Graph() }
func (d dense) Width() int    { return d.node.Shape().Dimensions[1] }

func (d dense) Node() *Node {
	if d.dropped != nil {
		return d.dropped.Node()
	}
	return d.node
}

func (d dense) Times(w *Node) *Node {
	if d.dropped != nil {
		return d.dropped.Times(w)
	}
	product := func(a, b *Node) *Node { return DotGeneral(a, []int{1}, nil, b, []int{0}, nil) }
	adjoint := func(v *Node) *Node { return product(d.transposed, v) }
	if d.large {
		adjoint = func(v *Node) *Node { return kernels.DenseAdjoint(d.node, v, d.seen) }
	} else if d.transposed == nil {
		return kernels.Dense(d.node, w, d.seen)
	}
	return kernels.Linear(w, d.node.Shape().Dimensions[0], func(w *Node) *Node { return product(d.node, w) }, adjoint)
}

func (d dense) Dropout(random *Random, rate float64) Input {
	r := random.generator()
	if r == nil || rate == 0 {
		return d
	}
	if d.large && d.dropped == nil {
		dropped := r.DropoutOf(d.node, rate, d.seen)
		d.dropped = &dropped
		return d
	}
	if d.before != nil {
		if dropped := r.DropoutReLU(d.before, rate, d.seen); dropped != nil {
			return dense{node: dropped, seen: d.seen}
		}
	}
	if d.positions == nil && d.transposed == nil {
		d.node, d.dropped = r.DropoutSeen(d.Node(), rate, d.seen), nil
		return d
	}
	keep := r.Next().Keep(kernels.Positions(d.node.Graph(), d.positions, d.node.Shape().Dimensions), rate)
	d.node, d.dropped = Mul(d.Node(), keep), nil
	if d.transposed != nil {
		d.transposed = Mul(d.transposed, TransposeAllAxes(keep, 1, 0))
	}
	return d
}

type sparseFeatures struct {
	product kernels.Product
	width   int
	values  *model.Variable // [slots, 1]: a slot holds an entry's value or, as padding, 0
}

type sparseInput struct {
	*sparseFeatures
	graph         *Graph
	train         bool
	afterDropouts *Node          // feature values after two or more dropouts; nil after fewer
	dropped       kernels.Stream // the random stream of the first dropout; unused if rate is 0
	rate          float64
}

func (s sparseInput) Graph() *Graph { return s.graph }
func (s sparseInput) Width() int    { return s.width }

func (s sparseInput) Times(w *Node) *Node {
	if s.rate > 0 {
		return s.product.SumDropped(w, s.dropped, s.rate, s.train)
	}
	return kernels.Sum(s.product, w, nil, s.all(), s.train)
}

func (s sparseInput) all() *Node {
	if s.afterDropouts != nil {
		return s.afterDropouts
	}
	values := s.values.NodeValue(s.graph)
	if s.rate > 0 {
		return s.product.DropEntries(s.dropped, values, 1, s.rate)
	}
	return values
}

func (s sparseInput) Dropout(random *Random, rate float64) Input {
	r := random.generator()
	if r == nil || rate == 0 {
		return s
	}
	if s.afterDropouts == nil && s.rate == 0 {
		s.dropped, s.rate = r.Next(), rate
		return s
	}
	s.afterDropouts, s.rate = s.product.DropEntries(r.Next(), s.all(), 1, rate), 0
	return s
}

func (s sparseInput) Node() *Node {
	return s.Times(DiagonalWithValue(ScalarOne(s.graph, dtypes.Float32), s.width))
}

// Random draws random numbers inside a computation. Equal keys give equal numbers on every backend. A nil Random, used
// outside training, draws nothing.
type Random struct{ draws *kernels.Random }

// Random returns a generator for one run. The key, of shape [2] and type uint32, must differ between runs.
func (d *Loaded) Random(key *Node) *Random { return newRandom(key) }

func newRandom(key *Node) *Random {
	return &Random{kernels.NewRandom(key, kernels.PlanFor(key.Graph().Backend(), 0).Kernel)}
}

func (r *Random) generator() *kernels.Random {
	if r == nil {
		return nil
	}
	return r.draws
}

// Dropout zeroes each entry of x (any shape) with probability rate and divides kept entries by 1-rate; a nil generator
// returns x.
func (r *Random) Dropout(x *Node, rate float64) *Node { return r.generator().Dropout(x, rate) }

// Kept returns 1 for each row with probability 1-rate, else 0: [rows, 1]. The generator must not be nil.
func (r *Random) Kept(rows int, rate float64) *Node {
	next := r.draws.Next()
	return next.Kept(kernels.Positions(next.Graph(), nil, []int{rows, 1}), rate)
}
