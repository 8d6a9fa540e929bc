package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
)

// Trajectory is one training run with everything that is read off it, as a line of JSON: a score for each way of stopping,
// each way for new nodes to arrive, and with and without the cache. Its trial has a split of its own, from its seed.
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

// Trained returns a cell as a trajectory trains it: what is read off afterwards (stopping, arrivals) is the preset's, and
// each trial has a split of its own.
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

// Cell returns the cell that a trajectory's training is a trial of ([Cell.Trained]), or an error if its choices cannot be.
func (t Trajectory) Cell() (Cell, error) {
	if !slices.Contains(hyper.Models(), t.Model) {
		return Cell{}, fmt.Errorf("no model %q", t.Model)
	}
	c := NewCell(t.Data, t.Model, t.Setting, t.TrainPercent)
	c.Resplit = true
	return c.Choose(t.Choices)
}

// ParseTrajectory reads a stored trajectory and checks that it can be one: its lists are complete, its scores percentages,
// its epochs in order, its parameters valid and its backend one of [Backends].
func ParseTrajectory(line []byte) (Trajectory, error) {
	var t Trajectory
	if err := decode(line, "a trajectory", &t); err != nil {
		return Trajectory{}, err
	}
	if _, err := datasets.ParseSetting(string(t.Setting)); err != nil {
		return Trajectory{}, fmt.Errorf("not a trajectory: %w", err)
	}
	c, err := t.Cell()
	if err != nil {
		return Trajectory{}, fmt.Errorf("a trajectory with invalid choices: %w", err)
	}
	if t.Data == "" || t.Split == "" || t.Seed == 0 || t.Protocol == "" {
		return Trajectory{}, errors.New("a trajectory without data, split, seed or protocol")
	}
	if t.TrainPercent < 1 || t.TrainPercent > 99 {
		return Trajectory{}, fmt.Errorf("a trajectory with %d%% to train on: expected 1 to 99", t.TrainPercent)
	}
	if !slices.Contains(Backends(), t.Backend) {
		return Trajectory{}, fmt.Errorf("a trajectory of backend %.40q: expected one of %q", t.Backend, Backends())
	}
	lists := [][][]float64{t.F1, t.ValidationF1}
	if t.Setting == datasets.Inductive {
		lists = append(lists, t.Cached)
	} else if t.Cached != nil {
		return Trajectory{}, errors.New("a transductive trajectory with scores from the cache")
	}
	arrivals := NumArrivals(t.Setting)
	if len(t.BestEpochs) != len(hyper.StopOns()) {
		return Trajectory{}, fmt.Errorf("a trajectory with best epochs for %d ways of stopping: expected %d", len(t.BestEpochs), len(hyper.StopOns()))
	}
	for _, epochs := range t.BestEpochs {
		if len(epochs) != arrivals {
			return Trajectory{}, fmt.Errorf("a trajectory with best epochs for %d kinds of arrivals: expected %d", len(epochs), arrivals)
		}
		for _, best := range epochs {
			if err := checkTimes(best, t.Epochs, c.Parameters.MaxEpochs, t.Seconds); err != nil {
				return Trajectory{}, fmt.Errorf("a trajectory with %w", err)
			}
		}
	}
	for _, list := range lists {
		if len(list) != len(hyper.StopOns()) {
			return Trajectory{}, fmt.Errorf("a trajectory with scores for %d ways of stopping: expected %d", len(list), len(hyper.StopOns()))
		}
		for _, scores := range list {
			if len(scores) != arrivals {
				return Trajectory{}, fmt.Errorf("a trajectory with scores for %d kinds of arrivals: expected %d", len(scores), arrivals)
			}
			for _, score := range scores {
				if !(score >= 0 && score <= 100) {
					return Trajectory{}, fmt.Errorf("a score of %v: expected 0 to 100 percent", score)
				}
			}
		}
	}
	return t, nil
}

// NumArrivals returns how many ways to arrive a trajectory is read in.
func NumArrivals(s datasets.Setting) int {
	if s == datasets.Transductive {
		return 1
	}
	return len(datasets.AllArrivals())
}

// Trajectories keeps trajectories in a folder: files of JSON lines, one for each data set and model. What [Store] says of
// programs that append and are killed holds here too.
type Trajectories struct {
	store    Store
	protocol string                 // that all were run under; "": any
	seen     map[string]*seenTrials // by file
}

