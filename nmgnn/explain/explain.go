// Package explain says why a model gives a node its class: what each branch of the node's aggregation tree adds to the
// logit, and each of its features.
//
// A GNN sums over paths. A node of the aggregation tree is one of them, from the root to where it stands: a node of the
// graph that is reached on two ways is two tree nodes, and each has a share of its own. What a branch adds is found by
// masking, as in training: a masked tree node is not heard by its parent, and nothing is rescaled. The model runs on
// the unmasked tree as it does on the graph (theorem 1), so what is explained is its own logit and no stand-in's.
package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"nodemask/aggtree"
	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/internal/ended"
	"nodemask/internal/memory"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/infer"
)

// Options say how a prediction is explained. The zero value explains the predicted class.
type Options struct {
	// Class is the class whose logit is explained; nil: the predicted one.
	Class *int
	// Masks is how many masks of the tree are computed at most for the shares; 0: [DefaultMasks]. Where all that differ
	// are no more than that the shares are exact, else they are estimated from random orders of the branches, each of
	// which takes a mask a branch, and of which there are at least 16 however few masks these are. It is [MostMasks] or
	// less.
	Masks int
	// Seed is that of the random orders.
	Seed uint64
	// Limit is the largest tree to explain; 0: [DefaultLimit].
	Limit int
}

const (
	// DefaultMasks is how many masks are computed where [Options] set no number.
	DefaultMasks = 1 << 14
	// DefaultLimit is the largest tree that is explained where [Options] set no limit.
	DefaultLimit = 5000
	// MostMasks is the largest number of masks that [Options] may set.
	MostMasks   = 1 << 24
	leastOrders = 16 // of the branches, each second one being the reverse of the one before
)

// Explanation says why a model gives a node a logit.
type Explanation struct {
	Tree      *aggtree.Tree
	Class     int       // whose logit is explained
	Predicted int       // the class of the largest logit
	Logits    []float32 // of the root on the whole tree, which are those on the graph [classes]
	// Alone is the logit of the root without neighbours: with what all branches add it is the whole logit.
	Alone float64
	// Exact says that the shares are those of all masks. Else they are estimates from Orders random orders.
	Exact bool
	// Masks is how many masks were computed for the shares.
	Masks, Orders int
	// Branches has what each tree node adds to the logit [tree nodes]; that of the root itself is zero.
	Branches []Branch
	// Features are those of the root's node that are not 0, by how much they change the logit.
	Features []Feature
}

// Logit returns the logit that is explained.
func (e *Explanation) Logit() float64 { return float64(e.Logits[e.Class]) }

// Branch holds what a tree node, and with it the path from the root, adds to the logit.
type Branch struct {
	// Share is the Shapley value of the tree node: what the logit gains when it is heard, averaged over random masks of
	// all other tree nodes, at a keep rate drawn from 0 to 1 for each mask. The shares of all tree nodes add up to the
	// logit less that of the root alone. Error is its standard error; 0 if it is exact.
	Share, Error float64
	// Without is what the logit loses when this tree node alone is masked, and with it all below it.
	Without float64
	// Only is what the logit gains over the root alone when all is masked but this path and what is below it.
	Only float64
}

// Feature is one of the features of the root's node.
type Feature struct {
	Column int
	Value  float32
	Change float64 // what the logit loses when it is 0 wherever the node stands in the tree
}

