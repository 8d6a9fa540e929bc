package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/stats"
)

// Run is what is kept of a training run: one reading of it, as a [Record], or all of them, as a [Trajectory].
type Run interface{ Record | Trajectory }

// Store keeps runs in a folder: files of JSON lines, one for each data set and model. Programs may append to the same
// folder at the same time, and be killed at any moment: they lose only the trial that was not finished.
type Store[R Run] struct {
	folder string
	format format[R]
	mutex  sync.Mutex
	reader *reader[R]
	seen   map[string]*seen // by file
}

// seen is what was read of a file so far: what was measured of each trial, and how far that goes.
type seen struct {
	measured map[TrialID]Cell
	end      int64
}

// OpenStore opens a folder of records, which is made when something is first added.
func OpenStore(folder string) *Store[Record] { return openStore(folder, records) }

// OpenTrajectories opens a folder of trajectories, which is made when something is first added. Reading it is an error
// if there are any of another protocol, which count for nothing under this one's rules; "" takes all.
func OpenTrajectories(folder, protocol string) *Store[Trajectory] {
	f := trajectories
	f.check = func(t Trajectory, c Cell) error {
		if protocol != "" && t.Protocol != protocol {
			return fmt.Errorf("a trajectory under protocol %.20q: expected %s; keep those of other rules in a folder of "+
				"their own", t.Protocol, protocol)
		}
		return t.check(c)
	}
	return openStore(folder, f)
}

func openStore[R Run](folder string, f format[R]) *Store[R] {
	return &Store[R]{folder: folder, format: f, reader: newReader(f), seen: map[string]*seen{}}
}

const (
	extension   = ".jsonl"
	longestLine = 1 << 20
	longestName = 100 // of what a file's name keeps of a data set's
)

// Add appends a run and returns once it is on the disk.
func (s *Store[R]) Add(r R) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if len(line) >= longestLine {
		return fmt.Errorf("%s of %d bytes: expected less than %d", s.format.name, len(line), longestLine)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := os.MkdirAll(s.folder, 0o777); err != nil {
		return err
	}
	return appendLines(s.path(s.format.pair(r)), line)
}

// Pair names a part of a store, which has a file of its own: what is recorded of a model on a data set.
type Pair struct{ Data, Model string }

// Pair returns the part of a store that a cell's trials are in.
func (c Cell) Pair() Pair { return Pair{c.Data, c.Parameters.Model} }

// mayHold reports whether a file may have a pair's trials: the pair's own, and one whose name does not end as others'
// do.
func mayHold(file string, p Pair) bool {
	name := strings.TrimSuffix(filepath.Base(file), extension)
	if name == fileName(p.Data+"-"+p.Model) {
		return true
	}
	return !slices.ContainsFunc(hyper.Models(), func(model string) bool { return strings.HasSuffix(name, "-"+model) })
}

// path is the file for the runs of a pair.
func (s *Store[R]) path(p Pair) string {
	return filepath.Join(s.folder, fileName(p.Data+"-"+p.Model)+extension)
}

// fileName is the name itself if it can be one, else what can be kept of it and a hash: names come from records, must
// not lead out of the folder, and may differ in nothing but capitals, which some file systems take for the same.
func fileName(name string) string {
	kept := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, strings.ToLower(name))
	kept = strings.TrimLeft(kept, ".")
	if kept == name && len(kept) <= longestName {
		return kept
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return fmt.Sprintf("%s-%016x", kept[:min(len(kept), longestName)], h.Sum64())
}

// Has reports whether a trial of a cell is there, with all that is wanted of it. Of files it reads what was added since
// it was last asked.
func (s *Store[R]) Has(c Cell, seed uint64, backend string) (bool, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	files, err := s.files(c.Pair())
	if err != nil {
		return false, err
	}
	id := TrialID{c.Key(), seed, backend}
	found := false
	for _, path := range files {
		file := s.seen[path]
		if file == nil {
			file = &seen{measured: map[TrialID]Cell{}}
			s.seen[path] = file
		}
		file.end, err = s.read(path, file.end, s.reader, func(_ int, t trial[R]) error {
			measured := s.format.measured(t.value)
			if old, known := file.measured[t.id]; !known || !old.Measures(measured) {
				file.measured[t.id] = measured
			}
			return nil
		})
		if err != nil && (!isNoFile(err) || path == s.path(c.Pair())) { // what is added would be lost in a pipe
			return false, err
		}
		measured, known := file.measured[id]
		found = found || known && measured.Measures(c)
	}
	return found, nil
}

