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

	"nodemask/datasets"
)

// Store keeps records in a folder: files of JSON lines, one for each data set and model. Programs may append to the same
// folder at the same time, and be killed at any moment: they lose only the trial that was not finished.
type Store struct {
	folder string
	mutex  sync.Mutex
}

// OpenStore opens a folder of results, which is made when something is first added.
func OpenStore(folder string) *Store { return &Store{folder: folder} }

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
		return fmt.Errorf("record: a record of %d bytes: expected less than %d", len(line), longestLine)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := os.MkdirAll(s.folder, 0o777); err != nil {
		return err
	}
	return appendLines(s.path(r.Data, r.Model), line)
}

// path is the file for the records of a data set and model.
func (s *Store) path(data, model string) string {
	return filepath.Join(s.folder, fileName(data+"-"+model)+extension)
}

// fileName is the name itself if it can be one, else what can be kept of it and a hash: names come from records, must not
// lead out of the folder, and may differ in nothing but capitals, which some file systems take for the same.
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

// Seeds returns the seeds of a cell's trials that are recorded for a backend, with all that is wanted of them.
func (s *Store) Seeds(c Cell, backend string) (map[uint64]bool, error) {
	have := map[uint64]bool{}
	_, err := readLines(s.path(c.Data, c.Parameters.Model), 0, ParseRecord, func(_ int, r Record) error {
		if r.Cell == c.Key() && r.Backend == backend && r.CellOf().Measures(c) {
			have[r.Seed] = true
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return have, nil
}

// files lists the files of the folder, by name. A folder that is not there has none.
func (s *Store) files() ([]string, error) {
	entries, err := os.ReadDir(s.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var paths []string
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) == extension {
			paths = append(paths, filepath.Join(s.folder, entry.Name()))
		}
	}
	return paths, err
}

// Load reads all records, in the order of files and lines. Merged files may repeat a record of one cell and seed: the
// repeat is left out, unless it has a measurement that the earlier one lacks; then it takes its place. [Store.Verify] says
// whether both say the same.
func (s *Store) Load() ([]Record, error) {
	var records []Record
	at := map[TrialID]int{}
	err := each(s, ParseRecord, func(_ string, _ int, r Record) error {
		id := r.ID()
		if i, known := at[id]; !known {
			at[id] = len(records)
			records = append(records, r)
		} else if !records[i].CellOf().Measures(r.CellOf()) {
			records[i] = r
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return records, nil
}

// TrialID tells trials apart: one cell, seed and backend give one result.
type TrialID struct {
	Cell    string
	Seed    uint64
	Backend string
}

// ID returns what tells the record's trial from others.
func (r Record) ID() TrialID { return TrialID{r.Cell, r.Seed, r.Backend} }

// Backends lists what a record may name as its backend. None is a path: a record comes from elsewhere, and what it names
// is opened to run it again.
func Backends() []string { return []string{"xla:cuda", "xla:cpu", "go"} }

// ParseRecord reads a stored record and checks that its cell's name fits its parameters, that its setting, size, parameters
// scores, epochs and times are within their ranges, and that its backend is one of [Backends].
func ParseRecord(line []byte) (Record, error) {
	var r Record
	if err := decode(line, "a record", &r); err != nil {
		return Record{}, err
	}
	if key := r.CellOf().Key(); r.Cell != key {
		return Record{}, fmt.Errorf("a record of cell %q with the parameters of %q", r.Cell, key)
	}
	scores := []float64{r.MacroF1, r.MicroF1, r.Accuracy}
	for _, score := range []*float64{r.MacroF1Together, r.MacroF1Apart} {
		if score != nil {
			scores = append(scores, *score)
		}
	}
	for _, score := range scores {
		if !(score >= 0 && score <= 100) {
			return Record{}, fmt.Errorf("a score of %v: expected 0 to 100 percent", score)
		}
	}
	if r.SplitHash == "" || r.Seed == 0 {
		return Record{}, errors.New("a record without split or seed")
	}
	if err := r.checkRun(); err != nil {
		return Record{}, fmt.Errorf("a record with %w", err)
	}
	if _, err := datasets.ParseSetting(string(r.Setting)); err != nil {
		return Record{}, fmt.Errorf("not a record: %w", err)
	}
	if _, err := datasets.ParseArrivals(string(r.Arrivals)); err != nil {
		return Record{}, fmt.Errorf("not a record: %w", err)
	}
	if r.TrainPercent < 1 || r.TrainPercent > 99 {
		return Record{}, fmt.Errorf("a record with %d%% to train on: expected 1 to 99", r.TrainPercent)
	}
	if r.ValidationPercent < 0 || r.ValidationPercent > 99 {
		return Record{}, fmt.Errorf("a record with %d%% of the rest to validate with: expected 1 to 99", r.ValidationPercent)
	}
	if !slices.Contains(Backends(), r.Backend) {
		return Record{}, fmt.Errorf("a record of backend %.40q: expected one of %s", r.Backend, strings.Join(Backends(), ", "))
	}
	if err := r.Parameters.Check(); err != nil {
		return Record{}, fmt.Errorf("a record with invalid parameters: %w", err)
	}
	return r, nil
}
