package kernels

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"nodemask/nmgnn/internal/kernels/fused"
)

// Random makes random numbers in a computation, in streams numbered from 0. Element i of a stream is a hash of a key,
// the stream's number and i, so no random state is kept. Unlike with GoMLX's generator, a seed gives the same dropout
// on every backend.
type Random struct {
	key     *Node // [2] uint32, new every epoch
	streams uint32
	fused   bool
}

// NewRandom returns a generator with key [2] uint32. Its numbers are the same with every kernel.
func NewRandom(key *Node, kernel Kernel) *Random {
	return &Random{key: key, fused: kernel == FusedKernel}
}

// Dropout zeroes each entry of x with probability rate and divides the others by 1-rate. A nil generator (outside
// training) returns x.
func (r *Random) Dropout(x *Node, rate float64) *Node { return r.DropoutSeen(x, rate, nil) }

// DropoutSeen is [Random.Dropout] for a caller that ignores the result's rows where seen [rows, 1] is zero: these rows
// may become zeros. A nil seen means that all rows are used.
func (r *Random) DropoutSeen(x *Node, rate float64, seen *Node) *Node {
	if r == nil || rate == 0 {
		return x
	}
	if r.fused && x.Rank() == 2 && fused.Available(x.Graph()) {
		return r.dropped(x, rate, seen, nil)
	}
	return Mul(x, r.Next().Keep(Positions(x.Graph(), nil, x.Shape().Dimensions), rate))
}

// DropoutReLU is [Random.DropoutSeen] of max(x, 0), in one loop. It returns nil if nothing is dropped, or if the
// shortcuts of [Lean] are not allowed.
func (r *Random) DropoutReLU(x *Node, rate float64, seen *Node) *Node {
	is, _ := lean(x.Graph())
	if r == nil || rate == 0 || !r.fused || !is || x.Rank() != 2 {
		return nil
	}
	return r.dropped(x, rate, seen, StopGradient(x))
}

func (r *Random) dropped(x *Node, rate float64, seen, gate *Node) *Node {
	s, d := r.Next(), x.Shape().Dimensions
	drop := func(x *Node) *Node { return s.drop(x, d[0], d[1], rate, seen, gate) }
	return Linear(x, d[0], drop, drop)
}

// Next returns a new stream, whose element i is computed without the elements before. So a matrix and its transpose,
// which list the same entries in different orders, can give each entry the same random number.
func (r *Random) Next() Stream {
	s := Stream{key: r.key, number: r.streams}
	r.streams++
	return s
}

// Stream is a sequence of random numbers that a [Random] makes. Element i is for position i, such as element i of a
// matrix or edge i of a graph.
type Stream struct {
	key    *Node
	number uint32
}

// Graph returns the computation that the stream belongs to.
func (s Stream) Graph() *Graph { return s.key.Graph() }

func (s Stream) half(i int) *Node {
	key := Reshape(Slice(s.key, AxisElem(i)))
	return mix(BitwiseXor(key, Const(s.key.Graph(), s.number*0x9e3779b9+uint32(i))))
}

// drop multiplies each element of x by [Stream.Keep] of the element's index, counted row by row. A nil x means all
// ones. Elements where gate is below 0 become 0.
func (s Stream) drop(x *Node, rows, columns int, rate float64, seen, gate *Node) *Node {
	draw, scale := s.dropped(rate)
	return fused.Drop(draw, scale, x, rows, columns, seen, gate)
}

func (s Stream) dropped(rate float64) (draw, scale *Node) {
	bound, scale := readRate(s.key.Graph(), rate)
	parts := []*Node{s.half(0), s.half(1), bound}
	for i := range parts {
		parts[i] = Reshape(parts[i], 1, 1)
	}
	return Concatenate(parts, 1), Reshape(scale, 1, 1)
}

// Keep returns 0 for each position (uint32, any shape) with probability rate, else 1/(1-rate).
func (s Stream) Keep(positions *Node, rate float64) *Node {
	bound, scale := readRate(positions.Graph(), rate)
	return s.kept(positions, bound, scale)
}

// Kept returns 0 for each position (uint32, any shape) with probability rate, else 1.
func (s Stream) Kept(positions *Node, rate float64) *Node {
	bound, _ := readRate(positions.Graph(), rate)
	return s.kept(positions, bound, Const(positions.Graph(), float32(1)))
}

func (s Stream) kept(positions, bound, value *Node) *Node {
	g, shape := positions.Graph(), shapes.Make(dtypes.Float32, positions.Shape().Dimensions...)
	// Two rounds of hashing, each with half the key, keep streams uncorrelated.
	bits := mix(Add(mix(BitwiseXor(positions, s.half(0))), s.half(1)))
	dropped := LessThan(bits, bound)
	return Where(dropped, BroadcastToShape(Const(g, float32(0)), shape), BroadcastToShape(value, shape))
}

// mix is Chris Wellons' hash "lowbias32", a bijection.
func mix(x *Node) *Node {
	g := x.Graph()
	x = BitwiseXor(x, BitwiseShiftRightLogicalScalar(x, uint32(16)))
	x = Mul(x, Const(g, uint32(0x7feb352d)))
	x = BitwiseXor(x, BitwiseShiftRightLogicalScalar(x, uint32(15)))
	x = Mul(x, Const(g, uint32(0x846ca68b)))
	return BitwiseXor(x, BitwiseShiftRightLogicalScalar(x, uint32(16)))
}
