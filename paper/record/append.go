package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// Merge adds trials that the store lacks from other folders, and returns their number. It may run concurrently. It
// skips lines that contradict a known trial; the error lists these.
func (s *Store) Merge(folders ...string) (added int, err error) {
	known := trials{}
	note := func(_ string, _ int, t Record) error { known.add(t); return nil }
	if err := s.each(nil, note); err != nil {
		return 0, err
	}
	var contradictions []error
	for _, folder := range folders {
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			return added, fmt.Errorf("no folder %s", folder)
		}
		var order []string
		missing := map[string][]Record{}
		if err := OpenUnder(folder, s.protocol).each(nil, func(_ string, _ int, t Record) error {
			path := s.path(pairOf(t))
			if missing[path] == nil {
				order = append(order, path)
			}
			missing[path] = append(missing[path], t)
			return nil
		}); err != nil {
			return added, err
		}
		for _, path := range order {
			n, wrong, err := s.addMissing(path, missing[path], known)
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

// lack reports whether r is new or has a new measurement; contradicting the known record is an error.
func (k trials) lack(r Record) (bool, error) {
	have, ok := k[idOf(r)]
	if !ok {
		return true, nil
	}
	if found := have.Differences(r); len(found) > 0 && have.Digits == r.Digits {
		return false, contradiction(idOf(r), "what is there", found)
	}
	return !have.CellOf().Measures(r.CellOf()), nil
}

// add keeps the first of contradictory records.
func (k trials) add(r Record) {
	if lack, err := k.lack(r); lack && err == nil {
		k[idOf(r)] = r
	}
}

// addMissing adds records that both file and known lack to both, and returns contradictory ones.
func (s *Store) addMissing(path string, more []Record, known trials) (
	added int, contradictions []error, err error,
) {
	if !slices.ContainsFunc(more, func(t Record) bool { lack, err := known.lack(t); return lack || err != nil }) {
		return 0, nil, nil // reading must not need write permission
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return 0, nil, err
	}
	err = underLock(path, func() (lines [][]byte, err error) {
		note := func(_ int, t Record) error { known.add(t); return nil }
		if _, err := s.read(path, 0, newReader(s.protocol), note); err != nil {
			return nil, err
		}
		for _, t := range more {
			lack, err := known.lack(t)
			if err != nil {
				contradictions = append(contradictions, err)
			}
			if !lack {
				continue
			}
			line, err := Line(t)
			if err != nil {
				return nil, err
			}
			lines = append(lines, line)
			known.add(t)
		}
		added = len(lines)
		return lines, nil
	})
	if err != nil {
		return 0, contradictions, err
	}
	return added, contradictions, nil
}
