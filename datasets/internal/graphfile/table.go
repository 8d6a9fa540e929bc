package graphfile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"nodemask/internal/ended"
)

// maxLine allows a million fields of 16 characters.
const maxLine = 16 << 20

// maxBlank limits empty lines, which compress to almost nothing.
const maxBlank = 1 << 20

// Table reads a table without allocating per field. Fields may be quoted ("a, ""b""") but not span lines. Byte order
// mark, CRLF and blank lines are accepted.
type Table struct {
	Name   string   // of the file, for errors
	Header []string // column names
	Fields [][]byte // of the last line, as many as Header; the next overwrites them

	in      *File
	ctx     context.Context
	begin   int64 // of the last line, in bytes
	end     int64 // of the last line, in bytes
	r       *bufio.Reader
	comma   byte   // separator: comma, semicolon or tab
	newline byte   // line end: newline, or carriage return alone
	line    int    // of the last line, from 1
	ahead   int    // number of a line read ahead; 0: none
	blank   int    // empty lines so far
	width   int    // columns per line; 0: not known yet
	long    []byte // a line that does not fit the reader's buffer
	unquote []byte // quoted fields without their quotes
	err     error
}

// NewTable reads the header line. Once ctx is done, reads return its error.
func NewTable(ctx context.Context, in *File) (*Table, error) {
	t := &Table{Name: in.Name, in: in, ctx: ctx, comma: ',', newline: '\n', r: bufio.NewReaderSize(Text(in), 1<<18)}
	t.findDialect()
	if !t.Next() {
		if t.err != nil {
			return nil, t.err
		}
		return nil, fmt.Errorf("%s: empty: expected a header line that names the columns", in.Name)
	}
	for _, f := range t.Fields {
		t.Header = append(t.Header, string(f))
	}
	return t, nil
}

// NewBareTable returns a table without header, read from r, which unpacks in.
func NewBareTable(ctx context.Context, in *File, r io.Reader) *Table {
	return &Table{Name: in.Name, in: in, ctx: ctx, comma: ',', newline: '\n', r: bufio.NewReaderSize(r, 1<<18)}
}

func (t *Table) findDialect() {
	begin, _ := t.r.Peek(1 << 14)
	if bytes.IndexByte(begin, '\n') < 0 && bytes.IndexByte(begin, '\r') >= 0 {
		t.newline = '\r'
	}
	header, _, _ := bytes.Cut(begin, []byte{t.newline})
	for _, c := range []byte(";\t") {
		if t.comma == ',' && bytes.IndexByte(header, ',') < 0 && bytes.IndexByte(header, c) >= 0 {
			t.comma = c
		}
	}
}

// feature is [ParseFeature], with decimal commas if semicolons separate fields.
func (t *Table) feature(field []byte) (float32, error) {
	if t.comma == ';' && bytes.Count(field, []byte(",")) == 1 && bytes.IndexByte(field, '.') < 0 {
		field = bytes.Replace(field, []byte(","), []byte("."), 1)
	}
	return ParseFeature(field)
}

// Take counts bytes that the caller is about to keep; see [memory.Budget].
func (t *Table) Take(bytes int64) error {
	if err := t.in.Take(bytes); err != nil {
		return t.Errorf("%w", err)
	}
	return nil
}

// Errorf returns an error about the last line.
func (t *Table) Errorf(format string, args ...any) error {
	return fmt.Errorf("%s: line %d: %w", t.Name, t.line, fmt.Errorf(format, args...))
}

// Column is [Find], with an error for a missing column.
func (t *Table) Column(names ...string) (int, error) {
	if i := Find(t.Header, names...); i >= 0 {
		return i, nil
	}
	return 0, t.Errorf("no column %q: the header reads %.200q. The first line must name the columns",
		names[0], strings.Join(t.Header, ","))
}

// Err returns the error that ended Next; nil at the end of the table.
func (t *Table) Err() error { return t.err }

