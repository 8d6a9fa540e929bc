package nmgnn

import (
	"context"
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
	"nodemask/datasets"
)

// Caching (section 4, eq. 4): a node that arrives after training takes the representations of its train neighbours as they
// were computed on the train graph, instead of having its whole neighbourhood computed again:
//
//	ĥ_v^(k) = f( ĥ_v^(k-1), g({ h̃_u^(k-1) : u ∈ N_v, u in the train graph }) )
//
// Edges among nodes that arrive together are left out: their other ends have nothing cached. So a new node needs
// nothing but its own features, its edges to train nodes, and k numbers-wide rows a neighbour.

// Representation is one layer's output for all nodes of a graph: row v is h_v.
type Representation struct {
	Rows, Width int
	Values      []float32 // row-major
}

// Row is h_v, sharing memory.
func (r Representation) Row(v int) []float32 { return r.Values[v*r.Width : (v+1)*r.Width] }

// Cache holds what new nodes take from the train nodes.
type Cache struct {
	IDs      []string          // of the train nodes
	Features datasets.Features // h̃^(0), as the model reads them
	Hidden   []Representation  // h̃^(1)…h̃^(k-1), each [train nodes, width]
	Degrees  []int32           // |N_u| in the train graph
}

// represent runs the model over a phase: all layers' representations of all its nodes.
func (t *Trainer) represent(phase *phaseData) ([]Representation, error) {
	exec := t.represents[phase]
	if exec == nil {
		var err error
		exec, err = model.NewExec(t.backend.Backend, t.store, func(scope *model.Scope, graph *Graph) []*Node {
			return t.forward(scope, graph, phase)
		})
		if err != nil {
			return nil, fmt.Errorf("nmgnn: %s", firstLine(err))
		}
		t.represents[phase] = exec
	}
	outputs, err := exec.Call()
	if err != nil {
		return nil, fmt.Errorf("nmgnn: %s", firstLine(err))
	}
	return representations(outputs)
}

// Representations returns h^(1)…h^(k) of all nodes of the test graph, the last of them the logits, by the weights that
// training left.
func (t *Trainer) Representations() (all []Representation, err error) {
	defer guard(&err, "computing representations")
	return t.represent(t.phases.test)
}

// Cache returns what nodes that arrive later need, by the weights that training left.
func (t *Trainer) Cache() (c *Cache, err error) {
	defer guard(&err, "filling the cache")
	train := t.view.Train
	all, err := t.represent(t.phases.train)
	if err != nil {
		return nil, err
	}
	c = &Cache{Hidden: all[:len(all)-1], Features: t.features, Degrees: make([]int32, len(train.Nodes)), IDs: make([]string, len(train.Nodes))}
	if len(train.Nodes) != t.features.Rows {
		c.Features = t.features.Select(train.Nodes)
	}
	for i, v := range train.Nodes {
		c.Degrees[i] = int32(train.Edges.Degree(int32(i)))
		c.IDs[i] = nodeID(t.graph, v)
	}
	return c, nil
}

// nodeID is a node's own name, or its number.
func nodeID(g *datasets.Graph, v int32) string {
	if len(g.NodeIDs) > 0 {
		return g.NodeIDs[v]
	}
	return fmt.Sprint(v)
}

// cachedEdges is the test graph as the cache sees it: a train node has its neighbours of the train graph, any other node
// those among the train nodes. To run a model over it is to use the cache for all new nodes at once: train nodes come
// to their h̃, since none of them sees a new node.
func cachedEdges(view *datasets.View) (*csr.Graph, error) {
	known := make([]bool, view.Test.Edges.NumNodes())
	local := make([]int32, len(known))
	at := map[int32]int32{}
	for i, v := range view.Test.Nodes {
		at[v] = int32(i)
		local[i] = int32(i)
	}
	for _, v := range view.Train.Nodes {
		known[at[v]] = true
	}
	edges, _, err := view.Test.Edges.InducedWhere(local, func(_, u int32) bool { return known[u] })
	return edges, err
}