// seenTrials is what was read of a file so far.
type seenTrials struct {
	have map[TrialID]bool
	end  int64
}

// OpenTrajectories opens a folder of trajectories, which is made when something is first added.
func OpenTrajectories(folder string) *Trajectories {
	return &Trajectories{store: Store{folder: folder}, seen: map[string]*seenTrials{}}
}

// Under returns the same folder for trajectories of one protocol alone: reading it is an error if there are others, which
// count for nothing under these rules.
func (s *Trajectories) Under(protocol string) *Trajectories {
	return &Trajectories{store: Store{folder: s.store.folder}, protocol: protocol, seen: map[string]*seenTrials{}}
}

func (s *Trajectories) parse(line []byte) (Trajectory, error) {
	t, err := ParseTrajectory(line)
	if err == nil && s.protocol != "" && t.Protocol != s.protocol {
		err = fmt.Errorf("a trajectory under protocol %.20q: expected %s; keep those of other rules in a folder of their own",
			t.Protocol, s.protocol)
	}
	return t, err
}

// Add appends a trajectory and returns once it is on the disk.
func (s *Trajectories) Add(t Trajectory) error {
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()
	if err := os.MkdirAll(s.store.folder, 0o777); err != nil {
		return err
	}
	return appendLines(s.store.path(t.Data, t.Model), line)
}

// Lease returns the right to run a cell's trajectories on a backend, or nil if somebody else has it.
func (s *Trajectories) Lease(key, backend string) (*Lease, error) { return s.store.Lease(key, backend) }

// Load reads all trajectories, in the order of files and lines. What merged files repeat is left out.
func (s *Trajectories) Load() ([]Trajectory, error) {
	var all []Trajectory
	known := map[TrialID]bool{}
	err := each(&s.store, s.parse, func(_ string, _ int, t Trajectory) error {
		id, err := t.ID()
		if err == nil && !known[id] {
			known[id] = true
			all = append(all, t)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Has reports whether a trial of a cell ([Cell.Trained]) is there. It reads what was added to the file since it was last asked.
func (s *Trajectories) Has(c Cell, seed uint64, backend string) (bool, error) {
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()
	path := s.store.path(c.Data, c.Parameters.Model)
	seen := s.seen[path]
	if seen == nil {
		seen = &seenTrials{have: map[TrialID]bool{}}
		s.seen[path] = seen
	}
	end, err := readLines(path, seen.end, s.parse, func(_ int, t Trajectory) error {
		id, err := t.ID()
		seen.have[id] = true
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	seen.end = end
	return seen.have[TrialID{c.Key(), seed, backend}], nil
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

// Records returns what is read off a trajectory as records of cells: one for each way of stopping, and of arriving in the
// inductive setting. They have macro F1, also from the cache with new nodes together; what a trajectory does not keep (micro F1,
// accuracy, smoothness, losses) they lack. It returns an error if
// the trajectory's choices cannot be; its lists have to be complete, as those that [ParseTrajectory] reads are.
func (t Trajectory) Records() ([]Record, error) {
	trained, err := t.Cell()
	if err != nil {
		return nil, err
	}
	var all []Record
	for i, on := range hyper.StopOns() {
		for j := range NumArrivals(t.Setting) {
			c := trained
			c.Parameters.StopOn = on
			if t.Setting == datasets.Inductive {
				c.Arrivals = datasets.AllArrivals()[j]
			}
			r := Record{Cell: c.Key(), Data: t.Data, Source: t.Data, Setting: t.Setting, TrainPercent: t.TrainPercent, Arrivals: c.Arrivals, Resplit: true, Parameters: c.Parameters,
				Seed: t.Seed, SplitSeed: t.Seed, SplitHash: t.Split, MacroF1: t.F1[i][j], ValidationF1: t.ValidationF1[i][j], BestEpoch: t.BestEpochs[i][j], Epochs: t.Epochs,
				Seconds: t.Seconds, Backend: t.Backend, Version: t.Version}
			if t.Cached != nil {
				r.MacroF1Together = &t.Cached[i][j]
			}
			all = append(all, r)
		}
	}
	return all, nil
}
