package hyper

import (
	"fmt"
	"slices"
	"strings"
)

// Norm names the place of batch normalisation in GIN; "": none.
type Norm string

const (
	// NormInside is after each linear layer of a GIN layer's MLP but the last, before its ReLU.
	NormInside Norm = "inside"
	// NormBoth is also after each hidden GIN layer, before the activation, as in the code of GIN's authors (Xu et al.
	// 2019). Logits are never normalised.
	NormBoth Norm = "both"
)

// Norms returns all names.
func Norms() []Norm { return []Norm{NormInside, NormBoth} }

// Readout names the source of the logits; "": the last layer's outputs.
type Readout string

const (
	// ReadoutLast computes the logits by a linear layer from the last representation, all layers being hidden.
	ReadoutLast Readout = "last"
	// ReadoutAll sums a linear layer's scores of every representation and the features: the jumping readout of GIN's
	// authors. All layers are hidden.
	ReadoutAll Readout = "all"
)

// Readouts returns all names.
func Readouts() []Readout { return []Readout{ReadoutLast, ReadoutAll} }

// DropoutOn names the place of dropout; "": every layer's and the readout's input; with [ReadoutAll], its scores.
type DropoutOn string

// DropoutOnScores applies only to the readout's scores, as in the code of GIN's authors.
const DropoutOnScores DropoutOn = "scores"

// SelfTerm tells how to mask a masked node's own term in sums over v ∪ N_v; "": like others (eqs. 7 and 9).
type SelfTerm string

// SelfKept keeps the term: by eq. 6 a masked node "can still appear as the root".
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
