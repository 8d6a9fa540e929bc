// Package record says what was measured: cells, and the records of their trials. It knows nothing of the paper, and
// keeps them in folders of files that any number of processes append to; package measure runs trials.
package record

import (
	"fmt"
	"strings"
	"unicode"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
)

// Cell describes how one number of a table, or one point of a chart, is measured. Its trials differ in their seed. JSON
// keeps all of it.
type Cell struct {
	Data         string           `json:"data"` // name of the data set
	Setting      datasets.Setting `json:"setting"`
	TrainPercent int              `json:"train_percent"`
	// Arrivals is how new nodes join, in the inductive setting; "" is with all their edges.
	Arrivals datasets.Arrivals `json:"arrivals,omitempty"`
	Resplit  bool              `json:"resplit,omitempty"` // each trial has a split of its own
	// OwnSplit is the data's own split, of which TrainPercent only says how large its train set is.
	OwnSplit bool `json:"own_split,omitempty"`
	// ValidationPercent of the nodes left after the train set are validation nodes; 0: 10.
	ValidationPercent int              `json:"validation_percent,omitempty"`
	Parameters        hyper.Parameters `json:"parameters"`

	// Cached also predicts new nodes from cached representations, together and apart, and History keeps the losses of
	// every epoch. Cells that differ in these alone are one cell, measured with both.
	Cached  bool `json:"cached,omitempty"`
	History bool `json:"history,omitempty"`
	// Readings reads trials in every way of stopping and arriving, instead of the cell's own: see [Cell.Trained].
	Readings bool `json:"readings,omitempty"`
}

// NewCell returns a cell with the model's preset. For a model that does not exist, Parameters.Check returns an error,
// as does all that trains the cell.
func NewCell(data, model string, setting datasets.Setting, trainPercent int) Cell {
	p, ok := presets()[model]
	if !ok {
		p.Model = model
	}
	return Cell{Data: data, Setting: setting, TrainPercent: trainPercent, Parameters: p}
}

// Masked returns the cell with node masking at a keep rate, and without attention dropout, as in the paper.
func (c Cell) Masked(keepRate float64) Cell {
	c.Parameters = c.Parameters.WithMasking(keepRate)
	return c
}

// With returns the cell with other hyperparameters.
func (c Cell) With(change func(*hyper.Parameters)) Cell {
	change(&c.Parameters)
	return c
}

// Choose returns the cell with values of axes, by [Axis].Name, which are set in the order of [Axes]: the keep rate
// takes attention dropout away before that may be set. It returns an error for a name that no axis has, and for values
// that cannot be.
func (c Cell) Choose(values map[string]string) (Cell, error) {
	left := len(values)
	for _, axis := range axes() {
		value, ok := values[axis.Name]
		if !ok {
			continue
		}
		if err := axis.Set(&c, value); err != nil {
			return c, fmt.Errorf("%s: %w", axis.Name, err)
		}
		left--
	}
	if left > 0 {
		return c, fmt.Errorf("choices %v: expected names of axes", values)
	}
	return c, c.Parameters.CheckRecorded()
}

// Fair returns the cell without masking or attention dropout: the baseline that masking is to be compared with.
func (c Cell) Fair() Cell {
	return c.Masked(1).With(func(p *hyper.Parameters) { p.AttentionDropout = 0 })
}

// Key returns the cell's name, the same for all that are measured alike. It lists what differs from the model's preset,
// for people to read and programs to compare, never to parse.
func (c Cell) Key() string {
	size := fmt.Sprintf("%d%%", c.TrainPercent)
	if c.OwnSplit {
		size = "own" // it has the size that it has
	}
	parts := []string{c.Data, c.Parameters.Model, string(c.Setting), size}
	for _, choice := range c.Choices() {
		parts = append(parts, choice.Axis.Name+"="+choice.Value)
	}
	return strings.Join(parts, "/")
}

// Label returns the cell's model and what differs from a usual cell in a few words: "GIN + NM, layers 4". A keep rate
// of keep goes without saying.
func (c Cell) Label(usual Cell, keep hyper.KeepRate) string {
	label := hyper.Title(c.Parameters.Model)
	if c.Parameters.KeepRate.Active() {
		label += " + NM"
	}
	for _, choice := range c.Differences(usual) {
		if choice.Axis.Name == keepAxis && c.Parameters.KeepRate == keep {
			continue
		}
		label += ", " + choice.Axis.label(choice.Value)
	}
	return label
}

// Arguments returns the arguments of the command nodemask that run trials of the cell.
func (c Cell) Arguments(trials int) []string {
	parts := []string{"train", "--data", c.Data, "--model", c.Parameters.Model, "--setting", string(c.Setting)}
	if !c.OwnSplit {
		parts = append(parts, "--train", fmt.Sprint(c.TrainPercent))
	}
	parts = append(parts, "--trials", fmt.Sprint(trials))
	for _, choice := range c.Choices() {
		parts = append(parts, "--"+choice.Axis.Flag)
		if choice.Axis.Switch == "" {
			parts = append(parts, choice.Value)
		}
	}
	if c.Cached {
		parts = append(parts, "--cache-inference")
	}
	return append(parts, "--json")
}

// Command returns the command line that runs trials of the cell, for a POSIX shell.
func (c Cell) Command(trials int) string {
	parts := append([]string{"nodemask"}, c.Arguments(trials)...)
	for i, part := range parts {
		parts[i] = quoted(part)
	}
	return strings.Join(parts, " ")
}

// quoted returns a word as a shell reads it as one: data have the names of folders, with blanks and what else there is.
func quoted(word string) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_=+:,./%@", r)
	}
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Measures reports whether trials of c have all that trials of other have.
func (c Cell) Measures(other Cell) bool {
	return (c.Cached || !other.Cached) && (c.History || !other.History)
}
