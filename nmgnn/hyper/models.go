package hyper

import (
	"fmt"
	"strings"
)

// Traits are a model's properties: its row in the table below.
type Traits struct {
	Name   string
	Title  string // display name; "": the name in capitals
	Preset string // name of the default parameters; "" means "standard"

	ELU       bool // activation ELU instead of ReLU
	MLP       bool // layers are MLPs of Parameters.MLPLayers linear layers, with optional batch normalisation
	Attention bool // neighbours have attention weights, which dropout can zero
	Heads     bool // the width is divided among attention heads
	SelfTerm  bool // a masked node's own term can stay unmasked

	Matrices int // weight matrices per linear layer, for estimates of memory; 0 means 1
}

func table() []Traits {
	return []Traits{
		{Name: "gin", MLP: true},
		{Name: "gat", Preset: "gat", ELU: true, Attention: true, Heads: true, SelfTerm: true},
		{Name: "sgat", Preset: "gat", ELU: true, Attention: true, SelfTerm: true},
		{Name: "gcn"},
		{Name: "sage", Title: "GraphSAGE", Matrices: 2},
		{Name: "gatv2", Title: "GATv2", Preset: "gat", ELU: true, Attention: true, Heads: true, SelfTerm: true,
			Matrices: 2},
	}
}

// Models returns the names of models.
func Models() (names []string) {
	for _, t := range table() {
		names = append(names, t.Name)
	}
	return names
}

// TraitsOf returns a model's traits with defaults filled in; for an unknown model, only the defaults.
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

// Title returns a model's display name: "GATv2" for "gatv2".
func Title(model string) string { return TraitsOf(model).Title }

func unknownModel(model string) error {
	return fmt.Errorf("no model %q: expected one of %s", model, strings.Join(Models(), ", "))
}
