package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"nodemask/datasets"
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

// Line returns a record as stored, without checksum and line break.
func Line(r Record) ([]byte, error) {
	if r.Readings != nil {
		return json.Marshal(trainingOf(r))
	}
	return json.Marshal(r)
}
