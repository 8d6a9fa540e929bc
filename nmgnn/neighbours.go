package nmgnn

import (
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
	"nodemask/nmgnn/fused"
)

// Neighbours aggregates over N_v inside a computation. Layers are written against it and read like their equation; how
// sums are computed is its own affair.
//
// Layers that weigh neighbours work with entries: one for each pair of v and u ∈ N_v, in an order of its own. A node [entries,
// width] may be computed with like any other; some of its rows are padding, which every method here leaves out.
type Neighbours interface {
	// Sum maps h [nodes, width] to [nodes, width]: row v is Σ_{u∈N_v} h_u.
	Sum(h *Node) *Node
	// Mean is Sum divided by |N_v|, zeros for a node without neighbours.
	Mean(h *Node) *Node
	// Degree is |N_v| of all nodes: [nodes, 1].
	Degree(g *Graph) *Node
	// WithSelf aggregates over v ∪ N_v.
	WithSelf() Neighbours
	// NumNodes is the number of nodes.
	NumNodes() int

	// Sources is h_u for each entry: h [nodes, width] → [entries, width].
	Sources(h *Node) *Node
	// Targets is h_v for each entry: h [nodes, width] → [entries, width].
	Targets(h *Node) *Node
	// Softmax is exp(e_vu) / Σ_{w∈N_v} exp(e_vw), for each column of e [entries, heads] on its own.
	Softmax(e *Node) *Node
	// EntryDropout sets entries to zero with probability rate and divides the others by 1-rate; outside training it
	// leaves them alone. e is [entries, heads].
	EntryDropout(e *Node, rate float64) *Node
	// WeightedSum is Σ_{u∈N_v} weights_vu·h_u: weights [entries, heads], h [nodes, width] → [nodes, width]. Each head weighs
	// its share of the width, in order.
	WeightedSum(weights, h *Node) *Node
	// Attention is WeightedSum(EntryDropout(Softmax(e), rate), h), in half of the time.
	Attention(e, h *Node, rate float64) *Node
	// PairAttention is Attention with e_vu = LeakyReLU(source_u + target_v), slope that below zero: source, target [nodes,
	// heads]. Where it can be, e is never stored.
	PairAttention(source, target *Node, slope float64, h *Node, rate float64) *Node
	// Scores is the inner products of each head's share of h [nodes, width] with its row of a and of b [heads, width/heads], for
	// [Neighbours.PairAttention]: two nodes [nodes, heads].
	Scores(h, a, b *Node) (source, target *Node)
}

// adjacency is the pattern of a graph in variables of a model, in both directions if gradients are wanted.
type adjacency struct {
	store     *model.Store
	path      string
	plan      Plan
	entries   sparse
	symmetric bool

	forward, adjoint product                    // adjoint: nil without training
	self             *adjacency                 // with v in N_v, once asked for
	lazy             map[string]*model.Variable // what only some layers need, once asked for
	degrees          *model.Variable            // [nodes, 1], if the rows do not tell; nil: they do
	isSelf           bool                       // v is in N_v
}

func newAdjacency(store *model.Store, path string, s sparse, symmetric bool, plan Plan, train bool) (*adjacency, error) {
	a := &adjacency{store: store, path: path, plan: plan, entries: s, symmetric: symmetric, lazy: map[string]*model.Variable{}}
	var err error
	if a.forward, err = newProduct(store, path, s, plan); err != nil || !train {
		return a, err
	}
	if a.adjoint = a.forward; !symmetric {
		a.adjoint, err = newProduct(store, path+"_transposed", s.transpose(), plan)
	}
	return a, err
}

func adjacencyOf(edges *csr.Graph) sparse {
	n := edges.NumNodes()
	s := sparse{rows: n, columns: n, offsets: edges.Offsets, targets: edges.Indices}
	if n == 0 {
		s.offsets = []int64{0}
	}
	return s
}

// withSelf adds an entry v for each row v, in its place.
func (s sparse) withSelf() sparse {
	t := sparse{rows: s.rows, columns: s.columns, offsets: make([]int64, s.rows+1), targets: make([]int32, 0, s.entries()+s.rows)}
	for v := range s.rows {
		placed := false
		for _, u := range s.targets[s.offsets[v]:s.offsets[v+1]] {
			if !placed && int(u) > v {
				t.targets, placed = append(t.targets, int32(v)), true
			}
			t.targets = append(t.targets, u)
		}
		if !placed {
			t.targets = append(t.targets, int32(v))
		}
		t.offsets[v+1] = int64(len(t.targets))
	}
	return t
}

