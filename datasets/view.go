package datasets

import (
	"cmp"
	"fmt"
	"slices"

	"nodemask/csr"
)

// Setting says what a model may see while it learns.
type Setting string

const (
	// Inductive: the train graph holds the train nodes only; the others arrive later, with their edges.
	Inductive Setting = "inductive"
	// Transductive: the whole graph is there from the start; only the labels of the other nodes are held back.
	Transductive Setting = "transductive"
)

// Settings lists the settings.
func Settings() []Setting { return []Setting{Inductive, Transductive} }

// Check returns an error unless s is one of [Settings].
func (s Setting) Check() error {
	if !slices.Contains(Settings(), s) {
		return fmt.Errorf("setting %q: expected %q or %q", s, Inductive, Transductive)
	}
	return nil
}

// Arrivals says which edges come along with the nodes that arrive after training, in the inductive setting.
type Arrivals string

const (
	// AllEdges: every edge among the nodes that are there. This is the default, and the paper's.
	AllEdges Arrivals = "all-edges"
	// TrainEdges: only edges with a train node at one end or both.
	TrainEdges Arrivals = "train-edges"
	// NoValidation: every edge among the nodes that are there, and the validation nodes are gone when the others arrive:
	// "the relevant nodes", as the paper says.
	NoValidation Arrivals = "no-validation"
)

// AllArrivals lists them.
func AllArrivals() []Arrivals { return []Arrivals{AllEdges, TrainEdges, NoValidation} }

// Check returns an error unless a is one of [AllArrivals], or empty.
func (a Arrivals) Check() error {
	if a != "" && !slices.Contains(AllArrivals(), a) {
		return fmt.Errorf("arrivals %q: expected one of %q", a, AllArrivals())
	}
	return nil
}

// Phase holds the graph as it is while a model trains, is validated or is tested.
type Phase struct {
	Edges *csr.Graph // in local numbers
	Nodes []int32    // the node of the whole graph behind each local node, ascending
	Score []int32    // local nodes whose labels count in this phase, ascending
}

// View holds a split graph as a model sees it, phase by phase. Phases may share memory with each other and with the
// graph: only read them.
type View struct {
	Setting                 Setting
	Arrivals                Arrivals
	Train, Validation, Test Phase
}

// NewView returns the three phases of g under s.
//
// Transductive: each phase is the whole graph, and Score is the phase's own set. Inductive: the train phase is the
// train nodes and the edges among them; the validation phase adds the validation nodes, and the test phase every other
// node (unlabelled ones too), with the edges that arrivals lets in ("" means [AllEdges]); with [NoValidation] it has no
// validation nodes.
//
// It is an error if the setting or arrivals is unknown, if other arrivals than [AllEdges] are asked of the transductive
// setting, where nothing arrives, or if s is not a split of g.
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
