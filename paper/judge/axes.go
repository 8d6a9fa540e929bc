// Package judge says what node masking does, by records: in the cited reading, where every choice is what the paper's
// text says or else what the works that it cites do, in the readings around it, by depth, and where arms are tuned. The
// rules are fixed in PROTOCOL.md and PROTOCOL-2.md, beside package paper.
package judge

import (
	"fmt"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/paper"
	"nodemask/paper/record"
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

// Matters reports whether the axis matters in a setting.
func (a Axis) Matters(setting datasets.Setting) bool { return a.Setting == "" || a.Setting == setting }

// Reading is one option of each axis, by number: a reading of the paper.
type Reading []int

// AllReadings lists all readings of a model in a setting. Axes that do not matter there stay at 0.
func AllReadings(axes []Axis, setting datasets.Setting) []Reading {
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
			for _, r := range q.Readings {
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
	return record.Merged(cells), nil
}

// Sizes returns the sizes of the train set that readings are compared at, in percent.
func Sizes() []int { return []int{10, 25, 50, 90} }
