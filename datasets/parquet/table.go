package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"nodemask/datasets/internal/graphfile"
)

const (
	maxColumns = 1 << 17
	maxFooter  = 64 << 20

	// What columns are read through: so much each, but all together no more than the next, or the least each.
	mostBuffer, allBuffers, leastBuffer = 256 << 10, 32 << 20, 4 << 10
	// What a footer has for a column of a group at least, as arrow writes it.
	columnFooter = 64
)

// kind is how a column's values are read.
type kind int

const (
	other kind = iota
	whole
	floating
	text
)

// column is a column without nested or repeated values.
type column struct {
	name      string
	described string // its type, for notes
	kind      kind
	unsigned  bool
	leaf      int // its place among the file's columns; -1 if nothing of it is read
}

// table is an open file.
type table struct {
	*graphfile.File
	ctx     context.Context
	file    *parquet.File
	buffer  int // bytes that a column is read through
	rows    int64
	columns []*column
	names   []string // of the columns
	// values has room for some of a page, for all cursors: whoever is given them has used them when another reads.
	values [1024]parquet.Value
}

func (t *table) Errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", t.Name, fmt.Errorf(format, args...))
}

// readTable opens a file for use. The library may panic over a damaged one, which becomes an error here.
func readTable(ctx context.Context, path string, use func(t *table) error) (err error) {
	f, err := graphfile.Open(path)
	if err != nil {
		return err
	}
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%s: %w: %.200s", path, errDamaged, oneLine(fmt.Sprint(fault)))
		}
		err = errors.Join(err, f.Close())
	}()
	t, err := openTable(ctx, f)
	if err != nil {
		return err
	}
	return use(t)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func openTable(ctx context.Context, f *graphfile.File) (*table, error) {
	t := &table{File: f, ctx: ctx}
	var end [8]byte // the footer's length and a magic word
	if f.Size < 12 {
		return nil, t.Errorf("%d bytes: not a Parquet file", f.Size)
	}
	if _, err := f.ReadAt(end[:], f.Size-8); err != nil {
		return nil, t.Errorf("%w", err)
	}
	footer := int64(binary.LittleEndian.Uint32(end[:]))
	if string(end[4:]) != "PAR1" || footer > min(maxFooter, f.Size-12) {
		return nil, t.Errorf("byte %d: found %q: expected the end of a Parquet file, the length of its footer and "+
			"\"PAR1\". Get the file again", f.Size-8, end[:])
	}
	about := make([]byte, footer)
	if _, err := f.ReadAt(about, f.Size-8-footer); err != nil {
		return nil, t.Errorf("%w", err)
	}
	err := checkFooter(about)
	if err != nil {
		return nil, t.Errorf("%w: %w", errDamaged, err)
	}
	t.buffer = max(leastBuffer, min(mostBuffer, allBuffers/(1+len(about)/columnFooter)))
	if t.file, err = parquet.OpenFile(f, f.Size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true),
		parquet.ReadBufferSize(t.buffer)); err != nil {
		return nil, t.Errorf("%w: %.200s", errDamaged, oneLine(err.Error()))
	}
	for _, g := range t.file.RowGroups() {
		if n := g.NumRows(); n < 0 || t.rows+n > limit(f.Size) {
			return nil, t.Errorf("more than %d rows in a file of %d bytes: expected fewer", limit(f.Size), f.Size)
		}
		t.rows += g.NumRows()
	}
	fields := t.file.Schema().Fields()
	if len(fields) > maxColumns {
		return nil, t.Errorf("%d columns: expected at most %d", len(fields), maxColumns)
	}
	seen := map[string]bool{}
	for _, field := range fields {
		c := &column{name: field.Name(), leaf: -1, described: "nested"}
		if seen[c.name] {
			return nil, t.Errorf("column %.80q is there twice", c.name)
		}
		seen[c.name] = true
		if leaf, ok := t.file.Schema().Lookup(c.name); ok && field.Leaf() && !field.Repeated() {
			c.leaf, c.described = leaf.ColumnIndex, field.Type().String()
			c.kind, c.unsigned = kindOf(field.Type())
		}
		t.columns, t.names = append(t.columns, c), append(t.names, c.name)
	}
	return t, nil
}

// kindOf returns how a type is read. Dates, decimals and the like are stored as numbers, but are not read as such.
func kindOf(t parquet.Type) (k kind, unsigned bool) {
	if l := t.LogicalType(); l != nil && l.Value != nil {
		switch logical := l.Value.(type) {
		case *format.IntType:
			unsigned = !logical.IsSigned
		case *format.StringType, *format.EnumType:
			return text, false
		default:
			return other, false
		}
	}
	switch t.Kind() {
	case parquet.Boolean, parquet.Int32, parquet.Int64:
		return whole, unsigned
	case parquet.Float, parquet.Double:
		return floating, false
	case parquet.ByteArray:
		return text, false
	}
	return other, false
}

func (t *table) missing(name string) error {
	return t.Errorf("no column %q: found %.200q", name, strings.Join(t.names[:min(len(t.names), 8)], ","))
}

// idColumn finds a column of ids.
func (t *table) idColumn(names ...string) (int, error) {
	i := graphfile.Find(t.names, names...)
	if i < 0 {
		return 0, t.missing(names[0])
	}
	if c := t.columns[i]; c.kind != whole && c.kind != text {
		return 0, t.Errorf("column %q of type %s: expected whole numbers or text, as ids are", c.name, c.described)
	}
	return i, nil
}

// batch holds some values of a column, as numbers or as the library's values.
type batch struct {
	ints     []int64
	floats   []float64
	singles  []float32
	values   []parquet.Value
	unsigned bool
}