// Next reads a line into Fields; false at the end or after an error, see [Table.Err].
func (t *Table) Next() bool {
	if t.ahead > 0 {
		t.line, t.ahead = t.ahead, 0
		return true
	}
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
			if t.blank++; t.blank > maxBlank {
				t.err = t.Errorf("more than %d empty lines: expected a table", maxBlank)
				return false
			}
			continue
		}
		if !utf8.Valid(raw) {
			t.err = t.notUTF8(raw)
			return false
		}
		if t.err = t.split(raw); t.err != nil {
			return false
		}
		switch {
		case t.width == 0:
			t.width = len(t.Fields)
		case len(t.Fields) != t.width:
			first := "header"
			if t.Header == nil {
				first = "first line"
			}
			t.err = t.Errorf("%d columns: expected %d, as in the %s", len(t.Fields), t.width, first)
			return false
		}
		return true
	}
	return false
}

// peek reads the line for the next Next; errors still name the previous line.
func (t *Table) peek() bool {
	line := t.line
	more := t.Next()
	if more {
		t.ahead, t.line = t.line, line
	}
	return more
}

// notUTF8 names the first invalid byte: models could not save such ids or classes.
func (t *Table) notUTF8(raw []byte) error {
	at := 0
	for at < len(raw) {
		r, size := utf8.DecodeRune(raw[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return t.Errorf("byte %d of the line is 0x%02x, which is not UTF-8 (byte %d of the file, counted from 0): convert "+
		"the file, for instance by 'iconv -f LATIN1 -t UTF-8', or save it as UTF-8",
		at, raw[at], t.begin+int64(at))
}

func (t *Table) rawLine() ([]byte, error) {
	if t.line%4096 == 0 {
		if err := ended.Err(t.ctx); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", t.Name, t.line, err)
		}
	}
	t.begin = t.end
	raw, err := t.r.ReadSlice(t.newline)
	if errors.Is(err, bufio.ErrBufferFull) {
		t.long = t.long[:0]
		for errors.Is(err, bufio.ErrBufferFull) {
			if len(t.long)+len(raw) > maxLine {
				return nil, fmt.Errorf("%s: line %d: longer than %d bytes", t.Name, t.line+1, maxLine)
			}
			t.long = append(t.long, raw...)
			raw, err = t.r.ReadSlice(t.newline)
		}
		t.long = append(t.long, raw...)
		raw = t.long
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: line %d: %w", t.Name, t.line+1, err)
	}
	if len(raw) == 0 {
		return nil, io.EOF
	}
	t.line++
	t.end += int64(len(raw))
	raw = bytes.TrimSuffix(raw, []byte{t.newline})
	return bytes.TrimSuffix(raw, []byte("\r")), nil
}

func (t *Table) split(raw []byte) error {
	t.Fields = t.Fields[:0]
	if bytes.IndexByte(raw, '"') < 0 {
		for {
			end := bytes.IndexByte(raw, t.comma)
			if end < 0 {
				t.Fields = append(t.Fields, trimSpaces(raw))
				return nil
			}
			t.Fields = append(t.Fields, trimSpaces(raw[:end]))
			raw = raw[end+1:]
		}
	}
	// Unquoting shrinks, so fields cut from this buffer stay valid.
	t.unquote = slices.Grow(t.unquote[:0], len(raw))
	for {
		rest := bytes.TrimLeft(raw, t.blanks())
		var field []byte
		if len(rest) > 0 && rest[0] == '"' {
			begin := len(t.unquote)
			rest = rest[1:]
			for {
				end := bytes.IndexByte(rest, '"')
				if end < 0 {
					return t.Errorf("column %d: a quote is not closed. Fields must not span lines", len(t.Fields)+1)
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
			rest = bytes.TrimLeft(rest, t.blanks())
			if len(rest) > 0 && rest[0] != t.comma {
				return t.Errorf("column %d: found %.20q after the closing quote: expected a comma", len(t.Fields)+1, rest)
			}
			raw = rest
		} else {
			end := bytes.IndexByte(raw, t.comma)
			if end < 0 {
				end = len(raw)
			}
			field, raw = trimSpaces(raw[:end]), raw[end:]
		}
		t.Fields = append(t.Fields, field)
		if len(raw) == 0 {
			return nil
		}
		raw = raw[1:]
	}
}

func (t *Table) blanks() string {
	if t.comma == '\t' {
		return " "
	}
	return " \t"
}

func trimSpaces(b []byte) []byte {
	if len(b) > 0 && b[0] > ' ' && b[len(b)-1] > ' ' {
		return b
	}
	return bytes.Trim(b, " \t")
}
