package hyper

import (
	"fmt"
	"slices"
	"strings"
)

// Norm selects where GIN normalises batches; "": nowhere.
type Norm string

const (
	// NormInside normalises each linear layer's output but the last in a GIN layer's MLP, before its ReLU.
	NormInside Norm = "inside"
	// NormBoth also normalises each hidden GIN layer's output, before the activation, as in the code of GIN's authors
	// (Xu et al. 2019). Logits are never normalised.
	NormBoth Norm = "both"
)

// Norms returns all names.
func Norms() []Norm { return []Norm{NormInside, NormBoth} }

// Readout selects how logits are computed; "": they are the last layer's outputs.
type Readout string

const (
	// ReadoutLast computes logits by a linear layer on the last representation; all layers are hidden.
	ReadoutLast Readout = "last"
	// ReadoutAll sums scores of a linear layer on every representation and on the features: the jumping readout of
	// GIN's authors. All layers are hidden.
	ReadoutAll Readout = "all"
)

// Readouts returns all names.
func Readouts() []Readout { return []Readout{ReadoutLast, ReadoutAll} }

// DropoutOn selects what dropout applies to; "": inputs of layers and readout; with [ReadoutAll], its scores.
type DropoutOn string

// DropoutOnScores applies dropout only to the readout's scores, as in the code of GIN's authors.
const DropoutOnScores DropoutOn = "scores"

// SelfTerm selects how a masked node's own term counts in sums over v ∪ N_v; "": masked like others (eqs. 7 and 9).
type SelfTerm string

// SelfKept keeps that term: by eq. 6 a masked node "can still appear as the root".
const SelfKept SelfTerm = "kept"

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
