package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
// its parameters valid and its backend one of [Backends].
func ParseTrajectory(line []byte) (Trajectory, error) {
	var t Trajectory
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&t); err != nil {
		return Trajectory{}, fmt.Errorf("not a trajectory: %w", err)
	}
	if rest, _ := io.ReadAll(decoder.Buffered()); len(bytes.TrimSpace(rest)) > 0 {
		return Trajectory{}, fmt.Errorf("%d bytes after the trajectory: expected one per line", len(rest))
	}
	if _, err := datasets.ParseSetting(string(t.Setting)); err != nil {
		return Trajectory{}, fmt.Errorf("not a trajectory: %w", err)
	}
	if _, err := t.Cell(); err != nil {
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
	store Store
	seen  map[string]*seenTrials // by file
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
	files, err := s.store.files()
	if err != nil {
		return nil, err
	}
	var all []Trajectory
	known := map[TrialID]bool{}
	for _, path := range files {
		if _, err := readTrajectories(path, 0, func(t Trajectory) error {
			id, err := t.ID()
			if err == nil && !known[id] {
				known[id] = true
				all = append(all, t)
			}
			return err
		}); err != nil {
			return nil, err
		}
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
	end, err := readTrajectories(path, seen.end, func(t Trajectory) error {
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

// readTrajectories reads a file's whole lines from a byte on, and returns where the last one ends.
func readTrajectories(path string, from int64, each func(Trajectory) error) (end int64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("record: %s: %w", path, errNoFile)
	}
	if info.Size() == from {
		return from, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return 0, err
	}
	lines := bufio.NewReaderSize(f, longestLine)
	end = from
	for number := 1; ; number++ {
		line, err := lines.ReadSlice('\n')
		unended := err == io.EOF
		if unended && !isWhole(line) {
			return end, nil // being written, or cut short
		}
		var t Trajectory
		if err == nil || unended {
			t, err = ParseTrajectory(line)
		}
		if err == nil {
			err = each(t)
		}
		if err != nil {
			where := fmt.Sprintf("line %d", number)
			if from > 0 {
				where = fmt.Sprintf("byte %d", end)
			}
			return end, fmt.Errorf("%s: %s: %w: remove the line, and 'nodemask multiverse' runs the trial again", path, where, err)
		}
		if unended {
			return end, nil // whoever appends next ends the line: then it is read again
		}
		end += int64(len(line))
	}
}
