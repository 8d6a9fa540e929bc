package hyper

import (
	"fmt"
	"strings"
)

// Traits tell one model from another: what it is called, where it starts from, what it can, and what it costs. A model
// has one row of them, in the table below, and its constructor beside its layer in package nmgnn.
type Traits struct {
	Name   string // as flags and records have it
	Title  string // as people write it; "": the name in capitals
	Preset string // its parameters start from; "": standard

	ELU       bool // between layers, where others have ReLU
	MLP       bool // a layer is an MLP of Parameters.MLPLayers linear layers, in which batch normalisation has a place
	Attention bool // the terms of a sum have weights, which can be dropped
	Heads     bool // share the hidden width, and weigh terms each by itself; else all terms of a node weigh alike
	SelfTerm  bool // a masked node's own term can be kept

	// For estimates of memory.
	WithSelf bool // layers read v ∪ N_v, not N_v
	Matrices int  // of weights, in each linear layer; 0: 1
}

// table returns a row for each model, in the order in which they are listed.
func table() []Traits {
	return []Traits{
		{Name: "gin", MLP: true},
		{Name: "gat", Preset: "gat", ELU: true, Attention: true, Heads: true, SelfTerm: true, WithSelf: true},
		{Name: "sgat", Preset: "gat", ELU: true, Attention: true, SelfTerm: true, WithSelf: true},
		{Name: "gcn", WithSelf: true},
		{Name: "sage", Title: "GraphSAGE", Matrices: 2},
		{Name: "gatv2", Title: "GATv2", Preset: "gat", ELU: true, Attention: true, Heads: true, SelfTerm: true, WithSelf: true,
			Matrices: 2},
	}
}

// Models lists the names of models.
func Models() []string { return namesWhere(func(Traits) bool { return true }) }

func namesWhere(has func(Traits) bool) (names []string) {
	for _, t := range table() {
		if has(t) {
			names = append(names, t.Name)
		}
	}
	return names
}

// TraitsOf returns a model's row, with defaults filled in; for a model that is not known, the defaults alone.
func TraitsOf(model string) Traits {
	t := Traits{Name: model}
	for _, row := range table() {
		if row.Name == model {
			t = row
		}
	}
	if t.Title == "" {
		t.Title = strings.ToUpper(model)
	}
	if t.Preset == "" {
		t.Preset = standard
	}
	t.Matrices = max(t.Matrices, 1)
	return t
}

// Title returns a model's name as people write it: "GATv2" for "gatv2".
func Title(model string) string { return TraitsOf(model).Title }

func unknownModel(model string) error {
	return fmt.Errorf("no model %q: expected one of %s", model, strings.Join(Models(), ", "))
}
