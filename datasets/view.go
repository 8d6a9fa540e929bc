package datasets

import (
	"fmt"
	"slices"

	"nodemask/csr"
)

// Setting says what of the graph there is when a model is trained.
type Setting string

const (
	// Inductive training sees the train nodes and the edges among them. Validation and test nodes arrive later.
	Inductive Setting = "inductive"
	// Transductive training sees all nodes and edges, and the labels of the train nodes alone.
	Transductive Setting = "transductive"
)

// ParseSetting returns the setting of that name.
func ParseSetting(name string) (Setting, error) {
	if s := Setting(name); s == Inductive || s == Transductive {
		return s, nil
	}
	return "", fmt.Errorf("no setting %q: expected %s or %s", name, Inductive, Transductive)
}

// Arrivals says which edges nodes bring along that arrive after training, in the inductive setting. The paper leaves
// it open.
type Arrivals string

const (
	// AllEdges joins arriving nodes to train nodes and to each other.
	AllEdges Arrivals = "all-edges"
	// TrainEdges joins arriving nodes to train nodes only.
	TrainEdges Arrivals = "train-edges"
)

// ParseArrivals returns the arrivals of that name.
func ParseArrivals(name string) (Arrivals, error) {
	if a := Arrivals(name); a == AllEdges || a == TrainEdges {
		return a, nil
	}
	return "", fmt.Errorf("no arrivals %q: expected %s or %s", name, AllEdges, TrainEdges)
}

// Phase is the graph that there is in one phase, and the nodes that count in it.
type Phase struct {
	Edges *csr.Graph // among the phase's own nodes
	Nodes []int32    // node of the whole graph behind each node of the phase, ascending
	Score []int32    // nodes of the phase whose labels count, ascending
}

// View is a graph as it stands in the phases of training, by a split and a setting.
type View struct {
	Setting                 Setting
	Arrivals                Arrivals // of the inductive setting
	Train, Validation, Test Phase
}

// NewView prepares the phases. Transductive: the whole graph in all three. Inductive: the train graph is the train nodes
// and the edges among them; the validation graph adds the validation nodes and their edges to it; the test graph is all
// nodes (unlabelled ones too) with all edges. With [TrainEdges], edges without a train node are left out.
func NewView(g *Graph, s *Split, setting Setting, arrivals Arrivals) (*View, error) {
	if _, err := ParseSetting(string(setting)); err != nil {
		return nil, err
	}
	all := make([]int32, g.NumNodes())
	for v := range all {
		all[v] = int32(v)
	}
	if setting == Transductive {
		phase := func(score []int32) Phase { return Phase{Edges: g.Edges, Nodes: all, Score: score} }
		return &View{Setting: setting, Train: phase(s.Train), Validation: phase(s.Validation), Test: phase(s.Test)}, nil
	}
	if _, err := ParseArrivals(string(arrivals)); err != nil {
		return nil, err
	}
	train := make([]bool, g.NumNodes())
	for _, v := range s.Train {
		train[v] = true
	}
	keep := func(v, u int32) bool { return arrivals == AllEdges || train[v] || train[u] }
	phase := func(nodes, score []int32) (Phase, error) {
		edges, index, err := g.Edges.InducedWhere(nodes, keep)
		if err != nil {
			return Phase{}, err
		}
		local := make([]int32, len(score))
		for i, v := range score {
			local[i] = index[v]
		}
		return Phase{Edges: edges, Nodes: nodes, Score: local}, nil
	}
	view := &View{Setting: setting, Arrivals: arrivals}
	known := slices.Concat(s.Train, s.Validation)
	slices.Sort(known)
	for _, p := range []struct {
		into         *Phase
		nodes, score []int32
	}{{&view.Train, s.Train, s.Train}, {&view.Validation, known, s.Validation}, {&view.Test, all, s.Test}} {
		var err error
		if *p.into, err = phase(p.nodes, p.score); err != nil {
			return nil, err
		}
	}
	return view, nil
}
