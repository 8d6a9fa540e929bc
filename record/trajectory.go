package record

import (
	"errors"
	"fmt"
	"slices"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
)

// Trajectory is one training run with everything that is read off it, as a line of JSON: a score for each way of
// stopping, each way for new nodes to arrive, and with and without the cache. Its trial has a split of its own, from
// its seed.
//
// The lists are by hyper.StopOns, then by datasets.AllArrivals; in the transductive setting, where nothing arrives, the
// inner lists have one number. F1 is in percent, rounded to three digits after the point.
type Trajectory struct {
	Data         string           `json:"data"`
	Model        string           `json:"model"`
	Setting      datasets.Setting `json:"setting"`
	TrainPercent int              `json:"train_percent"`
	// Choices are where the training differs from the model's preset: values by [Axis].Name.
	Choices map[string]string `json:"choices,omitempty"`
	Seed    uint64            `json:"seed"` // of the trial and of its split
	Split   string            `json:"split"`

	F1           [][]float64 `json:"f1"`               // macro F1 on the test nodes
	Cached       [][]float64 `json:"cached,omitempty"` // the same from the cache, in the inductive setting
	ValidationF1 [][]float64 `json:"validation_f1"`
	BestEpochs   [][]int     `json:"best_epochs"`

	Epochs   int     `json:"epochs"` // until the last way of stopping had ended it
	Seconds  float64 `json:"seconds"`
	Backend  string  `json:"backend"`
	Version  string  `json:"version"`
	Protocol string  `json:"protocol"` // hash of the rules that it was run under, fixed before
}

// Trained returns a cell as a trajectory trains it: what is read off afterwards (stopping, arrivals) is the preset's,
// and each trial has a split of its own.
func (c Cell) Trained() Cell {
	usual := NewCell(c.Data, c.Parameters.Model, c.Setting, c.TrainPercent)
	c.Parameters.StopOn, c.Arrivals, c.Resplit, c.Cached, c.History = usual.Parameters.StopOn, "", true, false, false
	return c
}

// TrainedChoices returns where the training of a cell differs from its model's preset, as a [Trajectory] keeps it.
func (c Cell) TrainedChoices() map[string]string {
	c = c.Trained()
	c.Resplit = false
	choices := map[string]string{}
	for _, choice := range c.Choices() {
		choices[choice.Axis.Name] = choice.Value
	}
	return choices
}

// Cell returns the cell that a trajectory's training is a trial of ([Cell.Trained]), or an error if its choices cannot
// be.
func (t Trajectory) Cell() (Cell, error) {
	if _, err := hyper.For(t.Model); err != nil {
		return Cell{}, err
	}
	c := NewCell(t.Data, t.Model, t.Setting, t.TrainPercent)
	c.Resplit = true
	return c.Choose(t.Choices)
}

// parseTrajectory reads a stored trajectory and checks that it can be one: its lists are complete, its scores
// percentages, its epochs in order, its parameters valid and its backend one of [Backends].
func parseTrajectory(line []byte) (Trajectory, error) {
	t, err := newReader(trajectories).parse(line)
	if err != nil {
		return Trajectory{}, err
	}
	return t.value, nil
}

// trajectories is how trajectories are read.
var trajectories = format[Trajectory]{name: "a trajectory", cellOf: trainedCell, check: Trajectory.check,
	rest: scanTrajectory, pair: func(t Trajectory) Pair { return Pair{t.Data, t.Model} },
	id:          func(t Trajectory, key string) TrialID { return TrialID{key, t.Seed, t.Backend} },
	measured:    func(Trajectory) Cell { return Cell{} }, // each has all that a trajectory has
	differences: Trajectory.Differences}

// trainedCell returns a trajectory's cell, if all that the trajectory says of it can be.
func trainedCell(t Trajectory) (Cell, error) {
	if _, err := datasets.ParseSetting(string(t.Setting)); err != nil {
		return Cell{}, fmt.Errorf("not a trajectory: %w", err)
	}
	c, err := t.Cell()
	if err != nil {
		return c, fmt.Errorf("a trajectory with invalid choices: %w", err)
	}
	if t.TrainPercent < 1 || t.TrainPercent > 99 {
		return c, fmt.Errorf("a trajectory with %d%% to train on: expected 1 to 99", t.TrainPercent)
	}
	return c, nil
}

