package nmgnn

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels"
)

// Neighbours computes sums, means and the like over N_v, the neighbours of each node v, inside a computation.
//
// Tensors [entries, width] have a row for each pair of a node v and its neighbour u ∈ N_v, and padding rows, which all
// methods ignore. Heads take equal parts of the width, in order. Arguments named mask [nodes, 1] hold δ: 0 for masked
// nodes, else 1 or a rescaling factor. A mask gets no gradient; a nil mask means all ones.
type Neighbours struct {
	*adjacency
	product kernels.Product // like adjacency.product, but may skip result rows where Neighbours.seen is zero
	seen    *Node           // [nodes, 1]: zero for result rows that nothing reads; nil if all rows are read
	train   bool
	random  *kernels.Random // nil if there is no dropout
	drop    *kernels.Stream // draws the edges that a regulariser drops; may be nil
	rate    float64         // probability of dropping an edge
	kept    **Node          // [entries, 1]: 0 for entries of dropped edges, else 1
	mask    *Node           // set by MaskOthers
}

// adjacency holds a graph's neighbours in variables, shared by all computations.
type adjacency struct {
	store   *model.Store
	path    string
	options kernels.Options
	matrix  csr.Matrix

	product kernels.Product
	self    *adjacency      // the same graph with a self-loop at each node; made on first use
	isSelf  bool            // true if each node v is in N_v
	degrees *model.Variable // |N_v| [nodes, 1]; if nil, |N_v| is counted from the adjacency matrix
	own     *model.Variable // [nodes, 1]: 1 for rows that SetOwn marks; nil if all rows count as marked
	// readsAll means that leaving out masked neighbours may change results. Sum and Mean do not set readsAll.
	readsAll bool
}

func newAdjacency(store *model.Store, path string, m csr.Matrix, o kernels.Options) (*adjacency, error) {
	p, err := kernels.New(store, path, m, o)
	return &adjacency{store: store, path: path, options: o, matrix: m, product: p}, err
}

func (a *adjacency) set(v **model.Variable, name string, numbers []float32) error {
	if *v != nil {
		return gomlx.Error((*v).SetValue(tensors.FromFlatDataAndDimensions(numbers, len(numbers), 1)))
	}
	into := kernels.NewConstants(a.store, a.path)
	*v = into.Floats(name, numbers, len(numbers), 1)
	return into.Err()
}

func perEntry(of func(v, u int32) float32) func(m csr.Matrix) []float32 {
	return func(m csr.Matrix) []float32 {
		numbers := make([]float32, m.NumEntries())
		for i, v := range m.RowIndices() {
			numbers[i] = of(v, m.Indices[i])
		}
		return numbers
	}
}

func times(keep, x *Node) *Node {
	if keep == nil {
		return x
	}
	return Mul(keep, x)
}

func (a *adjacency) replace(m csr.Matrix, gradients bool) error {
	if err := a.product.Replace(m, gradients); err != nil {
		return err
	}
	a.matrix = m
	if a.self != nil {
		return a.self.replace(m.WithDiagonal(), gradients)
	}
	return nil
}

// NumNodes returns the number of nodes.
func (n Neighbours) NumNodes() int { return n.product.Rows() }

// WithSelf adds each node v to its neighbours: {v} ∪ N_v.
func (n Neighbours) WithSelf() Neighbours {
	if n.self == nil {
		o := n.options
		if o.Slots > 0 {
			o.Slots += n.matrix.Rows
		}
		self, err := newAdjacency(n.store, n.path+"_and_self", n.matrix.WithDiagonal(), o)
		if err != nil {
			panic(err)
		}
		self.isSelf, self.degrees, self.own = true, n.degrees, n.own
		n.adjacency.self = self
	}
	n.adjacency, n.kept = n.self, new(*Node)
	return n.seeing(n.seen)
}

func (n Neighbours) seeing(seen *Node) Neighbours {
	n.product, n.seen = kernels.Seeing(n.adjacency.product, seen), seen
	return n
}

