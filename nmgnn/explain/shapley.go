package explain

import (
	"math"
	"math/rand/v2"
	"slices"

	"nodemask/aggtree"
)

// shares chooses the masks to evaluate and computes Shapley values from the logits under them.
//
// The value of a set of tree nodes is the logit if only the set is unmasked. A node below a masked node has no effect,
// so each set that is used contains the parents of its members.
type shares struct {
	tree   *aggtree.Tree
	sets   [][]bool // all possible sets of kept tree nodes; nil if there are too many
	orders int      // even number of random orders of tree nodes; 0 if sets is not nil
	seed   uint64
}

func newShares(t *aggtree.Tree, o Options) *shares {
	s := &shares{tree: t, seed: o.Seed}
	n := t.NumNodes()
	if count := s.count(); count <= float64(o.Masks) && count*float64(n) <= 1<<24 {
		kept := make([]bool, n)
		kept[0] = true
		s.enumerate(1, kept)
		return s
	}
	s.orders = max(leastOrders, o.Masks/(2*n)*2)
	return s
}

func (s *shares) masks() int {
	if s.orders == 0 {
		return len(s.sets)
	}
	return s.orders * (s.tree.NumNodes() - 1)
}

// count returns the number of possible sets of kept tree nodes: those with the root and all members' parents.
func (s *shares) count() float64 {
	below := make([]float64, s.tree.NumNodes())
	for i := int32(len(below)) - 1; i >= 0; i-- {
		below[i] = 1
		first, end := s.tree.Children(i)
		for c := first; c < end; c++ {
			below[i] *= 1 + below[c]
		}
	}
	return below[0]
}

// enumerate appends to s.sets every completion of kept[:i] in which all parents of kept tree nodes are kept.
func (s *shares) enumerate(i int, kept []bool) {
	for ; i < len(kept) && !kept[s.tree.Parent[i]]; i++ {
		kept[i] = false
	}
	if i == len(kept) {
		s.sets = append(s.sets, slices.Clone(kept))
		return
	}
	for _, in := range []bool{false, true} {
		kept[i] = in
		s.enumerate(i+1, kept)
	}
}

// inOrders calls visit with random orders of all tree nodes but the root, each followed by its reverse, which lowers
// the variance.
func (s *shares) inOrders(visit func(order []int32)) {
	r := rand.New(rand.NewPCG(s.seed, 0))
	order := make([]int32, s.tree.NumNodes()-1)
	for range s.orders / 2 {
		for k := range order {
			order[k] = int32(k) + 1
		}
		r.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		visit(order)
		slices.Reverse(order)
		visit(order)
	}
}

func (s *shares) ask(x *explainer) {
	for _, kept := range s.sets {
		x.ask(kept)
	}
	s.inOrders(func(order []int32) {
		kept := make([]bool, len(order)+1)
		states := x.states(kept)
		for _, i := range order {
			if !x.goesOn() {
				return
			}
			if x.runFull() {
				states = x.states(kept)
			}
			kept[i] = true
			for i != 0 && kept[i] {
				i = s.tree.Parent[i]
				states[i] = x.branch(i, kept, states)
			}
			x.asked = append(x.asked, states[0])
		}
		x.runFull()
	})
}

// give computes each branch's share. values[k] is the root's logit under the k-th mask that s.ask requested; alone is
// the root's logit without neighbours.
func (s *shares) give(branches []Branch, alone float64, values []float64) {
	if s.orders > 0 {
		s.estimate(branches, alone, values)
		return
	}
	for k, kept := range s.sets {
		in, next := 0, 0 // in: number of kept nodes, the root excluded; next: number of masked children of kept nodes
		for i, parent := range s.tree.Parent {
			if parent < 0 || !kept[parent] {
				continue
			}
			if kept[i] {
				in++
			} else {
				next++
			}
		}
		// The share of node u is a weighted sum of the logits of all sets of kept nodes with u's parent. A set's weight
		// is positive if u is in the set, else negative. The weight's size is the probability that a random mask of all
		// nodes but u gives the set. Such a mask keeps m nodes and masks n children of kept nodes, u and the root not
		// counted. Averaged over the keep rate p, its probability is beta(m, n) = ∫ p^m (1-p)^n dp.
		with, without := beta(in-1, next)*values[k], beta(in, next-1)*values[k]
		for i, parent := range s.tree.Parent {
			switch {
			case parent < 0 || !kept[parent]:
			case kept[i]:
				branches[i].Share += with
			default:
				branches[i].Share -= without
			}
		}
	}
}

// beta returns ∫ p^a (1-p)^b dp from 0 to 1, which is a!·b!/(a+b+1)!, and 0 for negative powers.
func beta(a, b int) float64 {
	if a < 0 || b < 0 {
		return 0
	}
	la, _ := math.Lgamma(float64(a + 1))
	lb, _ := math.Lgamma(float64(b + 1))
	both, _ := math.Lgamma(float64(a + b + 2))
	return math.Exp(la + lb - both)
}

// estimate computes each tree node's share: the change in the logit when the node is unmasked, averaged over the random
// orders. An order and its reverse count as one sample.
func (s *shares) estimate(branches []Branch, alone float64, values []float64) {
	n := len(branches)
	pair, squares := make([]float64, n), make([]float64, n)
	draws := 0.0
	odd := false
	s.inOrders(func(order []int32) {
		before := alone
		for k, i := range order {
			pair[i] += (values[k] - before) / 2
			before = values[k]
		}
		values = values[len(order):]
		if odd = !odd; odd {
			return
		}
		draws++
		for i, x := range pair {
			off := x - branches[i].Share
			branches[i].Share += off / draws
			squares[i] += off * (x - branches[i].Share)
		}
		clear(pair)
	})
	for i := range branches {
		branches[i].Error = math.Sqrt(squares[i] / (draws - 1) / draws)
	}
}
