// Package explain attributes a node's logit to the branches of its aggregation tree and to its features.
//
// A tree node is a path from the root, so a graph node that two paths reach appears twice in the tree. As in training,
// a masked node sends nothing to its parent, and the other neighbours' sum is not rescaled. By the paper's theorem 1
// the unmasked tree gives the same logits as the graph.
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
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/infer"
)

// Options configure an explanation.
type Options struct {
	// Class is the class to explain; nil means the predicted one.
	Class *int
	// Masks limits how many masks are evaluated to compute the Shapley values [Branch].Share. It may be at most 2²⁴; 0
	// means 16,384. Let M masks differ in effect, and the tree have N nodes. If M ≤ Masks and M·N ≤ 2²⁴, all M are
	// evaluated and shares are exact. Otherwise shares are estimated by unmasking tree nodes in at least 16 random
	// orders.
	Masks int
	// Seed seeds the random orders in which tree nodes are unmasked.
	Seed uint64
	// Limit is the largest number of tree nodes; 0 means 5000.
	Limit int
}

const (
	defaultMasks = 1 << 14
	defaultLimit = 5000
	mostMasks    = 1 << 24
	leastOrders  = 16
)

// Explanation explains one logit of a node.
type Explanation struct {
	Tree      *aggtree.Tree
	Class     int
	Predicted int       // class with the largest logit
	Logits    []float32 // the root's logits when no node is masked: [classes]
	// Alone is the root's logit without neighbours. The explained logit is Alone plus all shares.
	Alone float64
	// Exact means that shares are exact, not estimated from random orders.
	Exact bool
	// Masks and Orders count the evaluated masks and the random orders of tree nodes.
	Masks, Orders int
	// Branches[i] is the contribution of tree node i; the contribution of the root, node 0, is 0.
	Branches []Branch
	// Features are the root's nonzero features, sorted by effect on the logit.
	Features []Feature
}

// Logit returns the explained logit.
func (e *Explanation) Logit() float64 { return float64(e.Logits[e.Class]) }

// Branch holds a tree node's contribution to the logit.
type Branch struct {
	// Share is the Shapley value: how much the logit rises on average when this tree node is unmasked. The average is
	// over random masks of the other tree nodes, whose keep rate is drawn uniformly from 0 to 1. Shares sum to the
	// logit minus Alone. Error is Share's standard error; 0 if exact.
	Share float64 `json:"share"`
	Error float64 `json:"error,omitempty"`
	// Without is how much the logit falls if only this tree node is masked, which also cuts off its subtree.
	Without float64 `json:"without"`
	// Only is a difference: the logit with all tree nodes masked except this node, its ancestors and its subtree, minus
	// Alone.
	Only float64 `json:"only"`
}

// Feature is one feature of the graph node that the tree's root stands for.
type Feature struct {
	Column int     `json:"column"`
	Value  float32 `json:"value"`
	// Change is how much the explained logit falls if this feature is 0 wherever the root's graph node is in the tree.
	Change float64 `json:"change"`
}

// Complete returns the options with defaults filled in, or an error if Masks or Limit are out of range.
func (o Options) Complete() (Options, error) {
	o.Masks, o.Limit = cmp.Or(o.Masks, defaultMasks), cmp.Or(o.Limit, defaultLimit)
	if o.Masks < 1 || o.Limit < 1 || o.Masks > mostMasks {
		return o, fmt.Errorf("%d masks of a tree of at most %d nodes: expected 1 to %d masks, and 1 node or more",
			o.Masks, o.Limit, mostMasks)
	}
	return o, nil
}

// Node explains the prediction for node v. It uses v's aggregation tree, which is as many hops deep as the model has
// layers.
//
// It returns an [*aggtree.TooLargeError], the context's error, or an error for a missing graph, invalid features, an
// unknown node or class, or anything that [infer.Model.Represent] refuses.
func Node(ctx context.Context, b *backend.Backend, m infer.Model, g *datasets.Graph, v int32,
	o Options) (*Explanation, error) {
	o, err := o.Complete()
	if err != nil {
		return nil, err
	}
	if err := checkGraph(g); err != nil {
		return nil, err
	}
	tree, err := aggtree.Build(ctx, g.Edges, v, len(m.Layers), aggtree.Options{Limit: o.Limit})
	if err != nil {
		return nil, err
	}
	shares := newShares(tree, o)
	x := &explainer{ctx: ctx, backend: b, model: m, graph: g, features: g.Features.Select(tree.Base),
		forest: newForest(tree)}
	e := &Explanation{Tree: tree, Branches: make([]Branch, tree.NumNodes())}
	e.Features = x.ownFeatures()
	e.Exact, e.Masks, e.Orders = shares.orders == 0, shares.masks(), shares.orders

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
				return nil, fmt.Errorf("the model gives node %d the logit %g for class %d: expected a finite one", v, x, c)
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

func checkGraph(g *datasets.Graph) error {
	switch {
	case g == nil || g.Edges == nil:
		return errors.New("the graph is nil: open one with datasets.Open")
	case g.Features.Rows != g.NumNodes():
		return fmt.Errorf("%d rows of features for %d nodes", g.Features.Rows, g.NumNodes())
	}
	return g.Features.Check()
}

func largest(x []float32) int {
	best := 0
	for c := range x {
		if x[c] > x[best] {
			best = c
		}
	}
	return best
}

func descending(a, b float64) int { return cmp.Compare(math.Abs(b), math.Abs(a)) }

// Top returns up to n tree nodes, by descending absolute value of [Branch].Share.
func (e *Explanation) Top(n int) []int32 {
	nodes := make([]int32, e.Tree.NumNodes()-1)
	for k := range nodes {
		nodes[k] = int32(k) + 1
	}
	slices.SortStableFunc(nodes, func(a, b int32) int { return descending(e.Branches[a].Share, e.Branches[b].Share) })
	return nodes[:max(0, min(n, len(nodes)))]
}

// explainer collects masked trees in one graph, the [forest], and runs the model when the graph is full.
type explainer struct {
	*forest
	ctx      context.Context
	backend  *backend.Backend
	model    infer.Model
	graph    *datasets.Graph
	features datasets.Features // a row per tree node, then copies of the root's row with one feature set to 0
	found    [][]float32
	err      error
}

// ownFeatures returns the root's nonzero features. For each of them it appends a row to x.features.
func (x *explainer) ownFeatures() []Feature {
	n, f := x.tree.NumNodes(), x.features
	var all []Feature
	for column, value := range f.Row(0, nil) {
		if value != 0 {
			all = append(all, Feature{Column: column, Value: value})
		}
	}
	rows := make([]int32, n, n+len(all))
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

func (x *explainer) goesOn() bool {
	if x.err == nil {
		x.err = ended.Err(x.ctx)
	}
	return x.err == nil
}

func (x *explainer) runFull() bool {
	full := x.full()
	if full {
		_, _ = x.run()
	}
	return full
}

func (x *explainer) run() ([][]float32, error) {
	if x.err == nil && len(x.asked) > 0 {
		x.err = x.represent()
	}
	return x.found, x.err
}

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
