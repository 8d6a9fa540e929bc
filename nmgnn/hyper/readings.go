package hyper

import (
	"fmt"
	"slices"
	"strings"
)

// Norm names where batch normalisation stands in a GIN.
type Norm string

const (
	NormNone Norm = ""
	// NormInside is after every linear layer of a GIN layer's MLP but the last, before its ReLU.
	NormInside Norm = "inside"
	// NormBoth is inside, and after each hidden GIN layer too, before the activation: as in the code of GIN's authors (Xu
	// et al. 2019). Logits are never normalised.
	NormBoth Norm = "both"
)

// Norms lists the names of where batch normalisation can stand.
func Norms() []Norm { return []Norm{NormInside, NormBoth} }

// Readout names what the logits are computed from.
type Readout string

const (
	// ReadoutNone takes the last layer's outputs as logits.
	ReadoutNone Readout = ""
	// ReadoutLast makes all layers hidden ones, and computes the logits from the last representation by a linear layer.
	ReadoutLast Readout = "last"
	// ReadoutAll makes all layers hidden ones too, and adds up a linear layer's scores for every representation, the
	// features among them: the jumping readout of GIN's authors.
	ReadoutAll Readout = "all"
)

// Readouts lists the names of readouts.
func Readouts() []Readout { return []Readout{ReadoutLast, ReadoutAll} }

// DropoutOn names where dropout is.
type DropoutOn string

const (
	// DropoutOnInputs is on the input of every layer, and of the readout's; with [ReadoutAll] on its scores.
	DropoutOnInputs DropoutOn = ""
	// DropoutOnScores is on the scores of each representation that is read out, alone, as in the code of GIN's authors.
	DropoutOnScores DropoutOn = "scores"
)

// DropoutOns lists where dropout can be, besides on inputs.
func DropoutOns() []DropoutOn { return []DropoutOn{DropoutOnScores} }

// SelfTerm names what a mask does to a masked node's own term, in layers that sum over v ∪ N_v.
type SelfTerm string

const (
	// SelfMasked masks it like any other, as eqs. 7 and 9 have it.
	SelfMasked SelfTerm = ""
	// SelfKept leaves it in: by eq. 6 a masked node "can still appear as the root".
	SelfKept SelfTerm = "kept"
)

// SelfTerms lists the names of what a mask does to a node's own term, besides masking it.
func SelfTerms() []SelfTerm { return []SelfTerm{SelfKept} }

// checkReadings returns an error for names that do not exist, and for choices that the model has no place for.
func (p Parameters) checkReadings() error {
	traits := TraitsOf(p.Model)
	switch {
	case p.Norm != NormNone && !slices.Contains(Norms(), p.Norm):
		return fmt.Errorf("no batch normalisation %q: expected one of %q", p.Norm, Norms())
	case p.Norm != NormNone && !traits.MLP:
		return fmt.Errorf("batch normalisation %q for the model %s: expected none, since only GIN's MLPs have a place for it",
			p.Norm, p.Model)
	case p.Norm != NormNone && p.MLPLayers < 2:
		return fmt.Errorf("batch normalisation %q in MLPs of %d linear layer: expected 2 or more, since it stands between "+
			"them", p.Norm, p.MLPLayers)
	case p.Readout != ReadoutNone && !slices.Contains(Readouts(), p.Readout):
		return fmt.Errorf("no readout %q: expected one of %q", p.Readout, Readouts())
	case p.DropoutOn != DropoutOnInputs && !slices.Contains(DropoutOns(), p.DropoutOn):
		return fmt.Errorf("no dropout on %q: expected one of %q", p.DropoutOn, DropoutOns())
	case p.DropoutOn == DropoutOnScores && p.Readout == ReadoutNone:
		return fmt.Errorf("dropout on %q without a readout: expected one of %q, which have scores", p.DropoutOn, Readouts())
	case p.SelfTerm != SelfMasked && !slices.Contains(SelfTerms(), p.SelfTerm):
		return fmt.Errorf("no self term %q: expected one of %q", p.SelfTerm, SelfTerms())
	case p.SelfTerm != SelfMasked && !traits.SelfTerm:
		can := namesWhere(func(t Traits) bool { return t.SelfTerm })
		last := len(can) - 1
		return fmt.Errorf("self term %q for the model %s: expected none, since only %s and %s can keep it",
			p.SelfTerm, p.Model, strings.Join(can[:last], ", "), can[last])
	}
	return nil
}
