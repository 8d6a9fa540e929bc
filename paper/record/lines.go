package record

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"nodemask/nmgnn/hyper"
)

// errNoFile reports a folder, pipe or device in place of a file.
var errNoFile = errors.New("expected a file")

// read calls do for each whole line after byte from, and returns the end of the last.
func (s *Store) read(
	path string, from int64, reader *reader, do func(number int, t Record) error,
) (end int64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for a writer
		return 0, fmt.Errorf("%s: %w", path, errNoFile)
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
	var held Pair
	for number := 1; ; number++ {
		line, err := lines.ReadSlice('\n')
		unended := err == io.EOF
		if unended && !isWhole(line) {
			return end, nil // unfinished, or cut short
		}
		var t Record
		if err == nil || unended {
			t, err = reader.parse(line)
		}
		if p := pairOf(t); err == nil && p != held {
			if held = p; !s.anyFile && filepath.Base(path) != filepath.Base(s.path(p)) {
				err = fmt.Errorf("a trial of %s on %s: expected it in %s; move the line there", p.Model, p.Data,
					filepath.Base(s.path(p)))
			}
		}
		if err == nil {
			err = do(number, t)
		}
		if err != nil {
			where := fmt.Sprintf("line %d", number)
			if from > 0 {
				where = fmt.Sprintf("byte %d", end)
			}
			return end, fmt.Errorf("%s: %s: %w: remove the line, and the command that trained it ('nodemask reproduce' or "+
				"'advise') runs the trial again", path, where, err)
		}
		if unended {
			return end, nil // read again once the next append ends it
		}
		end += int64(len(line))
	}
}

// isNoFile is true for a link to a missing file, too.
func isNoFile(err error) bool { return errors.Is(err, errNoFile) || errors.Is(err, fs.ErrNotExist) }

// each calls do for every trial of pairs (all if no pairs are given) in order, except for cells that only rejects.
func (s *Store) each(
	only func(key string) bool, do func(path string, number int, t Record) error, pairs ...Pair,
) error {
	files, err := s.files(pairs...)
	if err != nil {
		return err
	}
	reader := newReader(s.protocol)
	reader.only = only
	for _, path := range files {
		_, err := s.read(path, 0, reader, func(number int, t Record) error {
			if skipped(t) {
				return nil
			}
			return do(path, number, t)
		})
		if err != nil && !isNoFile(err) {
			return err
		}
	}
	return nil
}

// reader parses lines, decoding each training's head once.
type reader struct {
	protocol string                // "": any
	only     func(key string) bool // nil: all
	heads    map[string]head
}

// head is a training's line before the seed. It identifies the cell.
type head struct {
	record Record
	cell   Cell
}

func newReader(protocol string) *reader { return &reader{protocol: protocol, heads: map[string]head{}} }

// skipped reports whether reader.only rejected r, which then has only data and model.
func skipped(r Record) bool { return r.Cell == "" }

func (r *reader) parse(line []byte) (one Record, err error) {
	body, end, err := unsealed(line)
	if err != nil {
		return one, fmt.Errorf("%s %w", kind(line), err)
	}
	one, c, err := r.decode(append(body[:len(body):len(body)], end...))
	if err != nil || skipped(one) {
		return one, err
	}
	if r.protocol != "" && one.Protocol != r.protocol {
		return one, fmt.Errorf("%s under protocol %.20q: expected %s; keep those of other rules in a folder of their own",
			kind(line), one.Protocol, r.protocol)
	}
	return one, check(one, c)
}

// decode rejects unknown fields.
func (r *reader) decode(line []byte) (one Record, c Cell, err error) {
	if !hasReadings(line) {
		if one, err = decodeAs[Record](line, "a record"); err == nil {
			c, err = recordedCell(one)
		}
		if r.only != nil && err == nil && !r.only(one.Cell) {
			return skip(one), c, nil
		}
		return one, c, err
	}
	at := bytes.Index(line, []byte(seedField))
	if at < 0 {
		return one, c, errors.New("a training without a seed")
	}
	h, known := r.heads[string(line[:at])]
	if !known {
		t, err := decodeAs[training](append(line[:at:at], '}'), "a training")
		if err != nil {
			return one, c, err
		}
		if h.cell, err = t.cell(); err != nil {
			return one, c, err
		}
		h.record = h.cell.Read(0, "", nil)
		r.heads[string(line[:at])] = h
	}
	if r.only != nil && !r.only(h.record.Cell) {
		return skip(h.record), h.cell, nil
	}
	t, err := decodeAs[training](append([]byte{'{'}, line[at+1:]...), "a training")
	return t.record(h.record), h.cell, err
}

func skip(r Record) Record { return Record{Data: r.Data, Parameters: hyper.Parameters{Model: r.Model}} }

func hasReadings(line []byte) bool { return bytes.Contains(line, []byte(`"readings":{`)) }

func kind(line []byte) string {
	if hasReadings(line) {
		return "a training"
	}
	return "a record"
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

// seedField ends the head of a training; quoted text cannot contain it.
const seedField = `,"seed":`

// A line's last field is the CRC-32C of the text before it. Older lines lack it.
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

// unsealed splits an object into the text before its checksum and the brace (end "" if it is not an object). A wrong
// checksum is an error.
func unsealed(line []byte) (body []byte, end string, err error) {
	line = bytes.TrimRight(line, "\r\n")
	at := len(line) - sumSize
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(sumField)) || !bytes.HasSuffix(line, []byte(sumEnd)) {
		if body, ok := bytes.CutSuffix(line, []byte("}")); ok {
			return body, "}", nil
		}
		return line, "", nil
	}
	var sum [4]byte
	var is [8]byte
	binary.BigEndian.PutUint32(sum[:], crc32.Checksum(line[:at], castagnoli))
	hex.Encode(is[:], sum[:])
	if said := line[at+len(sumField) : len(line)-len(sumEnd)]; string(said) != string(is[:]) {
		return nil, "", fmt.Errorf("that was changed after it was written: its CRC-32C is %s, expected %q", is[:], said)
	}
	return line[:at], "}", nil
}

// Verify rereads all records and returns the number of trials; contradictory, unreadable and torn lines are errors.
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
	first, seen := map[measured]place{}, map[trialID]bool{}
	var wrong []error
	err = s.each(nil, func(path string, number int, t Record) error {
		id := measured{idOf(t), t.Digits}
		seen[id.trialID] = true
		old, ok := first[id]
		if !ok {
			first[id] = place{path, number, t}
		} else if found := old.record.Differences(t); len(found) > 0 {
			earlier := fmt.Sprintf("%s, line %d", old.path, old.line)
			wrong = append(wrong, fmt.Errorf("%s: line %d: %w: "+
				"remove what is wrong of both, or both, and the trial is run again",
				path, number, contradiction(idOf(t), earlier, found)))
		}
		return nil
	})
	return len(seen), errors.Join(named(wrong), err, s.checkEnds())
}

func contradiction(id trialID, earlier string, differences []string) error {
	return fmt.Errorf("contradicts %s, of the same trial (%s, seed %d, %s): %s",
		earlier, id.Cell, id.Seed, id.Backend, strings.Join(differences, "; "))
}

func named(errs []error) error {
	const most = 10
	if more := len(errs) - most; more > 0 {
		errs = append(errs[:most:most], fmt.Errorf("and %d more", more))
	}
	return errors.Join(errs...)
}