func (b batch) len() int { return max(len(b.ints), len(b.floats), len(b.singles), len(b.values)) }

func (b batch) null(i int) bool { return b.values != nil && b.values[i].IsNull() }

// int returns a whole number.
func (b batch) int(i int) int64 {
	if b.ints != nil {
		return b.ints[i]
	}
	switch v := b.values[i]; v.Kind() {
	case parquet.Boolean:
		if v.Boolean() {
			return 1
		}
		return 0
	case parquet.Int32:
		if b.unsigned {
			return int64(v.Uint32())
		}
		return int64(v.Int32())
	default:
		return v.Int64()
	}
}

// float returns a number.
func (b batch) float(i int) float64 {
	switch {
	case b.floats != nil:
		return b.floats[i]
	case b.singles != nil:
		return float64(b.singles[i])
	case b.ints != nil:
		return float64(b.ints[i])
	}
	switch v := b.values[i]; v.Kind() {
	case parquet.Float:
		return float64(v.Float())
	case parquet.Double:
		return v.Double()
	}
	if n := b.int(i); !b.unsigned || n >= 0 {
		return float64(n)
	}
	return float64(uint64(b.int(i)))
}

// each calls use with all values of a column, in batches that begin at a row.
func (t *table) each(c *column, use func(row int, b batch) error) error {
	r := t.open(c)
	defer r.close()
	row := 0
	return r.read(int(t.rows), func(b batch) error {
		err := use(row, b)
		row += b.len()
		return err
	})
}

// cursor reads a column from the first row on, group by group and page by page.
type cursor struct {
	t      *table
	c      *column
	groups []parquet.RowGroup
	pages  parquet.Pages
	page   parquet.Page
	most   int64               // bytes of the largest page so far
	left   batch               // of the page: numbers that are at hand
	values parquet.ValueReader // of the page: if they are not
}

func (t *table) open(c *column) *cursor { return &cursor{t: t, c: c, groups: t.file.RowGroups()} }

func (r *cursor) close() {
	if r.page != nil {
		parquet.Release(r.page)
		r.page = nil
	}
	if r.pages != nil {
		_ = r.pages.Close() // nothing was written
		r.pages = nil
	}
}

// read calls use with the next n values, in batches.
func (r *cursor) read(n int, use func(b batch) error) error {
	for n > 0 {
		b, err := r.next(n)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = fmt.Errorf("it ends %d rows too early", n)
			}
			if r.t.ctx.Err() == nil {
				err = fmt.Errorf("%w: %.200s", errDamaged, oneLine(err.Error()))
			}
			return r.t.Errorf("column %.80q: %w", r.c.name, err)
		}
		if more := r.page.Size() - r.most; more > 0 {
			r.most += more
			if err := r.t.Take(more); err != nil {
				return r.t.Errorf("column %.80q: %w", r.c.name, err)
			}
		}
		if err := use(b); err != nil {
			return err
		}
		n -= b.len()
	}
	return nil
}

// next returns up to n values, at least one.
func (r *cursor) next(n int) (batch, error) {
	for {
		if err := r.t.ctx.Err(); err != nil {
			return batch{}, err
		}
		if m := min(n, r.left.len()); m > 0 {
			b := r.left
			b.ints, r.left.ints = cut(b.ints, m)
			b.floats, r.left.floats = cut(b.floats, m)
			b.singles, r.left.singles = cut(b.singles, m)
			return b, nil
		}
		if r.values != nil {
			m, err := r.values.ReadValues(r.t.values[:min(n, len(r.t.values))])
			if m > 0 {
				return batch{values: r.t.values[:m], unsigned: r.c.unsigned}, nil
			}
			if err != nil && !errors.Is(err, io.EOF) {
				return batch{}, err
			}
		}
		if err := r.turn(); err != nil {
			return batch{}, err
		}
	}
}

// cut splits numbers after the first m; nil stays nil.
func cut[T any](all []T, m int) (first, rest []T) {
	if all == nil {
		return nil, nil
	}
	return all[:m:m], all[m:]
}

// turn goes to the next page; io.EOF after the last.
func (r *cursor) turn() error {
	r.left, r.values = batch{}, nil
	if r.page != nil {
		parquet.Release(r.page)
		r.page = nil
	}
	for {
		if r.pages == nil {
			if len(r.groups) == 0 {
				return io.EOF
			}
			r.pages = r.groups[0].ColumnChunks()[r.c.leaf].Pages()
			r.groups = r.groups[1:]
		}
		page, err := r.pages.ReadPage()
		if errors.Is(err, io.EOF) {
			_ = r.pages.Close() // nothing was written
			r.pages = nil
			continue
		}
		if err != nil {
			return err
		}
		r.page = page
		r.left, r.values = batchOf(page, r.c), nil
		if r.left.len() == 0 {
			r.values = page.Values()
		}
		return nil
	}
}

// batchOf returns a page's numbers where they lie side by side in memory; an empty batch if they do not.
func batchOf(page parquet.Page, c *column) batch {
	if page.NumNulls() > 0 || page.Dictionary() != nil || c.unsigned {
		return batch{}
	}
	data := page.Data()
	switch page.Type().Kind() {
	case parquet.Int64:
		if all := data.Int64(); int64(len(all)) == page.NumValues() {
			return batch{ints: all}
		}
	case parquet.Float:
		if all := data.Float(); int64(len(all)) == page.NumValues() {
			return batch{singles: all}
		}
	case parquet.Double:
		if all := data.Double(); int64(len(all)) == page.NumValues() {
			return batch{floats: all}
		}
	}
	return batch{}
}
