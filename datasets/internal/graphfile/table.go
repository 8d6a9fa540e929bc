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

// maxLine limits one line to a million fields of 16 characters.
const maxLine = 16 << 20

// maxBlank limits the empty lines, which take next to no room in a packed file.
const maxBlank = 1 << 20

// Table reads a table without allocating for each field. Fields may be quoted ("a, ""b"""), but must not span lines. A
// byte order mark, CRLF and blank lines are tolerated.
type Table struct {
	Name   string   // of the file, for errors
	Header []string // the names of the columns
	Fields [][]byte // of the line read last, as many as Header; overwritten by the next

	in      *File
	ctx     context.Context
	begin   int64 // of the line read last, in bytes
	end     int64 // of the line read last, in bytes
	r       *bufio.Reader
	comma   byte   // between fields: a comma, semicolon or tab
	newline byte   // of a line: a newline, or a carriage return alone
	line    int    // number of the line read last, from 1
	blank   int    // empty lines so far
	width   int    // the columns of every line; 0: not known yet
	long    []byte // a line that does not fit the reader's buffer
	unquote []byte // quoted fields without their quotes
	err     error
}

// New reads the header line. Once ctx is done, reading ends with its error.
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

// NewBare returns a table without a header line, whose first line says how many columns all have. r unpacks in.
func NewBareTable(ctx context.Context, in *File, r io.Reader) *Table {
	return &Table{Name: in.Name, in: in, ctx: ctx, comma: ',', newline: '\n', r: bufio.NewReaderSize(r, 1<<18)}
}

// findDialect finds what stands between fields and at the ends of lines, by the first line: a semicolon or a tab where
// there is no comma, and a carriage return where there is no newline.
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

// Feature reads a field as [ParseFeature] does, and with a decimal comma where semicolons separate fields.
func (t *Table) Feature(field []byte) (float32, error) {
	if t.comma == ';' && bytes.Count(field, []byte(",")) == 1 && bytes.IndexByte(field, '.') < 0 {
		field = bytes.Replace(field, []byte(","), []byte("."), 1)
	}
	return ParseFeature(field)
}

// Take counts bytes that the caller is about to keep of the table; see [memory.Budget].
func (t *Table) Take(bytes int64) error {
	if err := t.in.Take(bytes); err != nil {
		return t.Errorf("%w", err)
	}
	return nil
}

// Errorf returns an error about the line read last. It may wrap others, as fmt.Errorf's do.
func (t *Table) Errorf(format string, args ...any) error {
	return fmt.Errorf("%s: line %d: %w", t.Name, t.line, fmt.Errorf(format, args...))
}

// Column returns what [Find] does, or an error if the column is not there.
func (t *Table) Column(names ...string) (int, error) {
	if i := Find(t.Header, names...); i >= 0 {
		return i, nil
	}
	found := t.Header
	if len(found) > 8 {
		found = append(slices.Clone(found[:8]), "…")
	}
	return 0, t.Errorf("no column %q: the header reads %.200q. The first line must name the columns",
		names[0], strings.Join(found, ","))
}

// Err returns the error that ended Next; nil if that was the end of the table.
func (t *Table) Err() error { return t.err }

// Next reads a line into Fields. It returns false at the end of the table, and after an error, which [Table.Err]
// returns.
func (t *Table) Next() bool {
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

// notUTF8 says which byte of a line is not UTF-8. An id or class that is not text could be saved with no model.
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

// rawLine returns the next line without its end; io.EOF after the last.
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

// split cuts a line into fields, trimmed of spaces unless quoted.
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
	// Quotes only ever go away, so this never grows beyond the line and fields cut from it stay valid.
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

// blanks are what may stand around a quoted field.
func (t *Table) blanks() string {
	if t.comma == '\t' {
		return " "
	}
	return " \t"
}

// trimSpaces removes spaces and tabs from both ends. Most fields have none, which is soon seen.
func trimSpaces(b []byte) []byte {
	if len(b) > 0 && b[0] > ' ' && b[len(b)-1] > ' ' {
		return b
	}
	return bytes.Trim(b, " \t")
}
