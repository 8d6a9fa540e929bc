package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
)

type training struct {
	Data         string           `json:"data"`
	Model        string           `json:"model"`
	Setting      datasets.Setting `json:"setting"`
	TrainPercent int              `json:"train_percent"`
	// Choices maps names of settings ([Axis].Name) to their values, where these differ from the model's preset.
	Choices  map[string]string `json:"choices,omitempty"`
	Seed     uint64            `json:"seed"` // of trial and split
	Split    string            `json:"split"`
	Readings Readings          `json:"readings"`
	Epochs   int               `json:"epochs"` // run until all stopping rules have stopped
	Seconds  float64           `json:"seconds"`
	Backend  string            `json:"backend"`
	Digits   string            `json:"digits,omitempty"`
	Version  string            `json:"version"`
	Protocol string            `json:"protocol"`
}

func trainingOf(r Record) training {
	c := r.CellOf()
	c.Resplit = false
	choices := map[string]string{}
	for _, choice := range c.Choices() {
		choices[choice.Axis.Name] = choice.Value
	}
	return training{r.Data, r.Model, r.Setting, r.TrainPercent, choices, r.Seed, r.SplitHash, r.Readings, r.Epochs,
		r.Seconds, r.Backend, r.Digits, r.Version, r.Protocol}
}

func (t training) record() (Record, error) {
	c, err := NewCell(t.Data, t.Model, t.Setting, t.TrainPercent).Choose(t.Choices)
	if err != nil {
		return Record{}, fmt.Errorf("a training with invalid choices: %w", err)
	}
	r := c.Read(t.Seed, t.Split, t.Readings)
	r.Epochs, r.Seconds, r.Backend, r.Digits, r.Version, r.Protocol = t.Epochs, t.Seconds, t.Backend, t.Digits, t.Version,
		t.Protocol
	return r, nil
}

func checkReadings(r Record) error {
	known := ReadingNames(r.Setting)
	if r.Data == "" || r.Protocol == "" || len(r.Readings) == 0 {
		return fmt.Errorf("data %.60q, protocol %.20q and %d readings: expected all, readings of %q", r.Data, r.Protocol,
			len(r.Readings), known)
	}
	for name, reading := range r.Readings {
		if !slices.Contains(known, name) {
			return fmt.Errorf("a reading %.60q: expected one of %q", name, known)
		}
		if r.Setting == datasets.Transductive && reading.Cached != 0 {
			return errors.New("scores from the cache: expected none, as the setting is transductive")
		}
		if err := checkTimes(reading.BestEpoch, r); err != nil {
			return err
		}
		if err := checkScores(&reading.F1, &reading.Cached, &reading.ValidationF1); err != nil {
			return err
		}
	}
	return nil
}

// Line returns a record's stored JSON, without checksum and line break.
func Line(r Record) ([]byte, error) {
	if r.Readings != nil {
		return json.Marshal(trainingOf(r))
	}
	return json.Marshal(r)
}

// Reading is a trial's result under one stopping rule and one way for new nodes to join the graph. F1 is in percent, to
// three decimals.
type Reading struct {
	F1           float64 `json:"f1"`               // macro F1 on test nodes
	Cached       float64 `json:"cached,omitempty"` // macro F1 from the cache (inductive)
	ValidationF1 float64 `json:"validation_f1"`
	BestEpoch    int     `json:"best_epoch"`
}

// Readings holds a trial's results: one for each stopping rule and, in the inductive setting, each way for new nodes to
// join the graph. The keys are [Cell.ReadingName]s.
type Readings map[string]Reading

// ReadingName returns c's stopping rule and, in the inductive setting, how new nodes join the graph. In
// "either/train-edges", "either" is the rule, and "train-edges" the way for new nodes to join.
func (c Cell) ReadingName() string {
	if c.Setting != datasets.Inductive {
		return string(c.Parameters.StopOn)
	}
	return string(c.Parameters.StopOn) + "/" + string(c.arrivals())
}

// ReadingNames returns all values of [Cell.ReadingName] in a setting.
func ReadingNames(setting datasets.Setting) (all []string) {
	ways := datasets.AllArrivals()
	if setting != datasets.Inductive {
		ways = ways[:1]
	}
	for _, on := range hyper.StopOns() {
		for _, way := range ways {
			c := Cell{Setting: setting, Arrivals: way, Parameters: hyper.Parameters{StopOn: on}}
			all = append(all, c.ReadingName())
		}
	}
	return all
}

// Trained returns the experiment to run for c. Cells that differ only in stopping rule, or in how new nodes join the
// graph (Arrivals), share it: each of its trials has a [Reading] for every combination. The returned experiment has the
// stopping rule of the model's preset, the default for Arrivals, and a new split per trial.
func (c Cell) Trained() Cell {
	usual := NewCell(c.Data, c.Parameters.Model, c.Setting, c.TrainPercent)
	c.Parameters.StopOn, c.Arrivals, c.Resplit, c.Cached, c.History = usual.Parameters.StopOn, "", true, false, false
	c.Readings = true
	return c
}

// Read returns the record of one trial of the experiment c.Trained(). The argument readings holds the trial's results.
func (c Cell) Read(seed uint64, split string, readings Readings) Record {
	c = c.Trained()
	return Record{Cell: c.Key(), Data: c.Data, Source: c.Data, Setting: c.Setting, TrainPercent: c.TrainPercent,
		Resplit: true, Parameters: c.Parameters, Seed: seed, SplitSeed: seed, SplitHash: split, Readings: readings}
}

// As returns a record of c with the one of r's results that has c's stopping rule and c's rule for adding new nodes to
// the graph. It returns false if r has no such result. The record lacks accuracy, micro F1 and losses.
func (r Record) As(c Cell) (Record, bool) {
	reading, ok := r.Readings[c.ReadingName()]
	c.Readings, r.Readings, r.Protocol = false, nil, ""
	if r.Setting == datasets.Inductive {
		c.Arrivals, r.MacroF1Together = c.arrivals(), &reading.Cached
	}
	r.Cell, r.Arrivals, r.Parameters = c.Key(), c.Arrivals, c.Parameters
	r.MacroF1, r.ValidationF1, r.BestEpoch = reading.F1, reading.ValidationF1, reading.BestEpoch
	return r, ok
}
