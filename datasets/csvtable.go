package datasets

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxCSVLine caps one line: a million features of 16 characters.
const maxCSVLine = 16 << 20

// csvTable reads a table with a header line, one line at a time and without allocating for each field. Fields may be
// quoted ("a, ""b"""), but must not span lines. A byte order mark, CRLF and blank lines are tolerated.
type csvTable struct {
	name    string // for errors
	ctx     context.Context
	r       *bufio.Reader
	line    int // number of the line read last, from 1
	header  []string
	fields  [][]byte // of the line read last; overwritten by the next
	long    []byte   // a line that does not fit the reader's buffer
	unquote []byte   // quoted fields without their quotes
	err     error
}

// newCSVTable reads the header line.
func newCSVTable(ctx context.Context, r io.Reader, name string) (*csvTable, error) {
	t := &csvTable{name: name, ctx: ctx, r: bufio.NewReaderSize(r, 1<<18)}
	if !t.Next() {
		if t.err != nil {
			return nil, t.err
		}
		return nil, fmt.Errorf("%s: empty: expected a header line that names the columns", name)
	}
	for _, f := range t.fields {
		t.header = append(t.header, string(f))
	}
	return t, nil
}

func (t *csvTable) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: line %d: %s", t.name, t.line, fmt.Sprintf(format, args...))
}

// Column is the place of the first of the names that the header has, in any case.
func (t *csvTable) Column(names ...string) (int, error) {
	for _, name := range names {
		if i := slices.IndexFunc(t.header, func(h string) bool { return strings.EqualFold(h, name) }); i >= 0 {
			return i, nil
		}
	}
	found := t.header
	if len(found) > 8 {
		found = append(slices.Clone(found[:8]), "…")
	}
	return 0, t.errorf("no column %q: the header reads %.200q. The first line must name the columns", names[0], strings.Join(found, ","))
}

// Next reads a line into fields. It returns false at the end, or after an error, which is then in err.
func (t *csvTable) Next() bool {
	for t.err == nil {
		raw, err := t.rawLine()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.err = err
			}
			return false
		}
		if t.line == 1 {
			raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
		}
		if len(raw) == 0 {
			continue
		}
		if t.err = t.split(raw); t.err != nil {
			return false
		}
		if t.header != nil && len(t.fields) != len(t.header) {
			t.err = t.errorf("%d columns: expected %d, as in the header", len(t.fields), len(t.header))
			return false
		}
		return true
	}
	return false
}

// rawLine returns the next line without its end; io.EOF after the last.
func (t *csvTable) rawLine() ([]byte, error) {
	if t.line%4096 == 0 {
		if err := t.ctx.Err(); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", t.name, t.line, err)
		}
	}
	raw, err := t.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		t.long = t.long[:0]
		for errors.Is(err, bufio.ErrBufferFull) {
			if len(t.long)+len(raw) > maxCSVLine {
				return nil, fmt.Errorf("%s: line %d: longer than %d bytes", t.name, t.line+1, maxCSVLine)
			}
			t.long = append(t.long, raw...)
			raw, err = t.r.ReadSlice('\n')
		}
		t.long = append(t.long, raw...)
		raw = t.long
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: line %d: %w", t.name, t.line+1, err)
	}
	if len(raw) == 0 {
		return nil, io.EOF
	}
	t.line++
	raw = bytes.TrimSuffix(raw, []byte("\n"))
	return bytes.TrimSuffix(raw, []byte("\r")), nil
}

// split cuts a line into fields, trimmed of spaces unless quoted.
func (t *csvTable) split(raw []byte) error {
	t.fields = t.fields[:0]
	if bytes.IndexByte(raw, '"') < 0 {
		for {
			end := bytes.IndexByte(raw, ',')
			if end < 0 {
				t.fields = append(t.fields, trimSpaces(raw))
				return nil
			}
			t.fields = append(t.fields, trimSpaces(raw[:end]))
			raw = raw[end+1:]
		}
	}
	// Quotes only ever go away, so this never grows beyond the line and fields cut from it stay valid.
	t.unquote = slices.Grow(t.unquote[:0], len(raw))
	for {
		rest := bytes.TrimLeft(raw, " \t")
		var field []byte
		if len(rest) > 0 && rest[0] == '"' {
			begin := len(t.unquote)
			rest = rest[1:]
			for {
				end := bytes.IndexByte(rest, '"')
				if end < 0 {
					return t.errorf("column %d: a quote is not closed. Fields must not span lines", len(t.fields)+1)
				}
				t.unquote = append(t.unquote, rest[:end]...)
				rest = rest[end+1:]
				if len(rest) == 0 || rest[0] != '"' {
					break
				}
				t.unquote = append(t.unquote, '"')
				rest = rest[1:]
			}
			field = t.unquote[begin:len(t.unquote):len(t.unquote)]
			rest = bytes.TrimLeft(rest, " \t")
			if len(rest) > 0 && rest[0] != ',' {
				return t.errorf("column %d: found %.20q after the closing quote: expected a comma", len(t.fields)+1, rest)
			}
			raw = rest
		} else {
			end := bytes.IndexByte(raw, ',')
			if end < 0 {
				end = len(raw)
			}
			field, raw = trimSpaces(raw[:end]), raw[end:]
		}
		t.fields = append(t.fields, field)
		if len(raw) == 0 {
			return nil
		}
		raw = raw[1:]
	}
}

// trimSpaces is bytes.TrimSpace for the common case that there are none.
func trimSpaces(b []byte) []byte {
	if len(b) > 0 && b[0] > ' ' && b[len(b)-1] > ' ' {
		return b
	}
	return bytes.Trim(b, " \t")
}
