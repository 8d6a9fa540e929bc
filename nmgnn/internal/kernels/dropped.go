package kernels

import (
	. "github.com/gomlx/gomlx/core/graph"

	"nodemask/nmgnn/internal/kernels/fused"
)

// DroppedBytes limits the bytes of each block of rows that a [Dropped] computes at once.
const DroppedBytes = 32 << 20

// Dropped is a large dense matrix under dropout. Package fused applies dropout and multiplies one block of rows at a
// time, without copying the matrix.
type Dropped struct {
	x      *Node // [rows, width]; gets no gradient
	seen   *Node
	stream Stream
	rate   float64
	block  int
	fused  bool
}

// DropoutOf postpones [Random.DropoutSeen] of x: [Dropped.Times] applies the dropout to one block of rows at a time. r
// must not be nil.
func (r *Random) DropoutOf(x *Node, rate float64, seen *Node) Dropped {
	return Dropped{x: StopGradient(x), seen: seen, stream: r.Next(), rate: rate, block: DroppedBytes / 4, fused: r.fused &&
		x.Rank() == 2 && fused.Available(x.Graph())}
}

// Node returns the whole matrix after dropout.
func (d Dropped) Node() *Node {
	if !d.fused {
		return Mul(d.x, d.stream.Keep(Positions(d.x.Graph(), nil, d.x.Shape().Dimensions), d.rate))
	}
	return d.stream.drop(d.x, d.rows(), d.width(), d.rate, d.seen, nil)
}

func (d Dropped) rows() int  { return d.x.Shape().Dimensions[0] }
func (d Dropped) width() int { return d.x.Shape().Dimensions[1] }

// Times returns the product [rows, out] of the matrix and w [width, out].
func (d Dropped) Times(w *Node) *Node {
	return Linear(w, d.rows(),
		func(w *Node) *Node {
			var products []*Node
			d.blocks(func(x *Node, _, _ int) *Node {
				products = append(products, DotGeneral(x, []int{1}, nil, w, []int{0}, nil))
				return products[len(products)-1]
			}, w)
			if len(products) == 1 {
				return products[0]
			}
			return Concatenate(products, 0)
		},
		func(v *Node) *Node {
			var sum *Node
			d.blocks(func(x *Node, first, end int) *Node {
				seen := d.seen
				if seen != nil {
					seen = SliceAxis(seen, 0, AxisRange(first, end))
				}
				product := DenseAdjoint(x, SliceAxis(v, 0, AxisRange(first, end)), seen)
				if sum == nil {
					sum = product
				} else {
					sum = Add(sum, product)
				}
				return sum
			}, v)
			return sum
		})
}

// blocks calls multiply for one block of rows at a time. To save memory, a block is computed only after multiply's
// result for the previous block.
func (d Dropped) blocks(multiply func(x *Node, first, end int) *Node, awaited *Node) {
	rows := max(1, d.block/d.width())
	if !d.fused || rows >= d.rows() {
		multiply(d.Node(), 0, d.rows())
		return
	}
	draw, scale := d.stream.dropped(d.rate)
	for first := 0; first < d.rows(); first += rows {
		end := min(first+rows, d.rows())
		awaited = multiply(fused.DropRows(draw, scale, d.x, first, end-first, d.seen, awaited), first, end)
	}
}
