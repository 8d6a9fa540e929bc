package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
)

// trajectory is the line of a record with readings.
type trajectory struct {
	Data         string           `json:"data"`
	Model        string           `json:"model"`
	Setting      datasets.Setting `json:"setting"`
	TrainPercent int              `json:"train_percent"`
	// Choices are where the training differs from the model's preset: values by [Axis].Name.
	Choices map[string]string `json:"choices,omitempty"`
	Seed    uint64            `json:"seed"` // of the trial and of its split
	Split   string            `json:"split"`
	Readings
	Epochs   int     `json:"epochs"` // until the last way of stopping had ended it
	Seconds  float64 `json:"seconds"`
	Backend  string  `json:"backend"`
	Digits   string  `json:"digits,omitempty"`
	Version  string  `json:"version"`
	Protocol string  `json:"protocol"`
}

// trajectoryOf returns the line of a record with readings.
func trajectoryOf(r Record) trajectory {
	c := r.CellOf()
	c.Resplit = false
	choices := map[string]string{}
	for _, choice := range c.Choices() {
		choices[choice.Axis.Name] = choice.Value
	}
	return trajectory{r.Data, r.Model, r.Setting, r.TrainPercent, choices, r.Seed, r.SplitHash, *r.Readings, r.Epochs,
		r.Seconds, r.Backend, r.Digits, r.Version, r.Protocol}
}

// record returns what the line of a record with readings says, and its cell, if that can be.
func (t trajectory) record() (r Record, c Cell, err error) {
	if err := t.Setting.Check(); err != nil {
		return r, c, fmt.Errorf("not a trajectory: %w", err)
	}
	if _, err = hyper.For(t.Model); err == nil {
		c = NewCell(t.Data, t.Model, t.Setting, t.TrainPercent)
		c.Resplit, c.Readings = true, true
		c, err = c.Choose(t.Choices)
	}
	if err != nil {
		return r, c, fmt.Errorf("a trajectory with invalid choices: %w", err)
	}
	if t.TrainPercent < 1 || t.TrainPercent > 99 {
		return r, c, fmt.Errorf("a trajectory with %d%% to train on: expected 1 to 99", t.TrainPercent)
	}
	r = c.Read(t.Seed, t.Split, t.Readings)
	r.Epochs, r.Seconds, r.Backend, r.Digits, r.Version, r.Protocol = t.Epochs, t.Seconds, t.Backend, t.Digits,
		t.Version, t.Protocol
	return r, c, nil
}

// checkReadings returns an error for what no trial of the cell can give.
func checkReadings(r Record, c Cell) error {
	if r.Data == "" || r.SplitHash == "" || r.Seed == 0 || r.Protocol == "" {
		return errors.New("a trajectory without data, split, seed or protocol")
	}
	if err := checkDigits(r); err != nil {
		return fmt.Errorf("a trajectory with %w", err)
	}
	if !slices.Contains(Backends(), r.Backend) {
		return fmt.Errorf("a trajectory of backend %.40q: expected one of %q", r.Backend, Backends())
	}
	lists := [][][]float64{r.Readings.F1, r.Readings.ValidationF1, r.Readings.Cached}
	if r.Setting == datasets.Transductive {
		if lists = lists[:2]; r.Readings.Cached != nil {
			return errors.New("a transductive trajectory with scores from the cache")
		}
	}
	if err := checkWays(c, "best epochs", r.Readings.BestEpochs); err != nil {
		return err
	}
	for _, epochs := range r.Readings.BestEpochs {
		for _, best := range epochs {
			if err := checkTimes(best, r.Epochs, c.Parameters.MaxEpochs, r.Seconds); err != nil {
				return fmt.Errorf("a trajectory with %w", err)
			}
		}
	}
	for _, list := range lists {
		if err := checkWays(c, "scores", list); err != nil {
			return err
		}
		for _, scores := range list {
			for _, score := range scores {
				if !(score >= 0 && score <= 100) {
					return fmt.Errorf("a score of %v: expected 0 to 100 percent", score)
				}
			}
		}
	}
	return nil
}

// checkWays returns an error unless a list has one of what it lists for each way that the cell's trials are read in.
func checkWays[T any](c Cell, what string, list [][]T) error {
	stops, arrivals := c.Ways()
	if len(list) != stops {
		return fmt.Errorf("a trajectory with %s for %d ways of stopping: expected %d", what, len(list), stops)
	}
	for _, of := range list {
		if len(of) != arrivals {
			return fmt.Errorf("a trajectory with %s for %d kinds of arrivals: expected %d", what, len(of), arrivals)
		}
	}
	return nil
}

// Line returns a record as it is stored, without the line break.
func Line(r Record) ([]byte, error) {
	if r.Readings != nil {
		return json.Marshal(trajectoryOf(r))
	}
	return json.Marshal(r)
}
