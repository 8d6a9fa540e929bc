package nmgnn

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
)

// Kernel names a way of multiplying a sparse matrix with a dense one: sums over neighbours, and features by weights. It
// is chosen once, when a model is built for a backend and a graph; layers do not know which one runs.
type Kernel string

const (
	// ScatterKernel gathers one row an entry and adds each to its result, in order: the fastest on XLA.
	ScatterKernel Kernel = "scatter"
	// BucketKernel groups rows of about equal length, gathers a rectangle for each group and sums it along one axis: for
	// the pure-Go backend, whose scatter is slow.
	BucketKernel Kernel = "buckets"
)

// Kernels lists all kernels.
func Kernels() []Kernel { return []Kernel{ScatterKernel, BucketKernel} }

// sparse is a sparse matrix [rows, columns] on the host.
type sparse struct {
	rows, columns int
	offsets       []int64   // [rows+1]
	targets       []int32   // column of each entry
	values        []float32 // nil: all ones
	positions     []int32   // where each entry stands in the matrix this one was transposed from; nil: at its own place
}

func (s sparse) entries() int { return len(s.targets) }

// transpose keeps for each entry where it came from, so that a draw over the entries is the same in both directions.
func (s sparse) transpose() sparse {
	t := sparse{rows: s.columns, columns: s.rows, offsets: make([]int64, s.columns+1),
		targets: make([]int32, s.entries()), positions: make([]int32, s.entries())}
	if s.values != nil {
		t.values = make([]float32, s.entries())
	}
	for _, c := range s.targets {
		t.offsets[c+1]++
	}
	for c := range s.columns {
		t.offsets[c+1] += t.offsets[c]
	}
	next := slices.Clone(t.offsets)
	for r := range s.rows {
		for i := s.offsets[r]; i < s.offsets[r+1]; i++ {
			at := next[s.targets[i]]
			next[s.targets[i]]++
			t.targets[at] = int32(r)
			t.positions[at] = int32(i)
			if s.values != nil {
				t.values[at] = s.values[i]
			}
		}
	}
	return t
}

// product multiplies by one sparse matrix inside a computation.
type product interface {
	// times is S·h: h [columns, width] → [rows, width]. With drop, entries are dropped as it draws.
	times(h *Node, drop *entryDropout) *Node
}

// entryDropout drops stored entries of a sparse matrix: zeros stay zeros whether dropped or not.
type entryDropout struct {
	stream stream
	rate   float64
}

// newProduct puts what the kernel needs of s into variables below path, which are not trained.
func newProduct(store *model.Store, path string, s sparse, plan Plan) (product, error) {
	v := variables{store: store, path: path}
	switch plan.Kernel {
	case ScatterKernel:
		return newScatterProduct(&v, s), v.err
	case BucketKernel:
		return newBucketProduct(&v, s, plan.WideGather), v.err
	}
	return nil, fmt.Errorf("nmgnn: no kernel %q: known are %v", plan.Kernel, Kernels())
}

// variables makes constants of a model: data lives in variables, not in the program, so that it is neither folded at
// compile time nor copied at every call.
type variables struct {
	store *model.Store
	path  string
	err   error // the first one
}

func (v *variables) add(name string, t *tensors.Tensor) *model.Variable {
	variable, err := v.store.CreateVariable(model.JoinPath(v.path, name), t)
	if err != nil {
		if v.err == nil {
			v.err = err
		}
		return nil
	}
	return variable.SetTrainable(false)
}

func (v *variables) ints(name string, data []int32, dimensions ...int) *model.Variable {
	return v.add(name, tensors.FromFlatDataAndDimensions(data, dimensions...))
}

func (v *variables) floats(name string, data []float32, dimensions ...int) *model.Variable {
	return v.add(name, tensors.FromFlatDataAndDimensions(data, dimensions...))
}

// scatterProduct holds the entries in order of their rows.
type scatterProduct struct {
	rows              int
	row, column       *model.Variable // [entries, 1]
	values, positions *model.Variable // [entries, 1], or nil
}

func newScatterProduct(v *variables, s sparse) *scatterProduct {
	n := s.entries()
	p := &scatterProduct{rows: s.rows}
	if n == 0 {
		return p
	}
	rows := make([]int32, 0, n)
	for r := range s.rows {
		for range s.offsets[r+1] - s.offsets[r] {
			rows = append(rows, int32(r))
		}
	}
	p.row = v.ints("row", rows, n, 1)
	p.column = v.ints("column", s.targets, n, 1)
	if s.values != nil {
		p.values = v.floats("value", s.values, n, 1)
	}
	if s.positions != nil {
		p.positions = v.ints("position", s.positions, n, 1)
	}
	return p
}

func (p *scatterProduct) times(h *Node, drop *entryDropout) *Node {
	g := h.Graph()
	zeros := Zeros(g, shapes.Make(h.DType(), p.rows, h.Shape().Dimensions[1]))
	if p.row == nil {
		return zeros
	}
	gathered := Gather(h, p.column.NodeValue(g))
	if p.values != nil {
		gathered = Mul(gathered, p.values.NodeValue(g))
	}
	if drop != nil {
		gathered = Mul(gathered, drop.stream.keep(positionsOf(g, p.positions, p.row.Shape().Dimensions), drop.rate))
	}
	return ScatterSum(zeros, p.row.NodeValue(g), gathered, true, false)
}

