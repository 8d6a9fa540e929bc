package record

import (
	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
)

// Reading is a training's result under one way of stopping and arriving. F1 is in percent, to three decimals.
type Reading struct {
	F1           float64 `json:"f1"`               // macro, on test nodes
	Cached       float64 `json:"cached,omitempty"` // macro, from the cache (inductive)
	ValidationF1 float64 `json:"validation_f1"`
	BestEpoch    int     `json:"best_epoch"`
}

// Readings holds a training's readings by [Cell.ReadingName].
type Readings map[string]Reading

// ReadingName returns stopping and, if inductive, arrivals: "either/train-edges".
func (c Cell) ReadingName() string {
	if c.Setting != datasets.Inductive {
		return string(c.Parameters.StopOn)
	}
	return string(c.Parameters.StopOn) + "/" + string(c.arrivals())
}

// ReadingNames returns all names in a setting.
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

// Trained returns the training that a cell is read off: with the preset's stopping and arrivals, and a new split per
// trial.
func (c Cell) Trained() Cell {
	usual := NewCell(c.Data, c.Parameters.Model, c.Setting, c.TrainPercent)
	c.Parameters.StopOn, c.Arrivals, c.Resplit, c.Cached, c.History = usual.Parameters.StopOn, "", true, false, false
	c.Readings = true
	return c
}

// Read returns a training's record ([Cell.Trained]).
func (c Cell) Read(seed uint64, split string, readings Readings) Record {
	c = c.Trained()
	return Record{Cell: c.Key(), Data: c.Data, Source: c.Data, Setting: c.Setting, TrainPercent: c.TrainPercent,
		Resplit: true, Parameters: c.Parameters, Seed: seed, SplitSeed: seed, SplitHash: split, Readings: readings}
}

// As returns the reading for c as a record, if it exists: with macro F1, also from the cache with new nodes together,
// but no other scores or losses.
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
