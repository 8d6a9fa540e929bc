// Package record defines cells (experiments) and records of their trials. It stores records in folders to which many
// processes may append.
package record

import (
	"fmt"
	"strings"
	"unicode"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
)

// Cell is an experiment. The trials of a cell differ only in their seed.
type Cell struct {
	Data         string           `json:"data"`
	Setting      datasets.Setting `json:"setting"`
	TrainPercent int              `json:"train_percent"`
	// Arrivals says which edges nodes bring when they join the graph after training (inductive setting); "" means all.
	Arrivals datasets.Arrivals `json:"arrivals,omitempty"`
	Resplit  bool              `json:"resplit,omitempty"` // a new split per trial
	// With OwnSplit, trials use the split that comes with the data, and TrainPercent is only the size of its train set.
	OwnSplit bool `json:"own_split,omitempty"`
	// ValidationPercent is the share of the nodes outside the train set that are validation nodes; 0 means 10.
	ValidationPercent int              `json:"validation_percent,omitempty"`
	Parameters        hyper.Parameters `json:"parameters"`

	// With Cached, trials also predict new nodes from cached representations of train nodes, once with and once without
	// the edges between new nodes. With History, records keep every epoch's losses. [Cell.Key] leaves both fields out.
	Cached  bool `json:"cached,omitempty"`
	History bool `json:"history,omitempty"`
	// With Readings, each trial is evaluated under every stopping rule and every value of Arrivals: see [Cell.Trained].
	Readings bool `json:"readings,omitempty"`
}

// NewCell returns a cell with the model's preset. Unknown models fail later, in Parameters.Check and training.
func NewCell(data, model string, setting datasets.Setting, trainPercent int) Cell {
	p, ok := presets()[model]
	if !ok {
		p.Model = model
	}
	return Cell{Data: data, Setting: setting, TrainPercent: trainPercent, Parameters: p}
}

// Masked returns the cell with masking and, as in the paper, without attention dropout.
func (c Cell) Masked(keepRate float64) Cell {
	c.Parameters = c.Parameters.WithMasking(keepRate)
	return c
}

// With returns the cell with changed hyperparameters.
func (c Cell) With(change func(*hyper.Parameters)) Cell {
	change(&c.Parameters)
	return c
}

// Choose returns the cell with the given values, keyed by [Axis].Name. It sets masking's keep rate before attention
// dropout, because setting the keep rate removes attention dropout. Unknown names and invalid values are errors.
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

// Fair returns the fair baseline for masking, with neither masking nor attention dropout.
func (c Cell) Fair() Cell {
	return c.Masked(1).With(func(p *hyper.Parameters) { p.AttentionDropout = 0 })
}

// Key identifies a cell by data, model, setting, train set size and differences from the preset. Compare keys, never
// parse them.
func (c Cell) Key() string {
	size := fmt.Sprintf("%d%%", c.TrainPercent)
	if c.OwnSplit {
		size = "own"
	}
	parts := []string{c.Data, c.Parameters.Model, string(c.Setting), size}
	for _, choice := range c.Choices() {
		parts = append(parts, choice.Axis.Name+"="+choice.Value)
	}
	return strings.Join(parts, "/")
}

// Label describes c, such as "GIN + NM, layers 4": the model's name, then each setting that differs from the argument
// usual, which has the same model. A keep rate equal to the argument keep is left out.
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

// Arguments returns the command-line arguments with which nodemask runs trials of c.
func (c Cell) Arguments(trials int) []string {
	parts := []string{"train", "--data", c.Data, "--model", c.Parameters.Model, "--setting", string(c.Setting)}
	if !c.OwnSplit {
		parts = append(parts, "--train", fmt.Sprint(c.TrainPercent))
	}
	parts = append(parts, "--trials", fmt.Sprint(trials))
	for _, choice := range c.Choices() {
		parts = append(parts, choice.Arguments()...)
	}
	if c.Cached {
		parts = append(parts, "--cache-inference")
	}
	return append(parts, "--json")
}

// Command returns the POSIX shell command that runs trials of c.
func (c Cell) Command(trials int) string {
	parts := append([]string{"nodemask"}, c.Arguments(trials)...)
	for i, part := range parts {
		parts[i] = quoted(part)
	}
	return strings.Join(parts, " ")
}

func quoted(word string) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_=+:,./%@", r)
	}
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Measures reports whether c's trials record every measurement that d's trials record.
func (c Cell) Measures(d Cell) bool {
	return (c.Cached || !d.Cached) && (c.History || !d.History)
}