// positionsOf is the positions of the entries as uint32 [dimensions…]: those stored, or 0, 1, ….
func positionsOf(g *Graph, stored *model.Variable, dimensions []int) *Node {
	if stored != nil {
		return ConvertDType(stored.NodeValue(g), dtypes.Uint32)
	}
	size := 1
	for _, d := range dimensions {
		size *= d
	}
	return Reshape(Iota(g, shapes.Make(dtypes.Uint32, size), 0), dimensions...)
}

// bucketProduct holds rows in groups: a group of m rows with up to w entries each is a rectangle [m, w] of columns,
// padded with a column of zeros that is appended to h.
type bucketProduct struct {
	rows, columns int
	wide          bool // gather two numbers at a time
	buckets       []bucket
	place         *model.Variable // [rows, 1]: where each row's sum stands in the groups, one after the other
}

type bucket struct {
	rows, width       int
	column            *model.Variable // [rows·width, 1]
	positions, values *model.Variable // [rows, width]; values nil: all ones
}

// gather picks rows of h. The pure-Go backend moves one element at a time, whatever its size.
func (p *bucketProduct) gather(h, rows *Node) *Node {
	height, width := h.Shape().Dimensions[0], h.Shape().Dimensions[1]
	if !p.wide || width%2 != 0 {
		return Gather(h, rows)
	}
	pairs := Bitcast(Reshape(h, height, width/2, 2), dtypes.Float64)
	return Reshape(Bitcast(Gather(pairs, rows), dtypes.Float32), -1, width)
}

// Bucket widths grow by steps of at most an eighth, so that at most a ninth of a group is padding.
func bucketWidth(degree int) int {
	width := 1
	for width < degree {
		width += max(1, width/8)
	}
	return width
}

func newBucketProduct(v *variables, s sparse, wide bool) *bucketProduct {
	p := &bucketProduct{rows: s.rows, columns: s.columns, wide: wide}
	if s.entries() == 0 {
		return p
	}
	grouped := map[int][]int32{}
	for r := range s.rows {
		if d := int(s.offsets[r+1] - s.offsets[r]); d > 0 {
			grouped[bucketWidth(d)] = append(grouped[bucketWidth(d)], int32(r))
		}
	}
	widths := make([]int, 0, len(grouped))
	for w := range grouped {
		widths = append(widths, w)
	}
	slices.Sort(widths)
	place := make([]int32, s.rows)
	for r := range place {
		place[r] = -1
	}
	placed := int32(0)
	for _, w := range widths {
		members := grouped[w]
		column := make([]int32, 0, len(members)*w)
		values := make([]float32, 0, len(members)*w)
		positions := make([]int32, 0, len(members)*w)
		for _, r := range members {
			place[r] = placed
			placed++
			for j := range int64(w) {
				i := s.offsets[r] + j
				if i >= s.offsets[r+1] {
					column = append(column, int32(s.columns))
					values = append(values, 0)
					positions = append(positions, 0)
					continue
				}
				column = append(column, s.targets[i])
				if s.values != nil {
					values = append(values, s.values[i])
				}
				if s.positions != nil {
					positions = append(positions, s.positions[i])
				} else {
					positions = append(positions, int32(i))
				}
			}
		}
		b := bucket{rows: len(members), width: w}
		b.column = v.ints(fmt.Sprintf("column%d", w), column, len(column), 1)
		b.positions = v.ints(fmt.Sprintf("position%d", w), positions, b.rows, w)
		if s.values != nil {
			b.values = v.floats(fmt.Sprintf("value%d", w), values, b.rows, w)
		}
		p.buckets = append(p.buckets, b)
	}
	for r := range place {
		if place[r] < 0 { // no entries: the row of zeros behind all groups
			place[r] = placed
		}
	}
	p.place = v.ints("place", place, s.rows, 1)
	return p
}

func (p *bucketProduct) times(h *Node, drop *entryDropout) *Node {
	g := h.Graph()
	width := h.Shape().Dimensions[1]
	if len(p.buckets) == 0 {
		return Zeros(g, shapes.Make(h.DType(), p.rows, width))
	}
	h = padRows(h, p.columns+1)
	sums := make([]*Node, 0, len(p.buckets)+1)
	for _, b := range p.buckets {
		rectangle := Reshape(p.gather(h, b.column.NodeValue(g)), b.rows, b.width, width)
		if b.values == nil && drop == nil {
			sums = append(sums, ReduceSum(rectangle, 1))
			continue
		}
		var weights *Node
		if b.values != nil {
			weights = b.values.NodeValue(g)
		} else {
			weights = Ones(g, shapes.Make(h.DType(), b.rows, b.width))
		}
		if drop != nil {
			weights = Mul(weights, drop.stream.keep(ConvertDType(b.positions.NodeValue(g), dtypes.Uint32), drop.rate))
		}
		sums = append(sums, DotGeneral(weights, []int{1}, []int{0}, rectangle, []int{1}, []int{0}))
	}
	sums = append(sums, Zeros(g, shapes.Make(h.DType(), 1, width)))
	return p.gather(Concatenate(sums, 0), p.place.NodeValue(g))
}