// Node explains what a model of as many layers as hops makes of a node of a graph, on which nothing is masked.
//
// It returns an [*aggtree.TooLargeError] for a tree above the limit, the context's error if it ends first, and an error
// for no graph, for features that are not finite or not as many rows as nodes, for a node or class that there is not,
// for what [infer.Model.Represent] refuses, and if it would take more memory than is left.
func Node(ctx context.Context, b *backend.Backend, m infer.Model, g *datasets.Graph, v int32,
	o Options) (*Explanation, error) {
	o.Masks, o.Limit = cmp.Or(o.Masks, DefaultMasks), cmp.Or(o.Limit, DefaultLimit)
	if o.Masks < 1 || o.Limit < 1 || o.Masks > MostMasks {
		return nil, fmt.Errorf("%d masks of a tree of at most %d nodes: expected 1 to %d masks, and 1 node or more",
			o.Masks, o.Limit, MostMasks)
	}
	if err := checkGraph(g); err != nil {
		return nil, err
	}
	left, _ := memory.Get()
	if err := treeFits(ctx, g, v, len(m.Layers), o, left); err != nil {
		return nil, err
	}
	tree, err := aggtree.Build(ctx, g.Edges, v, len(m.Layers), aggtree.Options{Limit: o.Limit})
	if err != nil {
		return nil, err
	}
	shares := newShares(tree, o)
	if err := fits(g, v, float64(tree.NumNodes()), float64(shares.masks()), left); err != nil {
		return nil, err
	}
	x := &explainer{ctx: ctx, backend: b, model: m, graph: g, features: g.Features.Select(tree.Base),
		forest: newForest(tree)}
	e := &Explanation{Tree: tree, Branches: make([]Branch, tree.NumNodes())}
	e.Features = x.ownFeatures()
	e.Exact, e.Masks, e.Orders = shares.orders == 0, shares.masks(), shares.orders

	// Asked for in this order: all, the root alone, each branch masked, each alone, the features, and for the shares.
	n := tree.NumNodes()
	kept := make([]bool, n)
	ask := func(mask func(i int32) bool) {
		for i := range int32(n) {
			kept[i] = mask(i)
		}
		x.ask(kept)
	}
	ask(func(int32) bool { return true })
	ask(func(i int32) bool { return i == 0 })
	for one := int32(1); one < int32(n) && x.goesOn(); one++ {
		ask(func(i int32) bool { return i != one })
	}
	onPath := make([]bool, n)
	for one := int32(1); one < int32(n) && x.goesOn(); one++ {
		clear(onPath)
		for i := one; i >= 0; i = tree.Parent[i] {
			onPath[i] = true
		}
		// Tree nodes are numbered level by level: a parent's mask is set before those of its children are.
		ask(func(i int32) bool {
			above := tree.Parent[i]
			return onPath[i] || above == one || above > one && kept[above]
		})
	}
	for k := range e.Features {
		if x.goesOn() {
			x.askFor(int32(n + k))
			x.runFull()
		}
	}
	shares.ask(x)
	logits, err := x.run()
	if err != nil {
		return nil, err
	}
	for _, row := range logits {
		for c, x := range row {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				return nil, fmt.Errorf("the model gives node %d the logit %g for class %d: nothing explains that", v, x, c)
			}
		}
	}
	e.Logits = logits[0]
	e.Predicted = largest(e.Logits)
	e.Class = e.Predicted
	if o.Class != nil {
		if e.Class = *o.Class; e.Class < 0 || e.Class >= len(e.Logits) {
			return nil, fmt.Errorf("class %d: the model has classes 0 to %d", e.Class, len(e.Logits)-1)
		}
	}
	values := make([]float64, len(logits))
	for k, row := range logits {
		values[k] = float64(row[e.Class])
	}
	all := values[0]
	e.Alone = values[1]
	for i := 1; i < n; i++ {
		e.Branches[i].Without = all - values[1+i]
		e.Branches[i].Only = values[n+i] - e.Alone
	}
	for k := range e.Features {
		e.Features[k].Change = all - values[2*n+k]
	}
	slices.SortStableFunc(e.Features, func(a, b Feature) int { return descending(a.Change, b.Change) })
	shares.give(e.Branches, e.Alone, values[2*n+len(e.Features):])
	return e, nil
}

// checkGraph returns an error unless there is a graph, with a row of finite features for each node.
func checkGraph(g *datasets.Graph) error {
	switch {
	case g == nil || g.Edges == nil:
		return errors.New("the graph is nil: open one with datasets.Open")
	case g.Features.Rows != g.NumNodes():
		return fmt.Errorf("%d rows of features for %d nodes", g.Features.Rows, g.NumNodes())
	}
	return g.Features.Check()
}

// fits returns an error if explaining a node of a tree of n nodes by so many masks takes more memory than is left: what
// each mask gives is kept to the end, and a forest, which has the tree once for each state of its nodes.
func fits(g *datasets.Graph, v int32, n, masks float64, left memory.Left) error {
	const (
		eachMask = 24 + 16 + 8 + 4 // a slice, the logits in it, the explained one, and its number in the forest
		eachNode = 256             // of the tree: itself, heard and masked in the forest, by a key, and its shares
	)
	need := (masks+2*n)*eachMask + n*eachNode
	if !g.Features.IsSparse() {
		need += n * float64(g.Features.Width) * 4
	}
	if need <= float64(left.Bytes) {
		return nil
	}
	return fmt.Errorf("explaining node %d by %.0f masks of its tree of %.0f nodes takes about %s of memory, and %v: ask for "+
		"fewer masks, of which each branch needs %d, or for a node with a smaller tree", v, masks, n, memory.About(need),
		left, leastOrders)
}

