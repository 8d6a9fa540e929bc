package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nodemask/datasets"
)

// The splits of the protocol: seeds from FirstSplit on.
const (
	FirstSplit = 500
	Splits     = 20
)

// Models lists the models that the paper has, as its protocol orders them.
func Models() []string { return []string{"gin", "gat", "sgat"} }

// Data lists the data sets of the protocol.
func Data() []string { return []string{"cora", "citeseer", "pubmed"} }

// Names of axes.
const (
	axisFeatures  = "features"
	axisDropout   = "dropout"
	axisRates     = "rates"
	axisRescale   = "rescale"
	axisBody      = "body"
	axisMasked    = "masked"
	axisSelf      = "self"
	axisAttention = "attention dropout"
	axisStop      = "stop"
	axisArrivals  = "arrivals"
)

// Axes lists the axes of a model. The first option of each is the cited reading's: [Reading] of zeros is the
// cited reading. It returns an error for models that the paper does not have.
func Axes(model string) ([]Axis, error) {
	common := []Axis{
		{Name: axisRescale, Title: "What is kept is divided by p", Masked: true, Paper: "silent; dropout does it",
			Options: Options("no", "yes: rescale=true")},
		{Name: axisMasked, Title: "Nodes that can be masked", Setting: datasets.Transductive, Masked: true,
			Paper:   "“over the nodes in the train set”; section 4.1: “the set of nodes of a given graph”",
			Options: Options("train nodes: over=train", "all: over=all")},
		{Name: axisStop, Title: "Early stopping follows", Read: true,
			Paper: "“early stopping criterion”; GAT's code: either of loss and accuracy",
			Options: Options("loss and accuracy: stop=either", "loss: stop=loss", "macro F1: stop=f1",
				"accuracy: stop=accuracy")},
		{Name: axisArrivals, Title: "New nodes arrive with", Setting: datasets.Inductive, Read: true,
			Paper: "“into G along with the corresponding edges”; eq. 4 has cached representations, of train nodes, for " +
				"all neighbours",
			Options: Options("edges to train nodes: arrivals=train-edges", "all edges: arrivals=all-edges",
				"all but validation nodes: arrivals=no-validation")},
	}
	switch model {
	case "gin":
		return append([]Axis{
			{Name: axisFeatures, Title: "Features", Paper: "silent",
				Options: Options("divided by their sum: normalize=true", "raw: normalize=false")},
			{Name: axisDropout, Title: "Dropout", Paper: "silent; GIN's authors have 0.5 or 0, on scores",
				Options: Options("0.5 on scores: dropout=0.5 dropout-on=scores", "none: dropout=0 dropout-on=inputs")},
			{Name: axisRates, Title: "Learning rate, L2", Paper: "silent; GIN's code has 0.01 and 0, GAT's 0.005 and 5e-4",
				Options: Options("0.01, 0: lr=0.01 decay=0", "0.005, 5e-4: lr=0.005 decay=0.0005")},
			{Name: axisBody, Title: "Body of GIN", Paper: "“behaves exactly like the GIN-0 architecture from the original " +
				"paper”",
				Options: Options("GIN-0: mlp=2 norm=both readout=all", "no normalisation: mlp=2 norm=none readout=all",
					"one linear layer: mlp=1 norm=none readout=all",
					"logits from the last representation: mlp=2 norm=both readout=last")},
		}, common...), nil
	case "gat", "sgat":
		return append([]Axis{
			{Name: axisSelf, Title: "A masked node to itself", Masked: true,
				Paper:   "eq. 6: “can still appear as the root”; eqs. 7 and 9 mask it",
				Options: Options("kept: self=kept", "masked: self=masked")},
			{Name: axisAttention, Title: "Attention dropout without masking", Plain: true,
				Paper:   "“the exact same hyper-parameters as in the original paper”",
				Options: Options("0.6: attention-dropout=0.6", "none: attention-dropout=0")},
		}, common...), nil
	}
	return nil, fmt.Errorf("no cited reading of %q: expected one of %q", model, Models())
}

// Part is a part of the protocol that asks about readings.
type Part string

// The parts, in the protocol's order.
const (
	// Cited is the cited reading with every value of what the paper's sentences disagree on (the edges of new nodes, a
	// masked node's own term), with and without rescaling, and for GAT and SGAT against no attention dropout too.
	Cited Part = "cited"
	// Departures are one step away from the cited reading, on Cora. On PubMed raw features are one of GIN's, as that step
	// is in the half of the stated readings that is not run there (ADDITIONS.md, beside package paper).
	Departures Part = "departures"
	// Stated are all readings in which what is stated or cited is fixed, and what the paper is silent about varies. On
	// PubMed those of GIN are a half fraction.
	Stated Part = "stated"
	// Scale is whether sums that are p of those in validation explain what masking does: normalisation × rescaling, on
	// Cora, ten splits.
	Scale Part = "scale"
	// Tables is what the paper's tables have besides: the cited reading and the fair comparison, at the other sizes.
	Tables Part = "tables"
	// Balanced is the tuned comparison in which all arms have the same sixteen configurations, crossed with a rate of
	// their own ([BalancedDesign]); it asks no question about readings.
	Balanced Part = "balanced"
)

