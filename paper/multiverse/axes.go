// Package multiverse holds every reading of the paper that it leaves open: the choices as one table of axes, the
// trials that cover them, and what node masking does in each. The rules are fixed in PROTOCOL.md, beside
// package paper.
package multiverse

import (
	"fmt"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/paper"
	"nodemask/paper/record"
	"nodemask/paper/recordstore"
)

// Axis is one choice that the paper leaves open.
type Axis struct {
	Name    string // in lists and menus: "body"
	Title   string // for people: "Body of GIN"
	Paper   string // the sentence of the paper that bears on it, or "silent"
	Options []Option
	// Setting is where it matters; "": in both.
	Setting datasets.Setting
	// Masked says that it matters to masked trials alone, Plain to those without a mask.
	Masked, Plain bool
	// Read says that it is read off a trained model, not trained for.
	Read bool
}

// Option is one way to choose.
type Option struct {
	Name string // "two + norm inside"
	// Choices are the values of [record.Axis] that it stands for, by name. What is not listed is the model's preset.
	Choices map[string]string
}

// Options returns options by their names and what they choose, as "0.01, 5e-4: lr=0.01 decay=0.0005". A name alone
// chooses nothing.
func Options(texts ...string) (all []Option) {
	for _, text := range texts {
		name, choices, _ := strings.Cut(text, ": ")
		o := Option{Name: name, Choices: map[string]string{}}
		for _, choice := range strings.Fields(choices) {
			axis, value, _ := strings.Cut(choice, "=")
			o.Choices[axis] = value
		}
		all = append(all, o)
	}
	return all
}

// AxesOf lists the axes of a model, those that are read last. It returns an error for models that the paper does not
// have.
func AxesOf(model string) ([]Axis, error) {
	// Inductively the train nodes are all that can be masked. Stopping and arrivals are read off trained models, whatever
	// the model.
	common := []Axis{
		{Name: "masked", Title: "Nodes that can be masked", Setting: datasets.Transductive, Masked: true,
			Paper:   "“we randomly sample a Bernoulli select function over the nodes in the train set”",
			Options: Options("all: over=all", "train nodes: over=train")},
		{Name: "stop", Title: "Early stopping follows", Read: true,
			Paper: "“a small part that we designate as the validation set for evaluating the early stopping criterion”; the " +
				"criterion is not named",
			Options: Options("loss: stop=loss", "macro F1: stop=f1", "accuracy: stop=accuracy",
				"loss and accuracy: stop=either")},
		{Name: "arrivals", Title: "New nodes arrive with", Setting: datasets.Inductive, Read: true,
			Paper: "“we introduce the relevant nodes from the dataset into G along with the corresponding edges”",
			Options: Options("all edges: arrivals=all-edges", "edges to train nodes: arrivals=train-edges",
				"all but validation nodes: arrivals=no-validation")},
	}
	switch model {
	case "gin":
		return append([]Axis{
			{Name: "body", Title: "Body of GIN", Paper: "“behaves exactly like the GIN-0 architecture from the original " +
				"paper”, whose MLPs have two linear layers with batch normalisation",
				Options: Options("one linear: mlp=1", "two linear: mlp=2", "two, norm inside: mlp=2 norm=inside",
					"two, norm inside and after: mlp=2 norm=both")},
			{Name: "readout", Title: "Prediction from",
				Paper:   "silent; GIN's authors add up a linear layer on every layer's representation",
				Options: Options("last layer", "all layers: readout=all")},
			{Name: "dropout", Title: "Dropout", Paper: "silent; GIN's authors have 0 or 0.5",
				Options: Options("none: dropout=0", "0.5: dropout=0.5")},
			{Name: "features", Title: "Features", Paper: "silent",
				Options: Options("raw: normalize=false", "divided by their sum: normalize=true")},
			{Name: "rates", Title: "Learning rate, L2", Paper: "“We use the Adam optimizer”; the rates are not named",
				Options: Options("0.01, 5e-4: lr=0.01 decay=0.0005", "0.005, 0: lr=0.005 decay=0")},
		}, common...), nil
	case "gat", "sgat":
		return append([]Axis{
			{Name: "attention dropout", Title: "Attention dropout without masking", Plain: true,
				Paper: "“we set the exact same hyper-parameters as in the original paper”, which drops 0.6 of " +
					"attention; masking is “used instead of dropout on attention coefficients”",
				Options: Options("0.6: attention-dropout=0.6", "none: attention-dropout=0")},
			{Name: "self", Title: "A masked node to itself", Masked: true,
				Paper: "eqs. 7 and 9 multiply it by δ(v); eq. 6 does not: a masked node “can still appear as the " +
					"root”",
				Options: Options("masked", "kept: self=kept")},
		}, common...), nil
	}
	return nil, fmt.Errorf("no readings of %q: expected gin, gat or sgat", model)
}

