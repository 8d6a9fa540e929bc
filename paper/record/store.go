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
	"nodemask/nmgnn/hyper"
)

// Store keeps records in a folder: files of JSON lines, one for each data set and model. Programs may append to the
// same folder at the same time, and be killed at any moment: they lose only the trial that was not finished.
type Store struct {
	folder, protocol string
	mutex            sync.Mutex
	reader           *reader
	seen             map[string]*seen // by file
	drawn            map[drawing]Record
}

// seen is what was read of a file so far: what was measured of each trial, and how far that goes.
type seen struct {
	measured map[trialID]Cell
	end      int64
}

// Open opens a folder of records, which is made when something is first added.
func Open(folder string) *Store { return OpenUnder(folder, "") }

// OpenUnder opens a folder of records of a protocol: reading it is an error if there is one of another, which counts
// for nothing under this one's rules; "" takes all.
func OpenUnder(folder, protocol string) *Store {
	return &Store{folder: folder, protocol: protocol, reader: newReader(protocol), seen: map[string]*seen{},
		drawn: map[drawing]Record{}}
}

const (
	extension   = ".jsonl"
	longestLine = 1 << 20
	slabSize    = 1 << 13 // of records that are loaded
	longestName = 100     // of what a file's name keeps of a data set's
)

// Add appends a record and returns once it is on the disk. It returns an error for a trial that is read in every way on
// another split than one of the same seed that [Store.Has] has seen, as other files of a data set may give.
func (s *Store) Add(r Record) error {
	line, err := Line(r)
	if err != nil {
		return err
	}
	if len(line) >= longestLine {
		return fmt.Errorf("a record of %d bytes: expected less than %d", len(line), longestLine)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if first, ok := s.drawn[drawing{r.Data, r.TrainPercent, r.Seed}]; ok && r.Readings != nil {
		if err := NewResults([]Record{first, r}).Err(); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(s.folder, 0o777); err != nil {
		return err
	}
	return underLock(s.path(pairOf(r)), func() ([][]byte, error) { return [][]byte{line}, nil })
}

// Pair names a part of a store, which has a file of its own: what is recorded of a model on a data set.
type Pair struct{ Data, Model string }

// PairOf returns the part of a store that a cell's trials are in.
func PairOf(c Cell) Pair { return Pair{c.Data, c.Parameters.Model} }

func pairOf(r Record) Pair { return Pair{r.Data, r.Model} }

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
	files, err := s.files(PairOf(c))
	if err != nil {
		return false, err
	}
	id := trialID{c.Key(), seed, backend, c.Readings}
	found := false
	for _, path := range files {
		file := s.seen[path]
		if file == nil {
			file = &seen{measured: map[trialID]Cell{}}
			s.seen[path] = file
		}
		file.end, err = s.read(path, file.end, s.reader, func(_ int, t Record) error {
			if old, ok := file.measured[idOf(t)]; !ok || !old.Measures(t.CellOf()) {
				file.measured[idOf(t)] = t.CellOf()
			}
			if split := (drawing{t.Data, t.TrainPercent, t.Seed}); t.Readings != nil {
				if _, ok := s.drawn[split]; !ok {
					s.drawn[split] = t
				}
			}
			return nil
		})
		if err != nil && (!isNoFile(err) || path == s.path(PairOf(c))) { // what is added would be lost in a pipe
			return false, err
		}
		measured, ok := file.measured[id]
		found = found || ok && measured.Measures(c)
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
	at := map[trialID]int{}
	var full [][]Record // a slice that grows is copied again and again
	records = make([]Record, 0, slabSize)
	err = s.each(only, func(_ string, _ int, t Record) error {
		id := idOf(t)
		i, ok := at[id]
		switch {
		case !ok:
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
	load := func(data, model string) ([]Record, error) { return s.LoadOnly(only, Pair{data, model}) }
	return LazyResults(load, nil, failed)
}

// trialID tells trials apart: one cell, seed and backend give one result.
type trialID struct {
	Cell     string
	Seed     uint64
	Backend  string
	Readings bool // it is read in every way
}

func idOf(r Record) trialID { return trialID{r.Cell, r.Seed, r.Backend, r.Readings != nil} }

// Backends lists what a record may name as its backend. None is a path: a record comes from elsewhere, and what it
// names is opened to run it again.
func Backends() []string { return []string{"xla:cuda", "xla:cpu", "go"} }

// Parse reads a stored record and checks that its cell's name fits its parameters, that its setting, size,
// parameters scores, epochs and times are within their ranges, that what is read off it is complete, and that its
// backend is one of [Backends].
func Parse(line []byte) (Record, error) { return newReader("").parse(line) }

// Merged returns each cell once, with all that is to be measured of it, in the order of first appearance.
func Merged(cells []Cell) []Cell {
	at := map[trialID]int{}
	var merged []Cell
	for _, c := range cells {
		c.Cached = c.Cached && c.Setting == datasets.Inductive
		id := trialID{Cell: c.Key(), Readings: c.Readings}
		i, ok := at[id]
		if !ok {
			at[id] = len(merged)
			merged = append(merged, c)
			continue
		}
		merged[i].Cached = merged[i].Cached || c.Cached
		merged[i].History = merged[i].History || c.History
	}
	return merged
}