// files lists the files of the folder that may hold trials of pairs, or all without pairs, by name. A folder that is
// not there has none.
func (s *Store[R]) files(pairs ...Pair) ([]string, error) {
	entries, err := os.ReadDir(s.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var paths []string
	for _, entry := range entries {
		name := entry.Name()
		wanted := len(pairs) == 0 || slices.ContainsFunc(pairs, func(p Pair) bool { return mayHold(name, p) })
		if filepath.Ext(name) == extension && wanted {
			paths = append(paths, filepath.Join(s.folder, name))
		}
	}
	return paths, err
}

// Load reads the runs of pairs, or all without pairs, in the order of files and lines. Only files that may hold them
// are read. Merged files may repeat a trial: the repeat is left out, unless it has a measurement that the earlier one
// lacks; then it takes its place. [Store.Verify] says whether both say the same.
func (s *Store[R]) Load(pairs ...Pair) ([]R, error) {
	runs, _, err := s.load(nil, pairs...)
	return runs, err
}

// load does what [Store.Load] does, of cells alone whose key only accepts if it is not nil, and returns each run's key.
func (s *Store[R]) load(only func(key string) bool, pairs ...Pair) (runs []R, keys []string, err error) {
	at := map[TrialID]int{}
	err = s.each(only, func(_ string, _ int, t trial[R]) error {
		if i, known := at[t.id]; !known {
			at[t.id] = len(runs)
			runs, keys = append(runs, t.value), append(keys, t.id.Cell)
		} else if !s.format.measured(runs[i]).Measures(s.format.measured(t.value)) {
			runs[i] = t.value
		}
		return nil
	}, pairs...)
	if err != nil {
		return nil, nil, err
	}
	return runs, keys, nil
}

// ByCell returns a function that loads a pair's runs by the key of their cell: of those cells alone whose key only
// accepts, if it is not nil. Of others' lines the sums are checked, and what says which cell they are of.
func (s *Store[R]) ByCell(only func(key string) bool) func(Pair) (map[string][]R, error) {
	return func(p Pair) (map[string][]R, error) {
		runs, keys, err := s.load(only, p)
		if err != nil {
			return nil, err
		}
		cells := map[string][]R{}
		for i, key := range keys {
			cells[key] = append(cells[key], runs[i])
		}
		return cells, nil
	}
}

// TrialID tells trials apart: one cell, seed and backend give one result.
type TrialID struct {
	Cell    string
	Seed    uint64
	Backend string
}

// ID returns what tells the record's trial from others.
func (r Record) ID() TrialID { return TrialID{r.Cell, r.Seed, r.Backend} }

// Backends lists what a record may name as its backend. None is a path: a record comes from elsewhere, and what it
// names is opened to run it again.
func Backends() []string { return []string{"xla:cuda", "xla:cpu", "go"} }

// ParseRecord reads a stored record and checks that its cell's name fits its parameters, that its setting, size,
// parameters scores, epochs and times are within their ranges, and that its backend is one of [Backends].
func ParseRecord(line []byte) (Record, error) {
	t, err := newReader(records).parse(line)
	if err != nil {
		return Record{}, err
	}
	return t.value, nil
}

// records is how records are read.
var records = format[Record]{name: "a record", cellOf: recordedCell, check: Record.check, rest: scanRecord,
	pair:     func(r Record) Pair { return Pair{r.Data, r.Model} },
	id:       func(r Record, _ string) TrialID { return r.ID() },
	measured: Record.CellOf, differences: Record.Differences}

// recordedCell returns a record's cell, if all that the record says of it can be.
func recordedCell(r Record) (Cell, error) {
	c := r.CellOf()
	if key := c.Key(); r.Cell != key {
		return c, fmt.Errorf("a record of cell %q with the parameters of %q", r.Cell, key)
	}
	if _, err := datasets.ParseSetting(string(r.Setting)); err != nil {
		return c, fmt.Errorf("not a record: %w", err)
	}
	if _, err := datasets.ParseArrivals(string(r.Arrivals)); err != nil {
		return c, fmt.Errorf("not a record: %w", err)
	}
	if r.TrainPercent < 1 || r.TrainPercent > 99 {
		return c, fmt.Errorf("a record with %d%% to train on: expected 1 to 99", r.TrainPercent)
	}
	if r.ValidationPercent < 0 || r.ValidationPercent > 99 {
		return c, fmt.Errorf("a record with %d%% of the rest to validate with: expected 1 to 99", r.ValidationPercent)
	}
	if err := r.Parameters.Check(); err != nil {
		return c, fmt.Errorf("a record with invalid parameters: %w", err)
	}
	return c, nil
}

// check returns an error for what no trial of a cell can give.
func (r Record) check(Cell) error {
	for _, score := range []*float64{&r.MacroF1, &r.MicroF1, &r.Accuracy, r.MacroF1Together, r.MacroF1Apart} {
		if score != nil && !(*score >= 0 && *score <= 100) {
			return fmt.Errorf("a score of %v: expected 0 to 100 percent", *score)
		}
	}
	if r.SplitHash == "" || r.Seed == 0 {
		return errors.New("a record without split or seed")
	}
	if err := r.checkRun(); err != nil {
		return fmt.Errorf("a record with %w", err)
	}
	if !slices.Contains(Backends(), r.Backend) {
		return fmt.Errorf("a record of backend %.40q: expected one of %s", r.Backend, strings.Join(Backends(), ", "))
	}
	return nil
}

// scanRecord reads a record from its seed on, as [Record.Line] writes it.
func scanRecord(s *scanner, r *Record) {
	float := func(field string, into *float64) { s.needs(field); *into = s.float() }
	count := func(field string, into *int) {
		if s.has(field) {
			*into = int(s.whole())
		}
	}
	text := func(field string, into *string) {
		if s.has(field) {
			*into = s.text()
		}
	}
	score := func(field string, into **float64) {
		if s.has(field) {
			x := s.float()
			*into = &x
		}
	}
	s.needs(seedField)
	r.Seed = s.whole()
	s.needs(`,"split_seed":`)
	r.SplitSeed = s.whole()
	s.needs(`,"split_hash":`)
	r.SplitHash = s.text()
	float(`,"macro_f1":`, &r.MacroF1)
	float(`,"micro_f1":`, &r.MicroF1)
	float(`,"accuracy":`, &r.Accuracy)
	if s.has(`,"mad":{"hidden":`) {
		r.MAD = &stats.Smoothness{Hidden: s.float()}
		float(`,"logits":`, &r.MAD.Logits)
		float(`,"softmax":`, &r.MAD.Softmax)
		s.needs("}")
	}
	count(`,"nodes":`, &r.Nodes)
	count(`,"nodes_reached":`, &r.NodesReached)
	count(`,"nodes_cached":`, &r.NodesCached)
	score(`,"macro_f1_together":`, &r.MacroF1Together)
	score(`,"macro_f1_cached":`, &r.MacroF1Apart)
	float(`,"validation_macro_f1":`, &r.ValidationF1)
	float(`,"validation_loss":`, &r.Loss)
	s.needs(`,"best_epoch":`)
	r.BestEpoch = int(s.whole())
	s.needs(`,"epochs":`)
	r.Epochs = int(s.whole())
	float(`,"seconds":`, &r.Seconds)
	s.needs(`,"backend":`)
	r.Backend = s.text()
	text(`,"kernels":`, &r.Kernels)
	text(`,"slower":`, &r.Slower)
	s.needs(`,"device":`)
	r.Device = s.text()
	s.needs(`,"version":`)
	r.Version = s.text()
	text(`,"date":`, &r.Date)
	if s.has(`,"train_losses":`) {
		r.TrainLosses = s.row()
	}
	if s.has(`,"validation_losses":`) {
		r.ValidationLosses = s.row()
	}
}
