package graphfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"nodemask/internal/ended"
)

// maxLine allows a million fields of 16 characters.
const maxLine = 16 << 20

// Table reads comma-separated values and trims fields. It accepts a byte order mark, any line ends and blank lines.
type Table struct {
	Name   string
	Header []string
	Fields []string // fields of the line last read; the next line overwrites them

	in      *File
	ctx     context.Context
	limited *TokenReader
	r       *csv.Reader
	line    int // number of the line last read, from 1
	ahead   int // number of the line read ahead; 0: none
	lines   int
	width   int
	err     error
}

// NewTable reads the header line, which shows whether commas, semicolons or tabs separate fields.
func NewTable(ctx context.Context, in *File) (*Table, error) {
	text := bufio.NewReaderSize(Text(in), 1<<16)
	begin, _ := text.Peek(1 << 14)
	if mark := []byte("\ufeff"); bytes.HasPrefix(begin, mark) {
		_, _ = text.Discard(len(mark))
	}
	var r io.Reader = text
	if bytes.IndexByte(begin, '\n') < 0 && bytes.IndexByte(begin, '\r') >= 0 {
		r = oldLines{text}
	}
	t := NewBareTable(ctx, in, r)
	header, _, _ := bytes.Cut(bytes.ReplaceAll(begin, []byte("\r"), []byte("\n")), []byte("\n"))
	for _, c := range ";\t" {
		if t.r.Comma == ',' && bytes.IndexByte(header, ',') < 0 && bytes.ContainsRune(header, c) {
			t.r.Comma = c
		}
	}
	t.r.TrimLeadingSpace = t.r.Comma != '\t' // trimming tabs would lose empty fields
	if !t.Next() {
		if t.err != nil {
			return nil, t.err
		}
		return nil, fmt.Errorf("%s: empty: expected a header line that names the columns", in.Name)
	}
	t.Header = append(t.Header, t.Fields...)
	return t, nil
}

type oldLines struct{ in io.Reader }

func (o oldLines) Read(b []byte) (int, error) {
	n, err := o.in.Read(b)
	for i, c := range b[:n] {
		if c == '\r' {
			b[i] = '\n'
		}
	}
	return n, err
}

// NewBareTable returns a table without a header line. The reader r yields the unpacked text of file.
func NewBareTable(ctx context.Context, file *File, r io.Reader) *Table {
	t := &Table{Name: file.Name, in: file, ctx: ctx, limited: &TokenReader{Ctx: ctx, R: r, Most: maxLine, What: "line"}}
	t.r = csv.NewReader(t.limited)
	t.r.FieldsPerRecord, t.r.ReuseRecord = -1, true
	return t
}

func (t *Table) feature(field string) (float32, error) {
	if t.r.Comma == ';' && strings.Count(field, ",") == 1 && !strings.Contains(field, ".") {
		field = strings.Replace(field, ",", ".", 1)
	}
	return ParseFeature(field)
}

// Take counts bytes that the caller is about to allocate; see [memory.Budget].
func (t *Table) Take(bytes int64) error {
	if err := t.in.Take(bytes); err != nil {
		return t.Errorf("%w", err)
	}
	return nil
}

// Errorf returns an error that names the line last read.
func (t *Table) Errorf(format string, args ...any) error {
	return fmt.Errorf("%s: line %d: %w", t.Name, t.line, fmt.Errorf(format, args...))
}

// Column calls [Find] on the header, but returns an error for a missing column.
func (t *Table) Column(names ...string) (int, error) {
	if i := Find(t.Header, names...); i >= 0 {
		return i, nil
	}
	return 0, t.Errorf("no column %q: the header reads %.200q. The first line must name the columns",
		names[0], strings.Join(t.Header, ","))
}

// Err returns the error that ended Next; nil at the end of the table.
func (t *Table) Err() error { return t.err }

// Next reads a line into Fields. It returns false at the end and after an error; see [Table.Err].
func (t *Table) Next() bool {
	if t.ahead > 0 {
		t.line, t.ahead = t.ahead, 0
		return true
	}
	if t.err != nil {
		return false
	}
	err := t.read()
	if err == io.EOF {
		return false
	}
	if err != nil {
		t.err = t.Errorf("%w", err)
	}
	return err == nil
}

func (t *Table) read() (err error) {
	if t.lines%4096 == 0 {
		if err := ended.Err(t.ctx); err != nil {
			return err
		}
	}
	if err := t.limited.Next(); err != nil {
		return err
	}
	if t.Fields, err = t.r.Read(); err != nil {
		var syntax *csv.ParseError
		if errors.As(err, &syntax) {
			t.line, err = syntax.StartLine, fmt.Errorf("column %d: %w", syntax.Column, syntax.Err)
		} else if err != io.EOF {
			t.line++
		}
		return err
	}
	t.lines++
	t.line, _ = t.r.FieldPos(0)
	for i, field := range t.Fields {
		if !utf8.ValidString(field) {
			return fmt.Errorf("field %d is %.40q, which is not UTF-8: convert the file, for instance by 'iconv -f LATIN1 -t "+
				"UTF-8', or save it as UTF-8", i+1, field)
		}
		t.Fields[i] = strings.TrimSpace(field)
	}
	if t.lines == 1 {
		t.width = len(t.Fields)
	}
	if len(t.Fields) != t.width {
		return fmt.Errorf("%d columns: expected %d, as in the first line", len(t.Fields), t.width)
	}
	return nil
}

// peek reads the next line into Fields. Until Next is called, errors still name the previous line.
func (t *Table) peek() bool {
	line := t.line
	more := t.Next()
	if more {
		t.ahead, t.line = t.line, line
	}
	return more
}