// check returns an error for what no trial of the trajectory's cell can give.
func (t Trajectory) check(c Cell) error {
	if t.Data == "" || t.Split == "" || t.Seed == 0 || t.Protocol == "" {
		return errors.New("a trajectory without data, split, seed or protocol")
	}
	if !slices.Contains(Backends(), t.Backend) {
		return fmt.Errorf("a trajectory of backend %.40q: expected one of %q", t.Backend, Backends())
	}
	lists := [][][]float64{t.F1, t.ValidationF1, t.Cached}
	if t.Setting == datasets.Transductive {
		if lists = lists[:2]; t.Cached != nil {
			return errors.New("a transductive trajectory with scores from the cache")
		}
	}
	stops, arrivals := len(hyper.StopOns()), NumArrivals(t.Setting)
	if len(t.BestEpochs) != stops {
		return fmt.Errorf("a trajectory with best epochs for %d ways of stopping: expected %d", len(t.BestEpochs), stops)
	}
	for _, epochs := range t.BestEpochs {
		if len(epochs) != arrivals {
			return fmt.Errorf("a trajectory with best epochs for %d kinds of arrivals: expected %d", len(epochs), arrivals)
		}
		for _, best := range epochs {
			if err := checkTimes(best, t.Epochs, c.Parameters.MaxEpochs, t.Seconds); err != nil {
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

// scanTrajectory reads a trajectory from its seed on, as [Store.Add] writes it.
func scanTrajectory(s *scanner, t *Trajectory) {
	s.needs(seedField)
	t.Seed = s.whole()
	s.needs(`,"split":`)
	t.Split = s.text()
	s.needs(`,"f1":`)
	t.F1 = s.table()
	if s.has(`,"cached":`) {
		t.Cached = s.table()
	}
	s.needs(`,"validation_f1":`)
	t.ValidationF1 = s.table()
	s.needs(`,"best_epochs":`)
	t.BestEpochs = s.counts()
	s.needs(`,"epochs":`)
	t.Epochs = int(s.whole())
	s.needs(`,"seconds":`)
	t.Seconds = s.float()
	s.needs(`,"backend":`)
	t.Backend = s.text()
	s.needs(`,"version":`)
	t.Version = s.text()
	s.needs(`,"protocol":`)
	t.Protocol = s.text()
}

// NumArrivals returns how many ways to arrive a trajectory is read in.
func NumArrivals(s datasets.Setting) int {
	if s == datasets.Transductive {
		return 1
	}
	return len(datasets.AllArrivals())
}

// ID returns what tells the trajectory's trial from others: the cell is that of [Cell.Trained].
func (t Trajectory) ID() (TrialID, error) {
	c, err := t.Cell()
	return TrialID{c.Key(), t.Seed, t.Backend}, err
}

// Differences lists what another trajectory of the trial says otherwise: nothing on the same device and version.
func (t Trajectory) Differences(other Trajectory) (differences []string) {
	for _, part := range []struct {
		name    string
		was, is any
	}{{"split", t.Split, other.Split}, {"macro F1", t.F1, other.F1}, {"macro F1 with caching", t.Cached, other.Cached},
		{"best epochs", t.BestEpochs, other.BestEpochs}, {"epochs", t.Epochs, other.Epochs}} {
		if was, is := fmt.Sprint(part.was), fmt.Sprint(part.is); was != is {
			differences = append(differences, fmt.Sprintf("%s: %s, now %s", part.name, was, is))
		}
	}
	return differences
}

// Records returns what is read off a trajectory as records of cells: one for each way of stopping, and of arriving in
// the inductive setting. They have macro F1, also from the cache with new nodes together; what a trajectory does not
// keep (micro F1, accuracy, smoothness, losses) they lack. It returns an error if the trajectory's choices cannot be;
// its lists have to be complete, as those that [parseTrajectory] reads are.
func (t Trajectory) Records() ([]Record, error) {
	trained, err := t.Cell()
	if err != nil {
		return nil, err
	}
	var all []Record
	for _, on := range hyper.StopOns() {
		for j := range NumArrivals(t.Setting) {
			c := trained
			c.Parameters.StopOn = on
			if t.Setting == datasets.Inductive {
				c.Arrivals = datasets.AllArrivals()[j]
			}
			all = append(all, t.Record(c))
		}
	}
	return all, nil
}

// Record returns what is read off a trajectory of a cell ([Cell.Trained]) as the cell stops and nodes arrive in it.
// [Trajectory.Records] says what it has.
func (t Trajectory) Record(c Cell) Record {
	i, j := slices.Index(hyper.StopOns(), c.Parameters.StopOn), 0
	if t.Setting == datasets.Inductive {
		c.Arrivals = c.arrivals()
		j = slices.Index(datasets.AllArrivals(), c.Arrivals)
	}
	r := Record{Cell: c.Key(), Data: t.Data, Source: t.Data, Setting: t.Setting, TrainPercent: t.TrainPercent,
		Arrivals: c.Arrivals,
		Resplit:  true, Parameters: c.Parameters, Seed: t.Seed, SplitSeed: t.Seed, SplitHash: t.Split,
		MacroF1: t.F1[i][j], ValidationF1: t.ValidationF1[i][j], BestEpoch: t.BestEpochs[i][j],
		Epochs: t.Epochs, Seconds: t.Seconds, Backend: t.Backend, Version: t.Version}
	if t.Cached != nil {
		r.MacroF1Together = &t.Cached[i][j]
	}
	return r
}