func (n Neighbours) reach(seen, mask *Node) *Node { return kernels.Reach(n.product, seen, mask) }

// withoutEdges drops each edge with probability rate, but never a self-loop.
func (n Neighbours) withoutEdges(r *Random, rate float64) Neighbours {
	stream := r.draws.Next()
	n.drop, n.rate, n.kept = &stream, rate, new(*Node)
	return n
}

// MaskOthers multiplies the contribution of each u ≠ v to v by δ(u), but keeps v's own contribution. Sum, Mean, Max and
// attention (after the softmax) apply this mask.
func (n Neighbours) MaskOthers(mask *Node) Neighbours {
	n.checkMask(mask)
	n.mask = mask
	return n
}

// othersMasked multiplies keep [entries, width] by the mask that MaskOthers set. A nil factor counts as ones; two nil
// factors give nil.
func (n Neighbours) othersMasked(keep *Node) *Node {
	if n.mask == nil {
		return keep
	}
	g := n.mask.Graph()
	is := func(self bool) func(m csr.Matrix) []float32 {
		return perEntry(func(v, u int32) float32 {
			if (u == v) == self {
				return 1
			}
			return 0
		})
	}
	// Kernels need weights of 0 in padding rows, so self and other are 0 there.
	self, other := n.product.Floats("self", is(true)).NodeValue(g), n.product.Floats("other", is(false)).NodeValue(g)
	return times(keep, StopGradient(Add(self, Mul(other, n.product.Gather(n.mask)))))
}

// present returns [entries, 1]: 1 for adjacency entries that [DropEdge] keeps, else 0; nil without DropEdge.
func (n Neighbours) present(g *Graph) *Node {
	if n.drop == nil {
		return nil
	}
	if *n.kept == nil {
		edge := ConvertDType(n.product.Ints("edge", 0, n.edgeNumbers).NodeValue(g), dtypes.Uint32)
		self := ConvertDType(Equal(edge, ZerosLike(edge)), dtypes.Float32)
		*n.kept = Mul(kernels.Valid(n.product, g), Max(n.drop.Kept(edge, n.rate), self))
	}
	return *n.kept
}

// edgeNumbers returns, for each entry of m, an index of its edge, from 1. If options.Symmetric is set, both directions
// of an edge have the same index. Entries on the diagonal, of a node with itself, have 0.
func (n Neighbours) edgeNumbers(m csr.Matrix) []int32 {
	number, next := make([]int32, m.NumEntries()), int32(1)
	for i, row := range m.RowIndices() {
		if m.Indices[i] != row {
			number[i] = next
			next++
		}
	}
	if n.options.Symmetric {
		own := slices.Clone(number)
		_, from := m.Transpose()
		for i, back := range from {
			number[i] = min(own[i], own[back])
		}
	}
	return number
}

// ofNodes panics unless x has a row per node and the given number of columns (0 allows any number). The memory safety
// of kernels depends on this check.
func (n Neighbours) ofNodes(name string, x *Node, columns int) {
	mustBe(name, x, n.product.Rows(), "node", columns)
}

func (n Neighbours) ofEntries(name string, x *Node) { mustBe(name, x, n.product.Slots(), "entry", 0) }

func mustBe(name string, x *Node, rows int, of string, columns int) {
	if x == nil {
		panic(fmt.Errorf("%s is nil: expected a row for each %s", name, of))
	}
	shape := x.Shape()
	if shape.Rank() == 2 && shape.Dimensions[0] == rows && (columns == 0 || shape.Dimensions[1] == columns) {
		return
	}
	width := "width"
	if columns > 0 {
		width = strconv.Itoa(columns)
	}
	panic(fmt.Errorf("%s has the shape %v: expected [%d, %s], a row for each %s", name, shape.Dimensions, rows, width, of))
}