// Reading is one option of each axis, by number: a reading of the paper.
type Reading []int

// Readings lists all readings of a model in a setting: those axes alone matter that Setting lets in; the others stay at
// 0.
func Readings(axes []Axis, setting datasets.Setting) []Reading {
	all := []Reading{make(Reading, len(axes))}
	for i, axis := range axes {
		if !axis.Matters(setting) {
			continue
		}
		var more []Reading
		for _, reading := range all {
			for option := range axis.Options {
				next := slices.Clone(reading)
				next[i] = option
				more = append(more, next)
			}
		}
		all = more
	}
	return all
}

// Arm is which of the two is trained.
type Arm bool

// The arms of every comparison.
const (
	Plain  Arm = false // without node masking
	Masked Arm = true  // with it, at the paper's keep rate
)

// Cell returns what is trained for an arm of a reading, and how it is read: its stopping and arrivals are set too.
func (r Reading) Cell(axes []Axis, arm Arm, data, model string, setting datasets.Setting,
	trainPercent int) (record.Cell, error) {
	c := record.NewCell(data, model, setting, trainPercent)
	c.Resplit = true
	values := map[string]string{"keep": "1"}
	if arm == Masked {
		values["keep"] = fmt.Sprint(paper.MaskedKeepRate)
	}
	for i, axis := range axes {
		if axis.Masked && arm != Masked || axis.Plain && arm != Plain || !axis.Matters(setting) {
			continue
		}
		for name, value := range axis.Options[r[i]].Choices {
			values[name] = value
		}
	}
	return c.Choose(values)
}

// Words describes a reading: "body: one linear; readout: all layers; …", without axes that do not matter in the
// setting.
func (r Reading) Words(axes []Axis, setting datasets.Setting) string {
	var words []string
	for i, axis := range axes {
		if axis.Matters(setting) {
			words = append(words, axis.Name+": "+axis.Options[r[i]].Name)
		}
	}
	return strings.Join(words, "; ")
}

// Cells lists what has to be trained to answer questions, both arms, each once.
func Cells(questions []Question) ([]record.Cell, error) {
	var cells []record.Cell
	for _, q := range questions {
		for _, size := range q.Sizes {
			for _, r := range q.Readings() {
				for _, arm := range []Arm{Plain, Masked} {
					c, err := r.Cell(q.Axes, arm, q.Data, q.Model, q.Setting, size)
					if err != nil {
						return nil, fmt.Errorf("%s: %w", r.Words(q.Axes, q.Setting), err)
					}
					cells = append(cells, c.Trained())
				}
			}
		}
	}
	return recordstore.Merged(cells), nil
}

// Sizes returns the sizes of the train set that readings are compared at, in percent.
func Sizes() []int { return []int{10, 25, 50, 90} }

// Splits is the number of splits of each size, and FirstSplit the seed of the first one.
const (
	Splits     = 10
	FirstSplit = 100
)