// once makes a variable [slots, 1] of p the first time it is asked for, from a number for each entry.
func once[T int32 | float32](a *adjacency, name string, p product, padding T, perEntry func() []T) *model.Variable {
	if v := a.lazy[name]; v != nil {
		return v
	}
	data := perSlot(p, perEntry(), padding)
	if len(data) == 0 {
		data = []T{padding} // the slot of a matrix without entries
	}
	into := variables{store: a.store, path: a.path}
	v := into.add(name, tensors.FromFlatDataAndDimensions(data, len(data), 1))
	if into.err != nil {
		panic(into.err)
	}
	a.lazy[name] = v
	return v
}

// valid is 1 for each slot that has an entry and 0 for padding: [slots, 1].
func (a *adjacency) valid(g *Graph) *Node {
	return once(a, "valid", a.forward, 0, func() []float32 {
		return slices.Repeat([]float32{1}, a.entries.entries())
	}).NodeValue(g)
}

// position numbers the entries row by row, whatever the kernel: [slots, 1] uint32.
func (a *adjacency) position(g *Graph) *Node {
	return ConvertDType(once(a, "position", a.forward, 0, func() []int32 {
		number := make([]int32, a.entries.entries())
		for i := range number {
			number[i] = int32(i)
		}
		return number
	}).NodeValue(g), dtypes.Uint32)
}

// edge numbers the edges from 1, both directions of an undirected one alike: [slots, 1] uint32. An entry of v itself has
// 0, and so has padding.
func (a *adjacency) edge(g *Graph) *Node {
	return ConvertDType(once(a, "edge", a.forward, 0, func() []int32 {
		// Entries of v itself do not count, so that an edge has its number with and without them.
		number, next := make([]int32, a.entries.entries()), int32(1)
		for i, row := range a.entries.rowOfEntries() {
			if a.entries.targets[i] != row {
				number[i] = next
				next++
			}
		}
		if a.symmetric {
			own := slices.Clone(number)
			for i, back := range a.entries.transpose().positions {
				number[i] = min(own[i], own[back])
			}
		}
		return number
	}).NodeValue(g), dtypes.Uint32)
}

// transposedAt is the slot here of each of the adjoint's: [slots, 1], one behind all of them for padding.
func (a *adjacency) transposedAt() *model.Variable {
	nowhere := int32(a.forward.slots())
	return once(a, "transposed", a.adjoint, nowhere, func() []int32 {
		from := a.entries.transpose().positions
		if slotOf := a.forward.slotOf(); slotOf != nil {
			for i, entry := range from {
				from[i] = slotOf[entry]
			}
		}
		return from
	})
}

// transposed moves what belongs to the entries into the slots of the adjoint: e [slots, width], zero in padding.
func (a *adjacency) transposed(e *Node) *Node {
	return Gather(padRows(e, a.forward.slots()+1), a.transposedAt().NodeValue(e.Graph()))
}

// timesTransposed multiplies v by the transposed matrix, whose entries have the weights [slots, heads] of this one's, zero in
// padding.
func (a *adjacency) timesTransposed(v, weights *Node) *Node {
	if p, isFused := a.adjoint.(*fusedProduct); isFused {
		return p.timesAt(v, weights, a.transposedAt())
	}
	return a.adjoint.times(v, a.transposed(weights))
}

// totalTransposed adds up the entries of each column: e [slots, width], zero in padding → [columns, width].
func (a *adjacency) totalTransposed(e *Node) *Node {
	if p, isFused := a.adjoint.(*fusedProduct); isFused {
		return p.matrix(e.Graph()).Total(e, a.transposedAt().NodeValue(e.Graph()))
	}
	return a.adjoint.total(a.transposed(e))
}

// setDegrees says what the degrees are where rows hold only a part of the entries.
func (a *adjacency) setDegrees(degrees []float32) error {
	t := tensors.FromFlatDataAndDimensions(degrees, len(degrees), 1)
	if a.degrees != nil {
		return a.degrees.SetValue(t)
	}
	into := variables{store: a.store, path: a.path}
	a.degrees = into.add("degree", t)
	return into.err
}

// replace puts another pattern with as many rows and entries in the place of this one's; it must be of [ScatterKernel].
func (a *adjacency) replace(s sparse) error {
	p := a.forward.(*scatterProduct)
	if a.self != nil {
		if err := a.self.replace(s.withSelf()); err != nil {
			return err
		}
	}
	return p.replace(s)
}

// neighbours is an adjacency in one pass of a model.
type neighbours struct {
	*adjacency
	train  bool    // gradients are wanted
	random *Random // nil: nothing is dropped
	drop   *stream // of edges, if a regulariser drops them
	rate   float64 // at which it does
	kept   **Node  // what it kept: [slots, 1], made once
}

func (n neighbours) NumNodes() int { return n.entries.rows }

