package hyper

import (
	"fmt"
	"slices"
	"strings"
)

// Norm names where batch normalisation stands in a GIN; "": nowhere.
type Norm string

const (
	// NormInside is after every linear layer of a GIN layer's MLP but the last, before its ReLU.
	NormInside Norm = "inside"
	// NormBoth is inside, and after each hidden GIN layer too, before the activation: as in the code of GIN's authors (Xu
	// et al. 2019). Logits are never normalised.
	NormBoth Norm = "both"
)

// Norms lists the names of where batch normalisation can stand.
func Norms() []Norm { return []Norm{NormInside, NormBoth} }

// Readout names what the logits are computed from; "": they are the last layer's outputs.
type Readout string

const (
	// ReadoutLast makes all layers hidden ones, and computes the logits from the last representation by a linear layer.
	ReadoutLast Readout = "last"
	// ReadoutAll makes all layers hidden ones too, and adds up a linear layer's scores for every representation, the
	// features among them: the jumping readout of GIN's authors.
	ReadoutAll Readout = "all"
)

// Readouts lists the names of readouts.
func Readouts() []Readout { return []Readout{ReadoutLast, ReadoutAll} }

// DropoutOn names where dropout is; "": on the input of every layer, and of the readout's; with [ReadoutAll] on its
// scores.
type DropoutOn string

// DropoutOnScores is on the scores of each representation that is read out, alone, as in the code of GIN's authors.
const DropoutOnScores DropoutOn = "scores"

// SelfTerm names what a mask does to a masked node's own term, in layers that sum over v ∪ N_v; "": it masks it like
// any other, as eqs. 7 and 9 have it.
type SelfTerm string

// SelfKept leaves the term in: by eq. 6 a masked node "can still appear as the root".
const SelfKept SelfTerm = "kept"

// checkReadings returns an error for names that do not exist, and for choices that the model has no place for.
func (p Parameters) checkReadings() error {
	traits := TraitsOf(p.Model)
	switch {
	case p.Norm != "" && !slices.Contains(Norms(), p.Norm):
		return fmt.Errorf("no batch normalisation %q: expected one of %q", p.Norm, Norms())
	case p.Norm != "" && !traits.MLP:
		return fmt.Errorf("batch normalisation %q for the model %s: expected none, since only GIN's MLPs have a place for it",
			p.Norm, p.Model)
	case p.Norm != "" && p.MLPLayers < 2:
		return fmt.Errorf("batch normalisation %q in MLPs of %d linear layer: expected 2 or more, since it stands between "+
			"them", p.Norm, p.MLPLayers)
	case p.Readout != "" && !slices.Contains(Readouts(), p.Readout):
		return fmt.Errorf("no readout %q: expected one of %q", p.Readout, Readouts())
	case p.DropoutOn != "" && p.DropoutOn != DropoutOnScores:
		return fmt.Errorf("no dropout on %q: expected one of [%q]", p.DropoutOn, DropoutOnScores)
	case p.DropoutOn == DropoutOnScores && p.Readout == "":
		return fmt.Errorf("dropout on %q without a readout: expected one of %q, which have scores", p.DropoutOn, Readouts())
	case p.SelfTerm != "" && p.SelfTerm != SelfKept:
		return fmt.Errorf("no self term %q: expected one of [%q]", p.SelfTerm, SelfKept)
	case p.SelfTerm != "" && !traits.SelfTerm:
		can := namesWhere(func(t Traits) bool { return t.SelfTerm })
		last := len(can) - 1
		return fmt.Errorf("self term %q for the model %s: expected none, since only %s and %s can keep it",
			p.SelfTerm, p.Model, strings.Join(can[:last], ", "), can[last])
	}
	return nil
}
