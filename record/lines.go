package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"strings"
)

// errNoFile says that there is a folder, pipe or device in a file's place.
var errNoFile = errors.New("expected a file")

// readLines reads a file's whole lines from a byte on, calls each with a line's number and what it holds, and returns
// where the last one ends.
func readLines[T any](path string, from int64, parse func([]byte) (T, error),
	each func(number int, t T) error) (end int64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() { // opening a pipe waits for somebody to write
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
		var t T
		if err == nil || unended {
			t, err = parse(line)
		}
		if err == nil {
			err = each(number, t)
		}
		if err != nil {
			where := fmt.Sprintf("line %d", number)
			if from > 0 {
				where = fmt.Sprintf("byte %d", end)
			}
			return end, fmt.Errorf("%s: %s: %w: remove the line, and 'nodemask reproduce' or 'nodemask multiverse' runs the trial again",
				path, where, err)
		}
		if unended {
			return end, nil // whoever appends next ends the line: then it is read again
		}
		end += int64(len(line))
	}
}

// each calls do with the path, line and value of every line of a folder's files, in the order of files and lines.
func each[T any](s *Store, parse func([]byte) (T, error), do func(path string, number int, t T) error) error {
	files, err := s.files()
	if err != nil {
		return err
	}
	for _, path := range files {
		_, err := readLines(path, 0, parse, func(number int, t T) error { return do(path, number, t) })
		if err != nil && !errors.Is(err, errNoFile) && !errors.Is(err, fs.ErrNotExist) { // a link may lead to either
			return err
		}
	}
	return nil
}

// decode reads a line of JSON without unknown fields into what it is called, and checks its sum if it has one.
func decode(line []byte, name string, into any) error {
	line, err := unsealed(line)
	if err != nil {
		return fmt.Errorf("%s %w", name, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("not %s: %w", name, err)
	}
	if rest, _ := io.ReadAll(decoder.Buffered()); len(bytes.TrimSpace(rest)) > 0 {
		return fmt.Errorf("%d bytes after %s: expected one per line", len(rest), name)
	}
	return nil
}

// A stored line ends in a field with the CRC-32C of what stands before it. Lines of programs before had none.
const (
	sumField = `,"crc32c":"`
	sumEnd   = `"}`
	sumSize  = len(sumField) + 8 + len(sumEnd)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sealed returns a JSON object with its sum as the last field.
func sealed(line []byte) []byte {
	body := bytes.TrimSuffix(line, []byte("}"))
	return fmt.Appendf(nil, "%s%s%08x%s", body, sumField, crc32.Checksum(body, castagnoli), sumEnd)
}

// unsealed returns a line without its sum, or an error if it is another line's.
func unsealed(line []byte) ([]byte, error) {
	line = bytes.TrimRight(line, "\r\n")
	at := len(line) - sumSize
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(sumField)) || !bytes.HasSuffix(line, []byte(sumEnd)) {
		return line, nil
	}
	said, is := line[at+len(sumField):len(line)-len(sumEnd)], fmt.Sprintf("%08x", crc32.Checksum(line[:at], castagnoli))
	if string(said) != is {
		return nil, fmt.Errorf("that was changed after it was written: its CRC-32C is %s, expected %q", is, said)
	}
	return append(line[:at:at], '}'), nil
}

// Verify reads every record again and returns how many trials there are, and an error that names those with contradictory
// records, a record that cannot be read, and last lines that were cut short.
func (s *Store) Verify() (trials int, err error) {
	return verify(s, ParseRecord, Record.Differences, func(r Record) (TrialID, error) { return r.ID(), nil })
}

// Verify does for trajectories what [Store.Verify] does for records.
func (s *Trajectories) Verify() (trials int, err error) {
	return verify(&s.store, s.parse, Trajectory.Differences, Trajectory.ID)
}

func verify[T any](s *Store, parse func([]byte) (T, error), differences func(a, b T) []string,
	idOf func(T) (TrialID, error)) (trials int, err error) {
	type place struct {
		path string
		line int
		t    T
	}
	first := map[TrialID]place{}
	var wrong []error
	err = each(s, parse, func(path string, number int, t T) error {
		id, err := idOf(t)
		if err != nil {
			return err
		}
		old, known := first[id]
		if !known {
			first[id] = place{path, number, t}
		} else if found := differences(old.t, t); len(found) > 0 {
			earlier := fmt.Sprintf("%s, line %d", old.path, old.line)
			wrong = append(wrong, fmt.Errorf("%s: line %d: %w: remove what is wrong of both, or both, and the trial is run again",
				path, number, contradiction(id, earlier, found)))
		}
		return nil
	})
	return len(first), errors.Join(named(wrong), err, s.CheckEnds())
}

// contradiction says that a record differs from an earlier one of its trial.
func contradiction(id TrialID, earlier string, differences []string) error {
	return fmt.Errorf("contradicts %s, of the same trial (%s, seed %d, %s): %s",
		earlier, id.Cell, id.Seed, id.Backend, strings.Join(differences, "; "))
}

// named joins errors, of many the first ones and how many more there are.
func named(errs []error) error {
	const most = 10
	if more := len(errs) - most; more > 0 {
		errs = append(errs[:most:most], fmt.Errorf("and %d more", more))
	}
	return errors.Join(errs...)
}