func (n Neighbours) checkMask(mask *Node) {
	if mask != nil {
		n.ofNodes("mask", mask, 1)
	}
}

// Sum returns Σ_{u∈N_v} δ(u)·h_u for each node v, where mask is δ: h [nodes, width] → [nodes, width].
func (n Neighbours) Sum(h, mask *Node) *Node {
	n.ofNodes("h", h, 0)
	n.checkMask(mask)
	g := h.Graph()
	return kernels.Sum(n.product, h, mask, n.othersMasked(n.present(g)), n.train)
}

// rooted returns h + Sum(h, mask) + b, where b is [1, width].
func (n Neighbours) rooted(h, b, mask *Node) *Node {
	n.ofNodes("h", h, 0)
	n.checkMask(mask)
	if n.mask == nil && n.drop == nil {
		if y := kernels.Rooted(n.product, h, b, mask, n.train); y != nil {
			return y
		}
	}
	return Add(Add(h, n.Sum(h, mask)), b)
}

// Mean returns Sum divided by |N_v|; 0 for nodes without neighbours.
func (n Neighbours) Mean(h, mask *Node) *Node {
	n.ofNodes("h", h, 0)
	n.checkMask(mask)
	g := h.Graph()
	degree := n.Degree(g)
	keep := n.othersMasked(n.present(g))
	return n.product.Mean(h, mask, Max(degree, OnesLike(degree)), keep, n.train)
}

// Max returns the maximum of h_u over u ∈ N_v with δ(u) = 1, per column; 0 without such u.
func (n Neighbours) Max(h, mask *Node) *Node {
	n.checkMask(mask)
	messages, present := n.Sources(h), n.othersMasked(n.present(h.Graph()))
	if mask != nil {
		if present == nil {
			present = kernels.Valid(n.product, h.Graph())
		}
		present = Mul(present, n.product.Gather(mask))
	}
	return kernels.RowMax(n.product, messages, present, n.train)
}

// Degree returns |N_v|: [nodes, 1].
func (n Neighbours) Degree(g *Graph) *Node {
	if n.degrees != nil {
		degrees := n.degrees.NodeValue(g)
		if n.isSelf {
			degrees = AddScalar(degrees, 1)
		}
		return degrees
	}
	present := n.present(g)
	if present == nil {
		present = kernels.Valid(n.product, g)
	}
	return n.product.Total(present)
}

// Sources returns h_u for each adjacency entry (v, u): h [nodes, width] → [entries, width].
func (n Neighbours) Sources(h *Node) *Node {
	n.ofNodes("h", h, 0)
	n.readsAll = true
	return kernels.Sources(n.product, h, n.train)
}

// Targets returns h_v for each adjacency entry (v, u): h [nodes, width] → [entries, width].
func (n Neighbours) Targets(h *Node) *Node {
	n.ofNodes("h", h, 0)
	n.readsAll = true
	return kernels.Targets(n.product, h, n.train)
}

// Weights returns constants [entries, len(functions)]: column i holds functions[i](v, u) for adjacency entry (v, u).
// Calls with equal names share constants: other functions need another name.
func (n Neighbours) Weights(g *Graph, name string, functions ...func(v, u int32) float32) *Node {
	n.readsAll = true
	columns := make([]*Node, len(functions))
	for i, column := range functions {
		key := "weights_" + name
		if i > 0 {
			key += "/" + strconv.Itoa(i)
		}
		columns[i] = n.product.Floats(key, perEntry(column)).NodeValue(g)
	}
	if len(columns) == 0 {
		panic(fmt.Errorf("weights %q of no function: expected one for each column", name))
	}
	return Concatenate(columns, 1)
}

// Softmax returns exp(e_vu) / Σ_{w∈N_v} exp(e_vw), per column of e [entries, heads].
func (n Neighbours) Softmax(e *Node) *Node {
	n.ofEntries("e", e)
	n.readsAll = true
	return kernels.RowSoftmax(n.product, e, n.present(e.Graph()), n.train)
}

