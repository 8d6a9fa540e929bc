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
	"path/filepath"
	"strings"
)

var (
	errNoFile = errors.New("expected a file") // found a folder, pipe or device
	errTorn   = errors.New("the last line is cut short")
)

// read calls visit for each complete line from offset start on. It returns the offset at which the last line with a
// line break ends.
func (s *Store) read(path string, start int64, visit func(number int, t Record)) (end int64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for a writer
		return 0, fmt.Errorf("%s: %w", path, errNoFile)
	}
	if info.Size() == start {
		return start, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Seek(start, io.SeekStart); err != nil {
		return 0, err
	}
	lines := bufio.NewReaderSize(f, longestLine)
	end = start
	var held Pair
	for number := 1; ; number++ {
		line, err := lines.ReadSlice('\n')
		unended := err == io.EOF
		if unended && len(line) == 0 {
			return end, nil
		}
		if unended && !isWhole(line) {
			return end, fmt.Errorf("%s: byte %d: %w, after %d bytes: expected a record and a line break. Whatever adds a trial "+
				"to this file removes the line, and 'nodemask reproduce' runs its trial again", path, end, errTorn, len(line))
		}
		var t Record
		if err == nil || unended {
			t, err = parse(line, s.protocol)
		}
		if p := pairOf(t); err == nil && p != held {
			if held = p; filepath.Base(path) != filepath.Base(s.path(p)) {
				err = fmt.Errorf("a trial of %s on %s: expected it in %s; move the line there", p.Model, p.Data,
					filepath.Base(s.path(p)))
			}
		}
		if err != nil {
			where := fmt.Sprintf("line %d", number)
			if start > 0 {
				where = fmt.Sprintf("byte %d", end)
			}
			return end, fmt.Errorf("%s: %s: %w: remove the line, and the command that trained it ('nodemask reproduce' or "+
				"'advise') runs the trial again", path, where, err)
		}
		visit(number, t)
		if unended {
			// This line has no line break yet, so end excludes the line.
			return end, nil
		}
		end += int64(len(line))
	}
}

func isNoFile(err error) bool { return errors.Is(err, errNoFile) || errors.Is(err, fs.ErrNotExist) }

// Parse returns the record of a stored line, after checking its checksum, key and values.
func Parse(line []byte) (Record, error) { return parse(line, "") }

// parse is [Parse], but the record must have this protocol hash unless protocol is "".
func parse(line []byte, protocol string) (r Record, err error) {
	kind := "a record"
	if bytes.Contains(line, []byte(`"readings":{`)) {
		kind = "a training"
	}
	if line, err = unsealed(line); err != nil {
		return r, fmt.Errorf("%s %w", kind, err)
	}
	if kind == "a record" {
		if r, err = decodeAs[Record](line, kind); err == nil && r.Cell != r.CellOf().Key() {
			err = fmt.Errorf("a record of cell %q with the parameters of %q", r.Cell, r.CellOf().Key())
		}
	} else {
		var t training
		if t, err = decodeAs[training](line, kind); err == nil {
			r, err = t.record()
		}
	}
	if err != nil {
		return r, err
	}
	if protocol != "" && r.Protocol != protocol {
		return r, fmt.Errorf("%s under protocol %.20q: expected %s; keep those of other rules in a folder of their own", kind,
			r.Protocol, protocol)
	}
	if err := check(r); err != nil {
		return r, fmt.Errorf("%s with %w", kind, err)
	}
	return r, nil
}

func decodeAs[T any](line []byte, name string) (value T, err error) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&value); err != nil {
		return value, fmt.Errorf("not %s: %w", name, err)
	}
	if rest, _ := io.ReadAll(decoder.Buffered()); len(bytes.TrimSpace(rest)) > 0 {
		return value, fmt.Errorf("%d bytes after %s: expected one per line", len(rest), name)
	}
	return value, nil
}

// A line's last field is the CRC-32C of the text before it. Lines of old versions lack it.
const (
	sumField = `,"crc32c":"`
	sumEnd   = `"}`
	sumSize  = len(sumField) + 8 + len(sumEnd)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sealed(line []byte) []byte {
	body := bytes.TrimSuffix(line, []byte("}"))
	return fmt.Appendf(nil, "%s%s%08x%s", body, sumField, crc32.Checksum(body, castagnoli), sumEnd)
}

func unsealed(line []byte) ([]byte, error) {
	line = bytes.TrimRight(line, "\r\n")
	at := len(line) - sumSize
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(sumField)) || !bytes.HasSuffix(line, []byte(sumEnd)) {
		return line, nil
	}
	said := string(line[at+len(sumField) : len(line)-len(sumEnd)])
	if is := fmt.Sprintf("%08x", crc32.Checksum(line[:at], castagnoli)); said != is {
		return nil, fmt.Errorf("that was changed after it was written: its CRC-32C is %s, expected %q", is, said)
	}
	return append(line[:at:at], '}'), nil
}

// Verify rereads all records and returns the number of trials. Contradictory, unreadable and incomplete lines are
// errors.
func (s *Store) Verify() (trials int, err error) {
	type place struct {
		path   string
		line   int
		record Record
	}
	type measured struct {
		trialID
		digits string
	}
	paths, err := s.files()
	if err != nil {
		return 0, err
	}
	first, seen := map[measured]place{}, map[trialID]bool{}
	var wrong, unread []error
	for _, path := range paths {
		_, err := s.read(path, 0, func(number int, t Record) {
			id := measured{idOf(t), t.Digits}
			seen[id.trialID] = true
			old, ok := first[id]
			if !ok {
				first[id] = place{path, number, t}
			} else if found := old.record.Differences(t); len(found) > 0 {
				wrong = append(wrong, fmt.Errorf("%s: line %d: contradicts %s, line %d, of the same trial (%s, seed %d, %s): %s: "+
					"remove what is wrong of both, or both, and the trial is run again", path, number, old.path, old.line, t.Cell,
					t.Seed, t.Backend, strings.Join(found, "; ")))
			}
		})
		if !isNoFile(err) {
			unread = append(unread, err)
		}
	}
	const most = 10
	if more := len(wrong) - most; more > 0 {
		wrong = append(wrong[:most:most], fmt.Errorf("and %d more", more))
	}
	return len(seen), errors.Join(append(wrong, unread...)...)
}