func (n neighbours) WithSelf() Neighbours {
	if n.self == nil {
		self, err := newAdjacency(n.store, n.path+"_and_self", n.entries.withSelf(), n.symmetric, n.plan, n.adjoint != nil)
		if err != nil {
			panic(err)
		}
		self.isSelf, self.degrees = true, n.degrees
		n.adjacency.self = self
	}
	with := n
	with.adjacency, with.kept = n.self, new(*Node)
	return with
}

// keep is 1 for entries that a regulariser kept, 0 for those it dropped and for padding; nil if none drops any.
func (n neighbours) keep(g *Graph) *Node {
	if n.drop == nil {
		return nil
	}
	if *n.kept == nil {
		edge := n.edge(g)
		self := ConvertDType(Equal(edge, ZerosLike(edge)), dtypes.Float32)
		*n.kept = Mul(n.valid(g), Max(n.drop.kept(edge, n.rate, 1), self))
	}
	return *n.kept
}

func (n neighbours) Sum(h *Node) *Node {
	keep := n.keep(h.Graph())
	apply := func(h *Node) *Node { return n.forward.times(h, keep) }
	if !n.train {
		return apply(h)
	}
	return linear(h, n.NumNodes(), apply, func(v *Node) *Node {
		if keep != nil && !n.symmetric {
			return n.timesTransposed(v, keep)
		}
		return n.adjoint.times(v, keep) // both directions of an edge are kept or dropped together
	})
}

func (n neighbours) Mean(h *Node) *Node {
	degree := n.Degree(h.Graph())
	degree = Max(degree, OnesLike(degree))
	if _, isFused := n.forward.(*fusedProduct); !isFused {
		return Div(n.Sum(h), degree)
	}
	// Weighing entries costs nothing while they are added up.
	weights := n.forward.spread(Inverse(degree))
	if keep := n.keep(h.Graph()); keep != nil {
		weights = Mul(weights, keep)
	}
	apply := func(h *Node) *Node { return n.forward.times(h, weights) }
	if !n.train {
		return apply(h)
	}
	return linear(h, n.NumNodes(), apply, func(v *Node) *Node { return n.timesTransposed(v, weights) })
}

func (n neighbours) Degree(g *Graph) *Node {
	if n.degrees != nil {
		degrees := n.degrees.NodeValue(g)
		if n.isSelf {
			degrees = AddScalar(degrees, 1)
		}
		return degrees
	}
	if keep := n.keep(g); keep != nil {
		return n.forward.total(keep)
	}
	return n.forward.total(n.valid(g))
}

func (n neighbours) Sources(h *Node) *Node {
	if !n.train {
		return n.forward.gather(h)
	}
	return linear(h, n.forward.slots(), n.forward.gather, func(v *Node) *Node {
		return n.totalTransposed(Mul(v, n.valid(h.Graph())))
	})
}

func (n neighbours) Targets(h *Node) *Node {
	if !n.train {
		return n.forward.spread(h)
	}
	return linear(h, n.forward.slots(), n.forward.spread, n.totalOf)
}

// totalOf adds up the entries of each row, whatever stands in padding.
func (n neighbours) totalOf(e *Node) *Node { return n.forward.total(Mul(e, n.valid(e.Graph()))) }

func (n neighbours) total(e *Node) *Node {
	if !n.train {
		return n.totalOf(e)
	}
	return linear(e, n.NumNodes(), n.totalOf, n.forward.spread)
}

// there says which of the entries of e there are: neither padding, nor dropped by a regulariser; and e with the others out
// of any maximum's way.
func (n neighbours) there(e *Node) (there, among *Node) {
	g := e.Graph()
	there = n.valid(g)
	if keep := n.keep(g); keep != nil {
		there = keep
	}
	there = BroadcastToDims(GreaterThan(there, ZerosLike(there)), e.Shape().Dimensions...)
	return there, Where(there, e, BroadcastToDims(Scalar(g, e.DType(), lowest), e.Shape().Dimensions...))
}

func (n neighbours) Softmax(e *Node) *Node {
	there, e := n.there(e)
	// Subtracting the greatest score changes nothing but keeps exp in range, so no gradient goes through it.
	shifted := Sub(e, StopGradient(n.forward.spread(n.forward.highest(e))))
	p := Where(there, Exp(Where(there, shifted, ZerosLike(shifted))), ZerosLike(shifted))
	sum := n.total(p)
	// Rows without entries have a sum of zero, which nothing is divided by.
	sum = Where(GreaterThan(sum, ZerosLike(sum)), sum, OnesLike(sum))
	return Mul(p, n.Targets(Inverse(sum)))
}

func (n neighbours) EntryDropout(e *Node, rate float64) *Node {
	if n.random == nil || rate == 0 {
		return e
	}
	return Mul(e, n.entryKeep(e, rate))
}