func (n Neighbours) drops(rate float64) bool { return n.random != nil && rate > 0 }

// EntryDropout, in training, zeroes entries of e [entries, heads] with probability rate and divides kept entries by
// 1-rate.
func (n Neighbours) EntryDropout(e *Node, rate float64) *Node {
	n.ofEntries("e", e)
	if !n.drops(rate) {
		return e
	}
	return Mul(e, n.keepEntries(e.Shape().Dimensions[1], rate))
}

func (n Neighbours) keepEntries(heads int, rate float64) *Node {
	n.readsAll = true
	return n.product.DropEntries(n.random.Next(), nil, heads, rate)
}

// WeightedSum returns Σ_{u∈N_v} weights_vu·δ(u)·h_u: weights [entries, heads], h [nodes, width] → [nodes, width].
func (n Neighbours) WeightedSum(weights, h, mask *Node) *Node {
	n.ofEntries("weights", weights)
	n.ofNodes("h", h, 0)
	n.checkMask(mask)
	n.readsAll = true
	if present := n.present(h.Graph()); present != nil {
		weights = Mul(weights, present)
	}
	return kernels.WeightedSum(n.product, n.othersMasked(weights), Masked(h, mask), n.train)
}

// Attention returns WeightedSum(EntryDropout(Softmax(e), rate), h, mask), but takes half the time.
func (n Neighbours) Attention(e, h, mask *Node, rate float64) *Node {
	n.ofEntries("e", e)
	return n.attend(kernels.Attention{Scores: e, Values: h, Mask: mask}, e.Shape().Dimensions[1], rate)
}

// PairAttention returns [Neighbours.Attention] for the scores e_vu = LeakyReLU(source_u + target_v). If bias [1, width
// of h] is not nil, bias is added to the result. source and target are [nodes, heads]; slope is LeakyReLU's slope for
// negative inputs.
func (n Neighbours) PairAttention(source, target *Node, slope float64, h, mask, bias *Node, rate float64) *Node {
	n.ofNodes("source", source, 0)
	n.ofNodes("target", target, source.Shape().Dimensions[1])
	return n.attend(kernels.Attention{Source: source, Target: target, Slope: slope, Values: h, Mask: mask, Bias: bias},
		source.Shape().Dimensions[1], rate)
}

func (n Neighbours) attend(a kernels.Attention, heads int, rate float64) *Node {
	n.ofNodes("h", a.Values, 0)
	n.checkMask(a.Mask)
	n.readsAll = true
	a.Present, a.Gradients = n.present(a.Values.Graph()), n.train
	if n.drops(rate) {
		a.Keep = n.keepEntries(heads, rate)
	}
	if a.Keep = n.othersMasked(a.Keep); a.Keep != nil {
		a.Keep = BroadcastToDims(a.Keep, n.product.Slots(), heads)
	}
	return n.product.Attend(a)
}

// Scores returns source and target [nodes, heads] for [Neighbours.PairAttention]. For each head, source_v = a·h_v and
// target_v = b·h_v. h is [nodes, width]; the weights a and b are [heads, width/heads].
func (n Neighbours) Scores(h, a, b *Node) (source, target *Node) {
	n.ofNodes("h", h, 0)
	return n.product.PairScores(h, a, b)
}

// Min returns minima where [Neighbours.Max] returns maxima.
func (n Neighbours) Min(h, mask *Node) *Node { return Neg(n.Max(Neg(h), mask)) }

// Std returns the standard deviation of h_u over u ∈ N_v, per column, by PNA's formula √(max(mean h² − (mean h)², 0) +
// 10⁻⁵). Masked neighbours count as 0 in both means.
func (n Neighbours) Std(h, mask *Node) *Node {
	mean := n.Mean(h, mask)
	variance := Sub(n.Mean(Square(h), mask), Square(mean))
	return Sqrt(AddScalar(Max(variance, ZerosLike(variance)), 1e-5))
}
