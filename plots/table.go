// Package plots writes tables and charts as HTML, SVG, terminal text, Markdown and CSV.
package plots

import (
	"errors"
	"fmt"
	"slices"

	"nodemask/internal/svg"
)

// Field is a cell of a table.
type Field struct {
	Text string
	Note string // tooltip, only in HTML
	Bold bool
	Down bool // with Bold: the value is below what it is compared with
	// Cell is text in HTML from which scripts can compute the shown number; "" if there is none.
	Cell string
}

// Fields returns texts as a row of a [Table].
func Fields(texts ...string) []Field {
	row := make([]Field, len(texts))
	for i, text := range texts {
		row[i].Text = text
	}
	return row
}

// Table holds a header and rows of text.
type Table struct {
	ID, Title, Caption string
	Header             []string
	Rows               [][]Field
	Groups             []int // ascending indexes of the rows that have a line above
	// TextColumns is how many of the first columns hold labels, aligned left. All columns after them hold numbers. 0
	// means 1.
	TextColumns int

	// These fields narrow a wide table in HTML. Other formats keep all columns.

	Under    []int // ascending indexes of columns that become small text under the previous column
	Blocks   []int // ascending indexes of columns that begin a new table
	Sections bool  // values of the first column become headings
}

// Format is an output format of tables.
type Format string

// Formats of [Table.Render].
const (
	FormatText     Format = "text"
	FormatMarkdown Format = "markdown"
	FormatCSV      Format = "csv"
	FormatHTML     Format = "html"
)

// Formats returns all formats of [Table.Render].
func Formats() []Format {
	return []Format{FormatText, FormatMarkdown, FormatCSV, FormatHTML}
}

// Check returns the error that [Table.Render] would return for this table in any known format.
func (t Table) Check() error { return named("table", t.ID, t.check()) }

func (t Table) check() error {
	columns := len(t.Header)
	switch {
	case columns == 0:
		return errors.New("no header: expected at least one column")
	case t.TextColumns < 0 || t.TextColumns > columns:
		return fmt.Errorf("%d text columns of %d", t.TextColumns, columns)
	case t.Sections && t.labels() < 2:
		return errors.New("sections take the only column of labels: expected at least 2")
	}
	for i, row := range t.Rows {
		if len(row) != columns {
			return fmt.Errorf("row %d has %d cells: the header has %d", i+1, len(row), columns)
		}
	}
	if !ascending(t.Groups, 1, len(t.Rows)-1) {
		return fmt.Errorf("groups begin at rows %v: expected ascending numbers from 1 to %d", t.Groups, len(t.Rows)-1)
	}
	first := t.labels() + 1
	for _, these := range [][]int{t.Under, t.Blocks} {
		if !ascending(these, first, columns-1) {
			return fmt.Errorf("columns %v under others or at the head of a block: expected ascending numbers from %d to %d",
				these, first, columns-1)
		}
	}
	return nil
}

func ascending(numbers []int, least, most int) bool {
	for _, n := range numbers {
		if n < least || n > most {
			return false
		}
		least = n + 1
	}
	return true
}

func (f Field) marked() string {
	if f.Bold && f.Down {
		return svg.Plain(f.Text) + down
	}
	return svg.Plain(f.Text)
}

const down = " ↓"

func (t Table) labels() int { return max(t.TextColumns, 1) }

// Render returns t in the format f. Fields are plain text, never markup. Only csv, which programs read, keeps control
// characters.
//
//   - text is for the terminal: a bold cell ends in *, or in ↓ if Down is set.
//   - markdown is a GitHub table without lines between groups.
//   - csv has only header and rows. Line ends inside a cell become newline characters.
//   - html is a <table> with a <tbody> per group. If Under, Blocks or Sections is set, html is a <figure> with a
//     <table> per block of columns.
//
// Render returns an error unless:
//
//   - every row is as long as the header;
//   - TextColumns is at most the length of the header;
//   - Groups holds ascending indexes of rows after the first;
//   - Under and Blocks hold ascending indexes of columns after the first column of numbers; and
//   - if Sections is set, TextColumns is at least 2.
func (t Table) Render(f Format) (string, error) {
	if err := t.Check(); err != nil {
		return "", err
	}
	switch f {
	case FormatText:
		return t.text(), nil
	case FormatMarkdown:
		return t.markdown(), nil
	case FormatCSV:
		return t.csv(), nil
	case FormatHTML:
		return t.html(), nil
	default:
		return "", fmt.Errorf("no table format %q: there are %q", f, Formats())
	}
}

func (t Table) isText(i int) bool { return i < t.labels() }

func (t Table) ruled(i int) bool { return slices.Contains(t.Groups, i) }