// treeFits is [fits] before the tree is built. A tree above the limit is left to [aggtree.Build] to refuse.
func treeFits(ctx context.Context, g *datasets.Graph, v int32, hops int, o Options, left memory.Left) error {
	counts, err := aggtree.Count(ctx, g.Edges, v, hops, nil)
	if err != nil || counts.Total > uint64(o.Limit) {
		return err
	}
	n, masks := float64(counts.Total), 0.0
	if n > float64(o.Masks) { // there are at least as many masks as nodes, so not all of them are computed
		masks = leastOrders * (n - 1)
	}
	return fits(g, v, n, masks, left)
}

// largest returns where the first of the largest numbers is; NaNs, which weights that overflow give, are none.
func largest(x []float32) int {
	best := 0
	for c := range x {
		if x[c] > x[best] {
			best = c
		}
	}
	return best
}

// descending orders numbers by their sizes, the largest first.
func descending(a, b float64) int { return cmp.Compare(math.Abs(b), math.Abs(a)) }

// Top returns the tree nodes whose shares are the largest in size, at most so many, the largest first; none for a
// number below 0.
func (e *Explanation) Top(most int) []int32 {
	nodes := make([]int32, e.Tree.NumNodes()-1)
	for k := range nodes {
		nodes[k] = int32(k) + 1
	}
	slices.SortStableFunc(nodes, func(a, b int32) int { return descending(e.Branches[a].Share, e.Branches[b].Share) })
	return nodes[:max(0, min(most, len(nodes)))]
}

// explainer asks a forest for logits, and runs the model over it whenever it is full.
type explainer struct {
	*forest
	ctx      context.Context
	backend  *backend.Backend
	model    infer.Model
	graph    *datasets.Graph
	features datasets.Features // those of the tree's nodes, and behind them others that are asked for
	found    [][]float32
	err      error // the first, after which nothing is run
}

// ownFeatures lists the root's features, and puts a row that lacks one behind the features of the tree for each.
func (x *explainer) ownFeatures() []Feature {
	n, f := x.tree.NumNodes(), x.features
	var all []Feature
	for column, value := range f.Row(0, nil) {
		if value != 0 {
			all = append(all, Feature{Column: column, Value: value})
		}
	}
	rows := make([]int32, n, n+len(all)) // of the tree, and the root's for each feature
	for i := range rows {
		rows[i] = int32(i)
	}
	f = f.Select(append(rows, make([]int32, len(all))...))
	for k, one := range all {
		if !f.IsSparse() {
			f.Dense[(n+k)*f.Width+one.Column] = 0
			continue
		}
		for j := f.Offsets[n+k]; j < f.Offsets[n+k+1]; j++ {
			if f.Columns[j] == int32(one.Column) {
				f.Values[j] = 0
			}
		}
	}
	x.features = f
	return all
}

func (x *explainer) ask(kept []bool) {
	if x.goesOn() {
		x.forest.ask(kept)
		x.runFull()
	}
}

// goesOn reports whether more is to be asked for: nothing failed so far, and the context has not ended.
func (x *explainer) goesOn() bool {
	if x.err == nil {
		x.err = ended.Err(x.ctx)
	}
	return x.err == nil
}

// runFull runs the model if the forest is full, which is empty then, and reports whether it was.
func (x *explainer) runFull() bool {
	full := x.full()
	if full {
		_, _ = x.run()
	}
	return full
}

// run returns the logits of all that was asked for so far, in that order.
func (x *explainer) run() ([][]float32, error) {
	if x.err == nil && len(x.asked) > 0 {
		x.err = x.represent()
	}
	return x.found, x.err
}

// represent finds the logits of all trees in the forest that were asked for, and clears it.
func (x *explainer) represent() error {
	if err := ended.Err(x.ctx); err != nil {
		return err
	}
	o := infer.Options{Degrees: make([]int32, len(x.node)), Mask: x.masked}
	for j, i := range x.node {
		o.Degrees[j] = int32(x.graph.Edges.Degree(x.tree.Base[i]))
	}
	edges := &csr.Graph{Offsets: x.offsets, Indices: x.indices}
	all, err := x.model.Represent(x.backend, edges, x.features.Select(x.row), o)
	if err != nil {
		return fmt.Errorf("on the tree: %w", err)
	}
	logits := all[len(all)-1]
	for _, id := range x.asked {
		x.found = append(x.found, slices.Clone(logits.Row(int(id))))
	}
	x.clear()
	return nil
}
