package record

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"nodemask/nmgnn/hyper"
	"nodemask/stats"
)

// Store keeps records in a folder: files of JSON lines, one for each data set and model. Programs may append to the
// same folder at the same time, and be killed at any moment: they lose only the trial that was not finished.
type Store struct {
	folder, protocol string
	mutex            sync.Mutex
	reader           *reader
	seen             map[string]*seen // by file
}

// seen is what was read of a file so far: what was measured of each trial, and how far that goes.
type seen struct {
	measured map[TrialID]Cell
	end      int64
}

// OpenStore opens a folder of records, which is made when something is first added.
func OpenStore(folder string) *Store { return OpenUnder(folder, "") }

// OpenUnder opens a folder of records of a protocol: reading it is an error if there is one of another, which counts
// for nothing under this one's rules; "" takes all.
func OpenUnder(folder, protocol string) *Store {
	return &Store{folder: folder, protocol: protocol, reader: newReader(protocol), seen: map[string]*seen{}}
}

const (
	extension   = ".jsonl"
	longestLine = 1 << 20
	longestName = 100 // of what a file's name keeps of a data set's
)

// Add appends a record and returns once it is on the disk.
func (s *Store) Add(r Record) error {
	line, err := r.Line()
	if err != nil {
		return err
	}
	if len(line) >= longestLine {
		return fmt.Errorf("a record of %d bytes: expected less than %d", len(line), longestLine)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := os.MkdirAll(s.folder, 0o777); err != nil {
		return err
	}
	return appendLines(s.path(r.pair()), line)
}

// Pair names a part of a store, which has a file of its own: what is recorded of a model on a data set.
type Pair struct{ Data, Model string }

// Pair returns the part of a store that a cell's trials are in.
func (c Cell) Pair() Pair { return Pair{c.Data, c.Parameters.Model} }

func (r Record) pair() Pair { return Pair{r.Data, r.Model} }

// mayHold reports whether a file may have a pair's trials: the pair's own, and one whose name does not end as others'
// do.
func mayHold(file string, p Pair) bool {
	name := strings.TrimSuffix(filepath.Base(file), extension)
	if name == fileName(p.Data+"-"+p.Model) {
		return true
	}
	return !slices.ContainsFunc(hyper.Models(), func(model string) bool { return strings.HasSuffix(name, "-"+model) })
}

// path is the file for the records of a pair.
func (s *Store) path(p Pair) string {
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

// Has reports whether a trial of a cell is there, with all that is wanted of it. Of files it reads what was added
// since it was last asked.
func (s *Store) Has(c Cell, seed uint64, backend string) (bool, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	files, err := s.files(c.Pair())
	if err != nil {
		return false, err
	}
	id := TrialID{c.Key(), seed, backend, c.Readings}
	found := false
	for _, path := range files {
		file := s.seen[path]
		if file == nil {
			file = &seen{measured: map[TrialID]Cell{}}
			s.seen[path] = file
		}
		file.end, err = s.read(path, file.end, s.reader, func(_ int, t Record) error {
			if old, known := file.measured[t.ID()]; !known || !old.Measures(t.CellOf()) {
				file.measured[t.ID()] = t.CellOf()
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
func (s *Store) files(pairs ...Pair) ([]string, error) {
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

// Load reads the records of pairs, or all without pairs, in the order of files and lines. Only files that may hold
// them are read. Merged files may repeat a trial: the repeat is left out, unless it has a measurement that the earlier
// one lacks; then it takes its place. [Store.Verify] says whether both say the same.
func (s *Store) Load(pairs ...Pair) ([]Record, error) { return s.LoadOnly(nil, pairs...) }

// LoadOnly does what [Store.Load] does, of cells alone whose key only accepts if it is not nil. Of others' lines the
// sums are checked, and what says which cell they are of.
func (s *Store) LoadOnly(only func(key string) bool, pairs ...Pair) (records []Record, err error) {
	at := map[TrialID]int{}
	var full [][]Record // a slice that grows is copied again and again
	records = make([]Record, 0, slabSize)
	err = s.each(only, func(_ string, _ int, t Record) error {
		id := t.ID()
		i, known := at[id]
		switch {
		case !known:
			if len(records) == slabSize {
				full, records = append(full, records), make([]Record, 0, slabSize)
			}
			at[id] = len(full)*slabSize + len(records)
			records = append(records, t)
		default:
			slab := records
			if n := i / slabSize; n < len(full) {
				slab = full[n]
			}
			if old := &slab[i%slabSize]; !old.CellOf().Measures(t.CellOf()) {
				*old = t
			}
		}
		return nil
	}, pairs...)
	if err != nil {
		return nil, err
	}
	return slices.Concat(append(full, records)...), nil
}

// Results returns what the store has, read pair by pair when it is asked for; with only, of cells alone whose key it
// accepts. failed, if it is not nil, is told of what cannot be read.
func (s *Store) Results(only func(key string) bool, failed func(error)) *Results {
	return LazyResults(func(p Pair) ([]Record, error) { return s.LoadOnly(only, p) }, nil, failed)
}

// TrialID tells trials apart: one cell, seed and backend give one result.
type TrialID struct {
	Cell     string
	Seed     uint64
	Backend  string
	Readings bool // it is read in every way
}

// ID returns what tells the record's trial from others.
func (r Record) ID() TrialID { return TrialID{r.Cell, r.Seed, r.Backend, r.Readings != nil} }

// Backends lists what a record may name as its backend. None is a path: a record comes from elsewhere, and what it
// names is opened to run it again.
func Backends() []string { return []string{"xla:cuda", "xla:cpu", "go"} }

// ParseRecord reads a stored record and checks that its cell's name fits its parameters, that its setting, size,
// parameters scores, epochs and times are within their ranges, that what is read off it is complete, and that its
// backend is one of [Backends].
func ParseRecord(line []byte) (Record, error) { return newReader("").parse(line) }

// recordedCell returns a record's cell, if all that the record says of it can be.
func recordedCell(r Record) (Cell, error) {
	c := r.CellOf()
	if key := c.Key(); r.Cell != key {
		return c, fmt.Errorf("a record of cell %q with the parameters of %q", r.Cell, key)
	}
	if err := r.Setting.Check(); err != nil {
		return c, fmt.Errorf("not a record: %w", err)
	}
	if err := r.Arrivals.Check(); err != nil {
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
func (r Record) check(c Cell) error {
	if r.Readings != nil {
		return r.checkReadings(c)
	}
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
	text(`,"digits":`, &r.Digits)
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
