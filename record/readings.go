package record

import (
	"errors"
	"fmt"
	"slices"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
)

// Readings is everything that is read off one trial, which has a split of its own, from its seed: a score for each way
// of stopping, each way for new nodes to arrive, and with and without the cache.
//
// The lists are by hyper.StopOns, then by datasets.AllArrivals; in the transductive setting, where nothing arrives, the
// inner lists have one number. F1 is in percent, rounded to three digits after the point.
type Readings struct {
	F1           [][]float64 `json:"f1"`               // macro F1 on the test nodes
	Cached       [][]float64 `json:"cached,omitempty"` // the same from the cache, in the inductive setting
	ValidationF1 [][]float64 `json:"validation_f1"`
	BestEpochs   [][]int     `json:"best_epochs"`
}

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

// Trained returns a cell that is read in every way: what is read off afterwards (stopping, arrivals) is the preset's,
// and each trial has a split of its own.
func (c Cell) Trained() Cell {
	usual := NewCell(c.Data, c.Parameters.Model, c.Setting, c.TrainPercent)
	c.Parameters.StopOn, c.Arrivals, c.Resplit, c.Cached, c.History = usual.Parameters.StopOn, "", true, false, false
	c.Readings = true
	return c
}

// Read returns the record of a trial that was read in every way, of a cell as it is trained ([Cell.Trained]).
func (c Cell) Read(seed uint64, split string, readings Readings) Record {
	c = c.Trained()
	return Record{Cell: c.Key(), Data: c.Data, Source: c.Data, Setting: c.Setting, TrainPercent: c.TrainPercent,
		Resplit: true, Parameters: c.Parameters, Seed: seed, SplitSeed: seed, SplitHash: split, Readings: &readings}
}

// trajectory returns the line of a record with readings.
func (r Record) trajectory() trajectory {
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
func (r Record) checkReadings(c Cell) error {
	if r.Data == "" || r.SplitHash == "" || r.Seed == 0 || r.Protocol == "" {
		return errors.New("a trajectory without data, split, seed or protocol")
	}
	if err := r.checkDigits(); err != nil {
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
	stops, arrivals := len(hyper.StopOns()), NumArrivals(r.Setting)
	if len(r.Readings.BestEpochs) != stops {
		return fmt.Errorf("a trajectory with best epochs for %d ways of stopping: expected %d", len(r.Readings.BestEpochs),
			stops)
	}
	for _, epochs := range r.Readings.BestEpochs {
		if len(epochs) != arrivals {
			return fmt.Errorf("a trajectory with best epochs for %d kinds of arrivals: expected %d", len(epochs), arrivals)
		}
		for _, best := range epochs {
			if err := checkTimes(best, r.Epochs, c.Parameters.MaxEpochs, r.Seconds); err != nil {
				return fmt.Errorf("a trajectory with %w", err)
			}
		}
	}
	for _, list := range lists {
		if len(list) != stops {
			return fmt.Errorf("a trajectory with scores for %d ways of stopping: expected %d", len(list), stops)
		}
		for _, scores := range list {
			if len(scores) != arrivals {
				return fmt.Errorf("a trajectory with scores for %d kinds of arrivals: expected %d", len(scores), arrivals)
			}
			for _, score := range scores {
				if !(score >= 0 && score <= 100) {
					return fmt.Errorf("a score of %v: expected 0 to 100 percent", score)
				}
			}
		}
	}
	return nil
}

// scanTrajectory reads a record with readings from its seed on, as [Record.Line] writes it.
func scanTrajectory(s *scanner, r *Record) {
	s.needs(seedField)
	r.Seed = s.whole()
	r.SplitSeed = r.Seed
	s.needs(`,"split":`)
	r.SplitHash = s.text()
	var all Readings
	s.needs(`,"f1":`)
	all.F1 = s.table()
	if s.has(`,"cached":`) {
		all.Cached = s.table()
	}
	s.needs(`,"validation_f1":`)
	all.ValidationF1 = s.table()
	s.needs(`,"best_epochs":`)
	all.BestEpochs = s.counts()
	r.Readings = &all
	s.needs(`,"epochs":`)
	r.Epochs = int(s.whole())
	s.needs(`,"seconds":`)
	r.Seconds = s.float()
	s.needs(`,"backend":`)
	r.Backend = s.text()
	if s.has(`,"digits":`) {
		r.Digits = s.text()
	}
	s.needs(`,"version":`)
	r.Version = s.text()
	s.needs(`,"protocol":`)
	r.Protocol = s.text()
}

// NumArrivals returns how many ways to arrive a trial is read in.
func NumArrivals(s datasets.Setting) int {
	if s == datasets.Transductive {
		return 1
	}
	return len(datasets.AllArrivals())
}

// Records returns what is read off a record with readings as records of cells: one for each way of stopping, and of
// arriving in the inductive setting.
func (r Record) Records() []Record {
	var all []Record
	for _, on := range hyper.StopOns() {
		for j := range NumArrivals(r.Setting) {
			c := r.CellOf()
			c.Parameters.StopOn = on
			if r.Setting == datasets.Inductive {
				c.Arrivals = datasets.AllArrivals()[j]
			}
			all = append(all, r.As(c))
		}
	}
	return all
}

// As returns what is read off a record with readings of a cell ([Cell.Trained]) as the cell stops and nodes arrive in
// it. It has macro F1, also from the cache with new nodes together; what readings do not keep (micro F1, accuracy,
// smoothness, losses) it lacks.
func (r Record) As(c Cell) Record {
	all := r.Readings
	c.Readings, r.Readings, r.Protocol = false, nil, ""
	i, j := c.Way()
	if r.Setting == datasets.Inductive {
		c.Arrivals = c.arrivals()
	}
	r.Cell, r.Arrivals, r.Parameters = c.Key(), c.Arrivals, c.Parameters
	r.MacroF1, r.ValidationF1, r.BestEpoch = all.F1[i][j], all.ValidationF1[i][j], all.BestEpochs[i][j]
	if all.Cached != nil {
		r.MacroF1Together = &all.Cached[i][j]
	}
	return r
}

// Way returns where [Readings] have a cell's way of stopping and of arriving.
func (c Cell) Way() (stop, arrivals int) {
	stop = slices.Index(hyper.StopOns(), c.Parameters.StopOn)
	if c.Setting == datasets.Inductive {
		arrivals = slices.Index(datasets.AllArrivals(), c.arrivals())
	}
	return stop, arrivals
}