// Parts lists them.
func Parts() []Part { return []Part{Cited, Departures, Stated, Scale, Tables, Balanced} }

// Splits returns how many splits the part has: all, or the first ten.
func (p Part) Splits() int {
	if p == Scale {
		return Splits / 2
	}
	return Splits
}

// QuestionOf returns what a part asks of a model on a data set in a setting. The first reading is the cited one. It
// returns an error for a model that the paper does not have.
func QuestionOf(part Part, data, model string, setting datasets.Setting) (Question, error) {
	axes, err := Axes(model)
	q := Question{Axes: axes, Data: data, Model: model, Setting: setting, Sizes: Sizes(),
		Seeds: Seeds(FirstSplit, part.Splits())}
	if err != nil {
		return q, err
	}
	switch part {
	case Tables:
		q.Sizes, q.Readings = []int{20, 33, 75}, vary(axes, setting, axisAttention)
	case Cited:
		q.Readings = vary(axes, setting, axisArrivals, axisSelf, axisRescale, axisAttention)
	case Departures:
		q.Readings = departures(axes, setting)
		if data == "pubmed" && model == "gin" {
			q.Readings = append(q.Readings, Choice{RawFeatures: true}.reading(axes, setting))
		}
	case Stated:
		q.Readings = vary(axes, setting, axisFeatures, axisDropout, axisRates, axisRescale)
		if data == "pubmed" && model == "gin" {
			q.Readings = slices.DeleteFunc(q.Readings, func(r Reading) bool {
				return (r[index(axes, axisFeatures)]+r[index(axes, axisDropout)]+r[index(axes, axisRates)])%2 == 1
			})
		}
	case Scale:
		q.Readings = slices.DeleteFunc(vary(axes, setting, axisBody, axisRescale), func(r Reading) bool {
			body := index(axes, axisBody)
			return body >= 0 && r[body] > 1 || setting == datasets.Inductive && r[index(axes, axisArrivals)] > 0
		})
	default:
		return q, fmt.Errorf("no part %q of the protocol: expected one of %q", part, Parts())
	}
	return q, nil
}

// First returns the readings of a question that are run before its others: the cited one, and the fair comparison with
// it.
func First(q Question) Question {
	first := []Reading{make(Reading, len(q.Axes)), Choice{Fair: true}.reading(q.Axes, q.Setting)}
	q.Readings = slices.DeleteFunc(slices.Clone(q.Readings), func(r Reading) bool {
		return !slices.ContainsFunc(first, func(of Reading) bool { return slices.Equal(r, of) })
	})
	return q
}

func index(axes []Axis, name string) int {
	return slices.IndexFunc(axes, func(a Axis) bool { return a.Name == name })
}

// vary lists the readings in which the named axes vary, among those that matter, and all else is cited. Arrivals
// without validation nodes are a departure, not an open choice.
func vary(axes []Axis, setting datasets.Setting, names ...string) []Reading {
	return slices.DeleteFunc(AllReadings(axes, setting), func(r Reading) bool {
		for i, axis := range axes {
			if r[i] > 0 && !slices.Contains(names, axis.Name) || axis.Name == axisArrivals && r[i] > 1 {
				return true
			}
		}
		return false
	})
}

// departures lists the cited reading and those that differ from it in one choice that is stated, cited or open.
func departures(axes []Axis, setting datasets.Setting) []Reading {
	all := []Reading{make(Reading, len(axes))}
	for i, axis := range axes {
		if !axis.Matters(setting) || slices.Contains([]string{axisFeatures, axisDropout, axisRates, axisRescale}, axis.Name) {
			continue
		}
		for option := range axis.Options[1:] {
			r := make(Reading, len(axes))
			r[i] = option + 1
			all = append(all, r)
		}
	}
	return all
}

// Departure says in what a reading differs from the cited one, "rescale: yes", or that it is the cited one.
func Departure(axes []Axis, r Reading) string {
	var steps []string
	for i, axis := range axes {
		if r[i] > 0 {
			steps = append(steps, axis.Name+": "+axis.Options[r[i]].Name)
		}
	}
	return cmp.Or(strings.Join(steps, "; "), Choice{}.String())
}
