package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"nodemask/datasets"
)

// Store keeps records in a folder as JSON lines, one file per data set and model. Many processes may append; a killed
// process loses only its unfinished trial.
type Store struct {
	folder, protocol string
	mutex            sync.Mutex
	seen             map[string]*seen
}

type seen struct {
	measured map[trialID]Cell
	end      int64
}

// Open returns the store in a folder. The first [Store.Add] creates the folder.
func Open(folder string) *Store { return OpenUnder(folder, "") }

// OpenUnder is [Open], but all records must have this protocol hash unless protocol is "".
func OpenUnder(folder, protocol string) *Store {
	return &Store{folder: folder, protocol: protocol, seen: map[string]*seen{}}
}

const (
	extension   = ".jsonl"
	longestLine = 1 << 20
	longestName = 100
)

// Add appends a record and returns once it is on the disk. It does nothing if the store has the trial already.
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
	if err := os.MkdirAll(s.folder, 0o777); err != nil {
		return err
	}
	return underLock(s.path(pairOf(r)), func() ([]byte, error) {
		there, err := s.has(r.CellOf(), r.Seed, r.Backend)
		if err != nil || there {
			return nil, err
		}
		return line, nil
	})
}

// Pair identifies a file of a store by data set and model.
type Pair struct{ Data, Model string }

// PairOf returns the data set and model of an experiment.
func PairOf(c Cell) Pair { return Pair{c.Data, c.Parameters.Model} }

func pairOf(r Record) Pair { return Pair{r.Data, r.Model} }

func (s *Store) path(p Pair) string {
	return filepath.Join(s.folder, fileName(p.Data+"-"+p.Model)+extension)
}

// fileName returns name if it is safe, else its safe characters and a hash. A safe name cannot lead out of the folder,
// nor differ from another only in case.
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

// Has reports whether the store has a trial of c with this seed and backend that records all measurements of c.
func (s *Store) Has(c Cell, seed uint64, backend string) (bool, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.has(c, seed, backend)
}

func (s *Store) has(c Cell, seed uint64, backend string) (bool, error) {
	path := s.path(PairOf(c))
	file := s.seen[path]
	if file == nil {
		file = &seen{measured: map[trialID]Cell{}}
		s.seen[path] = file
	}
	var err error
	file.end, err = s.read(path, file.end, func(_ int, t Record) {
		if old, ok := file.measured[idOf(t)]; !ok || !old.Measures(t.CellOf()) {
			file.measured[idOf(t)] = t.CellOf()
		}
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errTorn) {
		return false, err
	}
	measured, ok := file.measured[trialID{c.Key(), seed, backend, c.Readings}]
	return ok && measured.Measures(c), nil
}

func (s *Store) files(pairs ...Pair) (paths []string, err error) {
	for _, p := range pairs {
		paths = append(paths, s.path(p))
	}
	if paths != nil {
		return paths, nil
	}
	entries, err := os.ReadDir(s.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		if name := entry.Name(); filepath.Ext(name) == extension {
			paths = append(paths, filepath.Join(s.folder, name))
		}
	}
	return paths, err
}

// Load returns the records of the given pairs, or all records if no pair is given, in the order of files and lines. If
// a trial is stored twice, the later record replaces the earlier one only if it has further measurements.
func (s *Store) Load(pairs ...Pair) (records []Record, err error) {
	paths, err := s.files(pairs...)
	if err != nil {
		return nil, err
	}
	at := map[trialID]int{}
	for _, path := range paths {
		_, err := s.read(path, 0, func(_ int, t Record) {
			id := idOf(t)
			i, ok := at[id]
			switch {
			case !ok:
				at[id] = len(records)
				records = append(records, t)
			case !records[i].CellOf().Measures(t.CellOf()):
				records[i] = t
			}
		})
		if err != nil && !isNoFile(err) && !errors.Is(err, errTorn) {
			return records, err
		}
	}
	return records, nil
}

// Results returns the store's records, and loads them when needed.
func (s *Store) Results(onError func(error)) *Results {
	return LazyResults(s.Load, nil, onError)
}

type trialID struct {
	Cell     string
	Seed     uint64
	Backend  string
	Readings bool
}

func idOf(r Record) trialID { return trialID{r.Cell, r.Seed, r.Backend, r.Readings != nil} }

// Backends returns the backends that records may name. A path to a plugin is not allowed, because rerunning a
// stranger's record would load code from there.
func Backends() []string { return []string{"xla:cuda", "xla:cpu", "go"} }

// Merged joins duplicates in cells. A joined cell records every measurement of its duplicates.
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

// isWhole reports whether a line is complete: an incomplete record is invalid JSON.
func isWhole(line []byte) bool { return json.Valid(line) }

// underLock locks the file and appends the line that choose returns, unless the line is nil. If the file does not end
// in a line break, underLock first adds one, or removes the last line if a killed process left this line incomplete.
func underLock(path string, choose func() ([]byte, error)) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := lock(f); err != nil {
		return fmt.Errorf("locking %s: %w", path, err)
	}
	line, err := choose()
	if err != nil || line == nil {
		return err
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	last, err := lastLine(f, end)
	if err != nil {
		return err
	}
	var text []byte
	switch {
	case len(last) == 0:
	case isWhole(last):
		text = []byte{'\n'}
	default:
		end -= int64(len(last))
		if err := f.Truncate(end); err != nil {
			return err
		}
	}
	text = append(append(text, sealed(line)...), '\n')
	if _, err := f.WriteAt(text, end); err != nil {
		return errors.Join(err, f.Truncate(end))
	}
	return f.Sync()
}

func lastLine(f *os.File, size int64) ([]byte, error) {
	tail := make([]byte, min(size, longestLine))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil {
		return nil, err
	}
	i := bytes.LastIndexByte(tail, '\n')
	if i < 0 && int64(len(tail)) < size {
		return nil, fmt.Errorf("%s ends in more than %d bytes without a line break: this is not a file of results",
			f.Name(), longestLine)
	}
	return tail[i+1:], nil
}