// PredictCached returns the class of every node of the test graph, with nodes outside the train graph computed by the
// cache.
func (t *Trainer) PredictCached() (classes []int32, err error) {
	defer guard(&err, "predicting from the cache")
	if t.cached == nil {
		edges, err := cachedEdges(t.view)
		if err != nil {
			return nil, err
		}
		phase := *t.phases.test // the same features
		if phase.adjacency, err = newAdjacency(t.store, "/"+dataScope+"/cached/edges", adjacencyOf(edges), edges.IsSymmetric(), t.plan, false); err != nil {
			return nil, err
		}
		t.cached = &phase
	}
	all, err := t.represent(t.cached)
	if err != nil {
		return nil, err
	}
	return last(all).argmax(), nil
}

// argmax is the place of the greatest number of each row.
func (r Representation) argmax() []int32 {
	classes := make([]int32, r.Rows)
	for v := range classes {
		row := r.Row(v)
		for c, x := range row {
			if x > row[classes[v]] {
				classes[v] = int32(c)
			}
		}
	}
	return classes
}

// softmax turns each row into probabilities.
func (r Representation) softmax() Representation {
	p := Representation{Rows: r.Rows, Width: r.Width, Values: make([]float32, len(r.Values))}
	for v := range r.Rows {
		from, to := r.Row(v), p.Row(v)
		highest, sum := math.Inf(-1), 0.0
		for _, x := range from {
			highest = max(highest, float64(x))
		}
		for _, x := range from {
			sum += math.Exp(float64(x) - highest)
		}
		for c, x := range from {
			to[c] = float32(math.Exp(float64(x)-highest) / sum)
		}
	}
	return p
}

// Smoothness is MAD ([MAD]) of three representations of the same nodes: the lower, the more alike they are.
type Smoothness struct {
	Hidden  float64 `json:"hidden"`  // the last hidden layer, after its activation; 0 without one
	Logits  float64 `json:"logits"`  // the last layer
	Softmax float64 `json:"softmax"` // its probabilities
}

// Smoothness measures all nodes of the test graph, by the weights that training left.
func (t *Trainer) Smoothness(ctx context.Context) (s Smoothness, err error) {
	all, err := t.Representations()
	if err != nil {
		return s, err
	}
	logits := all[len(all)-1]
	measure := func(r Representation) (mad float64) {
		if err == nil {
			mad, err = MAD(ctx, r.Values, r.Rows, r.Width)
		}
		return mad
	}
	if len(all) > 1 {
		s.Hidden = measure(all[len(all)-2])
	}
	s.Logits, s.Softmax = measure(logits), measure(logits.softmax())
	return s, err
}

// NodeCounts says how many different nodes must be at hand to predict the test nodes.
type NodeCounts struct {
	// All is the number of nodes of the test graph: what the paper counts without caching.
	All int `json:"all"`
	// Reached counts the test nodes and whatever is within as many hops of them as the model has layers: what
	// predicting them without a cache really reads.
	Reached int `json:"reached"`
	// Cached counts the nodes outside the train graph, and the train nodes next to a test node: what predicting from the
	// cache reads.
	Cached int `json:"cached"`
}

// CountNodes counts for a model of so many layers.
func CountNodes(view *datasets.View, layers int) NodeCounts {
	edges := view.Test.Edges
	reached := make([]bool, edges.NumNodes())
	frontier := view.Test.Score
	for _, v := range frontier {
		reached[v] = true
	}
	c := NodeCounts{All: edges.NumNodes(), Reached: len(frontier), Cached: edges.NumNodes() - len(view.Train.Nodes)}
	train := map[int32]bool{}
	for _, v := range view.Train.Nodes {
		train[v] = true
	}
	next := map[int32]bool{}
	for _, v := range view.Test.Score {
		for _, u := range edges.Neighbours(v) {
			if id := view.Test.Nodes[u]; train[id] && !next[u] {
				next[u] = true
				c.Cached++
			}
		}
	}
	for range layers {
		var found []int32
		for _, v := range frontier {
			for _, u := range edges.Neighbours(v) {
				if !reached[u] {
					reached[u] = true
					found = append(found, u)
				}
			}
		}
		c.Reached += len(found)
		frontier = found
	}
	return c
}
