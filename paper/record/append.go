package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// isWhole reports whether a last line lacks only its line break: a torn record is invalid JSON.
func isWhole(line []byte) bool { return json.Valid(line) }

// underLock appends the lines that choose returns. It first removes a torn last line (of a killed process), or adds a
// missing line break.
func underLock(path string, choose func() ([][]byte, error)) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := lock(f); err != nil {
		return fmt.Errorf("locking %s: %w", path, err)
	}
	lines, err := choose()
	if err != nil || len(lines) == 0 {
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
	for _, line := range lines {
		text = append(append(text, sealed(line)...), '\n')
	}
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

// checkEnds reports torn last lines, which [Store.Load] skips. It waits for writers.
func (s *Store) checkEnds() error {
	paths, err := s.files()
	if err != nil {
		return err
	}
	var torn []error
	for _, path := range paths {
		if err := checkEnd(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			torn = append(torn, err)
		}
	}
	return errors.Join(torn...)
}

func checkEnd(path string) (err error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := lock(f); err != nil {
		return fmt.Errorf("locking %s: %w", path, err)
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	last, err := lastLine(f, info.Size())
	if err != nil || len(last) == 0 || isWhole(last) {
		return err
	}
	return fmt.Errorf("%s: byte %d: the last line is cut short, after %d bytes: expected a record and a line break. "+
		"Whatever adds a trial to this file removes the line, and 'nodemask reproduce' runs its trial again",
		path, info.Size()-int64(len(last)), len(last))
}

// Merge adds trials that the store lacks from files of any name in other folders, and returns their number. It may run
// concurrently. It skips lines that contradict a known trial; the error lists these.
func (s *Store) Merge(folders ...string) (added int, err error) {
	var contradictions []error
	for _, folder := range folders {
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			return added, fmt.Errorf("no folder %s", folder)
		}
		more := map[string][]Record{}
		other := OpenUnder(folder, s.protocol)
		other.anyFile = true
		if err := other.each(nil, func(_ string, _ int, t Record) error {
			path := s.path(pairOf(t))
			more[path] = append(more[path], t)
			return nil
		}); err != nil {
			return added, err
		}
		for _, path := range slices.Sorted(maps.Keys(more)) {
			n, wrong, err := s.addMissing(path, more[path])
			added += n
			for _, err := range wrong {
				contradictions = append(contradictions, fmt.Errorf("%s: a record %w", folder, err))
			}
			if err != nil {
				return added, errors.Join(named(contradictions), err)
			}
		}
	}
	return added, named(contradictions)
}

// trials holds each trial's most complete record.
type trials map[trialID]Record

// add adds r if it is new or has a new measurement; contradicting the known record is an error.
func (k trials) add(r Record) (bool, error) {
	have, ok := k[idOf(r)]
	if found := have.Differences(r); ok && len(found) > 0 && have.Digits == r.Digits {
		return false, contradiction(idOf(r), "what is there", found)
	}
	if ok && have.CellOf().Measures(r.CellOf()) {
		return false, nil
	}
	k[idOf(r)] = r
	return true, nil
}

// addMissing adds the records that a file lacks, and returns contradictory ones.
func (s *Store) addMissing(path string, more []Record) (added int, contradictions []error, err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return 0, nil, err
	}
	err = underLock(path, func() ([][]byte, error) {
		var lines [][]byte
		known := trials{}
		if _, err := s.read(path, 0, newReader(s.protocol), func(_ int, t Record) error {
			_, _ = known.add(t) // Verify names contradictions
			return nil
		}); err != nil {
			return nil, err
		}
		for _, t := range more {
			lacked, err := known.add(t)
			if err != nil {
				contradictions = append(contradictions, err)
			}
			if !lacked {
				continue
			}
			line, err := Line(t)
			if err != nil {
				return nil, err
			}
			lines = append(lines, line)
		}
		added = len(lines)
		return lines, nil
	})
	if err != nil {
		added = 0
	}
	return added, contradictions, err
}
