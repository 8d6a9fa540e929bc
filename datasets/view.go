package datasets

import (
	"cmp"
	"fmt"
	"slices"

	"nodemask/csr"
)

// Setting is what a model may see in training.
type Setting string

const (
	// Inductive means that the train graph has only train nodes; other nodes arrive later with their edges.
	Inductive Setting = "inductive"
	// Transductive means that the train graph is the whole graph, with labels of train nodes only.
	Transductive Setting = "transductive"
)

// Settings returns all values of [Setting].
func Settings() []Setting { return []Setting{Inductive, Transductive} }

// Check returns an error unless s is one of [Settings].
func (s Setting) Check() error {
	if !slices.Contains(Settings(), s) {
		return fmt.Errorf("setting %q: expected %q or %q", s, Inductive, Transductive)
	}
	return nil
}

// Arrivals chooses which edges come with nodes that arrive after training (inductive setting).
type Arrivals string

const (
	// AllEdges, the default, adds arriving nodes with all edges to nodes then in the graph, as the paper does.
	AllEdges Arrivals = "all-edges"
	// TrainEdges adds only edges with a train node at one end or both.
	TrainEdges Arrivals = "train-edges"
	// NoValidation adds every edge between present nodes, but validation nodes are absent at test time. The paper's
	// "relevant nodes" may mean this.
	NoValidation Arrivals = "no-validation"
)

// AllArrivals returns all values of [Arrivals].
func AllArrivals() []Arrivals { return []Arrivals{AllEdges, TrainEdges, NoValidation} }

// Check returns an error unless a is one of [AllArrivals], or empty.
func (a Arrivals) Check() error {
	if a != "" && !slices.Contains(AllArrivals(), a) {
		return fmt.Errorf("arrivals %q: expected one of %q", a, AllArrivals())
	}
	return nil
}

// Phase is the graph, or the part of it, that a model sees in training, validation or testing.
type Phase struct {
	Edges *csr.Graph // edges in this phase; node i of Edges is node Nodes[i] of the whole graph
	Nodes []int32    // nodes in this phase, as numbers in the whole graph, ascending
	Score []int32    // positions in Nodes of the nodes to score (train, validation or test nodes), ascending
}

// View is what a model sees of a graph. The phases Train, Validation and Test may share memory: do not change them.
type View struct {
	Setting                 Setting
	Arrivals                Arrivals
	Train, Validation, Test Phase
}

// NewView returns the phases of g for the split s.
//
// In the transductive setting each phase has the whole graph, and its Score holds the train, validation or test nodes.
// In the inductive setting Train has the train nodes and the edges among them, Validation adds the validation nodes,
// and Test adds all other nodes (unlabelled too), with the edges that arrivals chooses ("" means [AllEdges]).
//
// NewView returns an error if the setting or arrivals is unknown, if the setting is transductive and arrivals is not
// [AllEdges], or if s is not a split of g.
func NewView(g *Graph, s *Split, setting Setting, arrivals Arrivals) (*View, error) {
	if err := setting.Check(); err != nil {
		return nil, err
	}
	if err := arrivals.Check(); err != nil {
		return nil, err
	}
	arrivals = cmp.Or(arrivals, AllEdges)
	if len(g.Labels) != g.NumNodes() {
		return nil, fmt.Errorf("view: %d labels for %d nodes: expected one a node", len(g.Labels), g.NumNodes())
	}
	if err := s.check(g); err != nil {
		return nil, err
	}
	view := &View{Setting: setting, Arrivals: arrivals}
	all := make([]int32, g.NumNodes())
	for v := range all {
		all[v] = int32(v)
	}
	whole := func(score []int32) Phase { return Phase{Edges: g.Edges, Nodes: all, Score: score} }
	if setting == Transductive {
		if arrivals != AllEdges {
			return nil, fmt.Errorf("view: arrivals %q in the %s setting, where no node arrives: expected %q",
				arrivals, setting, AllEdges)
		}
		view.Train, view.Validation, view.Test = whole(s.Train), whole(s.Validation), whole(s.Test)
		return view, nil
	}

	const train, validation = 1, 2
	set := make([]uint8, g.NumNodes())
	for _, v := range s.Train {
		set[v] = train
	}
	for _, v := range s.Validation {
		set[v] = validation
	}
	known := slices.Concat(s.Train, s.Validation)
	slices.Sort(known)
	keep := func(v, u int32) bool {
		return arrivals != TrainEdges || set[v] == train || set[u] == train
	}
	phase := func(nodes, score []int32) (Phase, error) {
		edges, index, err := g.Edges.InducedWhere(nodes, keep)
		if err != nil {
			return Phase{}, fmt.Errorf("view: %w", err)
		}
		local := make([]int32, len(score))
		for i, v := range score {
			local[i] = index[v]
		}
		return Phase{Edges: edges, Nodes: nodes, Score: local}, nil
	}
	var err error
	if view.Train, err = phase(s.Train, s.Train); err != nil {
		return nil, err
	}
	if view.Validation, err = phase(known, s.Validation); err != nil {
		return nil, err
	}
	switch arrivals {
	case AllEdges:
		view.Test = whole(s.Test)
		return view, nil
	case NoValidation:
		all = slices.DeleteFunc(all, func(v int32) bool { return set[v] == validation })
	}
	if view.Test, err = phase(all, s.Test); err != nil {
		return nil, err
	}
	return view, nil
}