// entryKeep is what [Neighbours.EntryDropout] multiplies e by.
func (n neighbours) entryKeep(e *Node, rate float64) *Node {
	return n.entryKeepOf(e, e.Shape().Dimensions[1], rate)
}

// entryKeepOf draws for entries with so many heads, in the computation that x belongs to.
func (n neighbours) entryKeepOf(x *Node, heads int, rate float64) *Node {
	// Numbered by entry, not by slot, so that all kernels drop the same ones.
	if n.random.fused {
		return n.random.stream().drop(nil, n.forward.slots(), heads, rate) // slots are entries
	}
	entry := n.position(x.Graph())
	shape := shapes.Make(dtypes.Uint32, entry.Shape().Dimensions[0], heads)
	positions := Add(BroadcastToDims(Mul(entry, Const(x.Graph(), uint32(heads))), shape.Dimensions...), Iota(x.Graph(), shape, 1))
	return n.random.stream().keep(positions, rate)
}

func (n neighbours) WeightedSum(weights, h *Node) *Node {
	g := h.Graph()
	weights = Mul(weights, n.valid(g))
	fixed, value := StopGradient(weights), StopGradient(h)
	y := n.forward.times(value, fixed)
	if !n.train {
		return y
	}
	return withAdjoints(y, argument{h, func(v *Node) *Node { return n.timesTransposed(v, fixed) }},
		argument{weights, func(v *Node) *Node { return n.agreement(v, value, weights.Shape().Dimensions[1]) }})
}

// agreement is the inner product of x_v and h_u for each entry and head: x, h [nodes, width] → [slots, heads].
func (n neighbours) agreement(x, h *Node, heads int) *Node {
	if p, isFused := n.forward.(*fusedProduct); isFused {
		return p.matrix(x.Graph()).Agreement(x, h, heads)
	}
	x, h = alone(x), alone(h)
	if p, isChain := n.forward.(*chainProduct); isChain && p.size > 8*agreementBlock && x.Graph().Backend().Capabilities().Operations[compute.OpTypeDynamicSlice] {
		return p.agreement(x, h, heads)
	}
	return alone(sumHeads(Mul(n.forward.spread(x), n.forward.gather(h)), heads))
}

func (n neighbours) Scores(h, a, b *Node) (source, target *Node) {
	if _, isFused := n.forward.(*fusedProduct); isFused {
		return fusedScores(h, a, b)
	}
	return scoreHeads(h, a), scoreHeads(h, b)
}

func (n neighbours) PairAttention(source, target *Node, slope float64, h *Node, rate float64) *Node {
	if p, isFused := n.forward.(*fusedProduct); isFused && n.drop == nil {
		s := fused.Scores{Source: source, Target: target, Slope: Const(h.Graph(), [][]float32{{float32(slope)}})}
		return n.fusedAttention(p, s, h, rate)
	}
	return n.Attention(activation.LeakyReluWith(Add(n.Sources(source), n.Targets(target)), slope), h, rate)
}

func (n neighbours) Attention(e, h *Node, rate float64) *Node {
	if p, isFused := n.forward.(*fusedProduct); isFused && n.drop == nil {
		return n.fusedAttention(p, fused.Scores{E: e}, h, rate)
	}
	scores, value := StopGradient(e), StopGradient(h)
	headCount := e.Shape().Dimensions[1]
	// α_vu = p_vu / Σ_w p_vw. Dividing the sum over u instead of each α spares passes over the entries.
	there, scores := n.there(scores)
	shifted := alone(Sub(scores, n.forward.spread(n.forward.highest(scores))))
	p := alone(Where(there, Exp(shifted), ZerosLike(scores)))
	sum := n.forward.total(p)
	empty := Equal(sum, ZerosLike(sum))
	inverse := Where(empty, ZerosLike(sum), Inverse(Where(empty, OnesLike(sum), sum)))
	kept := p
	if n.random != nil && rate > 0 {
		kept = alone(Mul(p, n.entryKeep(p, rate)))
	}
	y := heads(n.forward.times(value, kept), inverse)
	if !n.train {
		return y
	}
	// With v the gradient of y, and v' = v / Σ_w p_vw:
	//	∂h_u = Σ_v kept_vu·v'_v,   ∂e_vu = kept_vu·⟨v'_v, h_u⟩ - p_vu·⟨v'_v, y_v⟩
	return withAdjoints(y, argument{h, func(v *Node) *Node { return n.timesTransposed(heads(v, inverse), kept) }},
		argument{e, func(v *Node) *Node {
			v = alone(heads(v, inverse))
			shared := sumHeads(Mul(v, y), headCount)
			return Sub(Mul(kept, n.agreement(v, value, headCount)), Mul(p, n.forward.spread(shared)))
		}})
}
