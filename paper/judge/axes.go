// Package judge decides from records whether node masking helps, in each reading (interpretation) of the paper. The
// main one, the cited reading, fills gaps from the works that the paper cites. The package also defines experiments on
// model depth, and compares tuned regularisers. The protocols in package paper fix the rules.
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
	Name    string   `json:"name"`  // "body"
	Title   string   `json:"title"` // "Body of GIN"
	Options []Option `json:"options"`
	// Setting limits the axis to a setting; "" means both.
	Setting datasets.Setting `json:"setting,omitempty"`
	// Masked limits the axis to masked trials, Plain to unmasked ones.
	Masked bool `json:"masked,omitempty"`
	Plain  bool `json:"plain,omitempty"`
}

// Option is one way to settle a choice that the paper leaves open.
type Option struct {
	Name string `json:"name"` // "two + norm inside"
	// Choices maps names of [record.Axis] to values. Axes not in Choices keep the value of the model's preset.
	Choices map[string]string `json:"choices"`
}

// Options parses texts of the form "name: choices" or "name". In "0.01, 5e-4: lr=0.01 decay=0.0005", the name is
// "0.01, 5e-4", and the choices set lr and decay.
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

// Matters reports whether the axis applies in a setting.
func (a Axis) Matters(setting datasets.Setting) bool { return a.Setting == "" || a.Setting == setting }

// Reading is one interpretation of the paper: the index of an option for each [Axis].
type Reading []int

// AllReadings returns all combinations of options. Axes that do not apply in the setting keep option 0.
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

// Arm is training without or with masking.
type Arm bool

// The sides of a comparison.
const (
	Plain  Arm = false
	Masked Arm = true // with masking at the paper's keep rate
)

// Cell returns the experiment under this interpretation of the paper.
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

// Cells returns the experiments that questions need, each once.
func Cells(questions []Question) ([]record.Cell, error) {
	var cells []record.Cell
	for _, q := range questions {
		for _, size := range q.Sizes {
			for _, r := range q.Readings {
				for _, arm := range []Arm{Plain, Masked} {
					c, err := r.Cell(q.Axes, arm, q.Data, q.Model, q.Setting, size)
					if err != nil {
						return nil, fmt.Errorf("%s: %w", Departure(q.Axes, r), err)
					}
					cells = append(cells, c.Trained())
				}
			}
		}
	}
	return record.Merged(cells), nil
}

// Sizes returns the compared train set sizes, in percent.
func Sizes() []int { return []int{10, 25, 50, 90} }
