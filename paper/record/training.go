package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
)

// training is the stored line of a record with readings.
type training struct {
	Data         string           `json:"data"`
	Model        string           `json:"model"`
	Setting      datasets.Setting `json:"setting"`
	TrainPercent int              `json:"train_percent"`
	// Choices are differences from the preset, by [Axis].Name.
	Choices  map[string]string `json:"choices,omitempty"`
	Seed     uint64            `json:"seed"` // of trial and split
	Split    string            `json:"split"`
	Readings Readings          `json:"readings"`
	Epochs   int               `json:"epochs"` // until every way of stopping has ended
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

func (t training) cell() (c Cell, err error) {
	if err := t.Setting.Check(); err != nil {
		return c, fmt.Errorf("not a training: %w", err)
	}
	if _, err = hyper.For(t.Model); err == nil {
		c = NewCell(t.Data, t.Model, t.Setting, t.TrainPercent)
		c.Resplit, c.Readings = true, true
		c, err = c.Choose(t.Choices)
	}
	if err != nil {
		return c, fmt.Errorf("a training with invalid choices: %w", err)
	}
	if t.TrainPercent < 1 || t.TrainPercent > 99 {
		return c, fmt.Errorf("a training with %d%% to train on: expected 1 to 99", t.TrainPercent)
	}
	return c, nil
}

// record completes head, the record of its cell.
func (t training) record(head Record) Record {
	head.Seed, head.SplitSeed, head.SplitHash, head.Readings = t.Seed, t.Seed, t.Split, t.Readings
	head.Epochs, head.Seconds, head.Backend, head.Digits, head.Version, head.Protocol = t.Epochs, t.Seconds, t.Backend,
		t.Digits, t.Version, t.Protocol
	return head
}

func checkReadings(r Record, c Cell) error {
	if r.Data == "" || r.SplitHash == "" || r.Seed == 0 || r.Protocol == "" {
		return errors.New("a training without data, split, seed or protocol")
	}
	if err := checkDigits(r); err != nil {
		return fmt.Errorf("a training with %w", err)
	}
	if !slices.Contains(Backends(), r.Backend) {
		return fmt.Errorf("a training of backend %.40q: expected one of %q", r.Backend, Backends())
	}
	known := ReadingNames(r.Setting)
	if len(r.Readings) == 0 {
		return fmt.Errorf("a training without readings: expected some of %q", known)
	}
	for name, reading := range r.Readings {
		if !slices.Contains(known, name) {
			return fmt.Errorf("a reading %.60q: expected one of %q", name, known)
		}
		if err := checkTimes(reading.BestEpoch, r.Epochs, c.Parameters.MaxEpochs, r.Seconds); err != nil {
			return fmt.Errorf("a training with %w", err)
		}
		for _, score := range []float64{reading.F1, reading.Cached, reading.ValidationF1} {
			if !(score >= 0 && score <= 100) {
				return fmt.Errorf("a score of %v: expected 0 to 100 percent", score)
			}
		}
		if r.Setting == datasets.Transductive && reading.Cached != 0 {
			return errors.New("a transductive training with scores from the cache")
		}
	}
	return nil
}

// Line returns a record as stored, without checksum and line break.
func Line(r Record) ([]byte, error) {
	if r.Readings != nil {
		return json.Marshal(trainingOf(r))
	}
	return json.Marshal(r)
}
