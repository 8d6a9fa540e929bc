// Package plots writes tables and charts as HTML, SVG, terminal text, Markdown, CSV and LaTeX. It knows nothing of what
// the numbers mean.
package plots

import (
	"fmt"
	"slices"
)

// Field holds one cell of a [Table].
type Field struct {
	Text string
	Note string // tooltip in HTML, not written elsewhere
	Bold bool
	// Cell is what a page's script needs to measure the number anew, for the attribute data-cell in HTML; "": nothing.
	Cell string
}

// Table holds a header and rows of text.
type Table struct {
	ID, Title, Caption string
	Header             []string
	Rows               [][]Field
	Footer             []Field // a last row about the others, such as their means, as long as Header; nil: none
	Groups             []int   // ascending: rows, from 0, that have a rule above them; the first needs none
	TextColumns        int     // the first so many columns are labels, aligned left; the others are numbers, aligned right. 0: 1

	// How HTML makes a wide table narrow enough for its page. The other formats keep all columns side by side.

	Under    []int // ascending: columns, from 0, that are written small under the column before them, such as what it is compared with
	Blocks   []int // ascending: columns, from 0, that begin a table of their own, beside the one before or below it; each has all labels
	Sections bool  // the first column is a heading above the rows that share it
}

// Format names a way to write a [Table].
type Format string

// The formats of [Table.Render].
const (
	FormatText     Format = "text"
	FormatMarkdown Format = "markdown"
	FormatCSV      Format = "csv"
	FormatLaTeX    Format = "latex"
	FormatHTML     Format = "html"
)

// Formats lists all formats of [Table.Render].
func Formats() []Format {
	return []Format{FormatText, FormatMarkdown, FormatCSV, FormatLaTeX, FormatHTML}
}

// Check returns nil if t has a header, every row and any footer are as long as the header, TextColumns is between 0 and
// that length, Groups names rows below the first, Under and Blocks name columns of numbers after the first and none that the
// other does, and Sections leaves a label in each row.
func (t Table) Check() error {
	if len(t.Header) == 0 {
		return fmt.Errorf("plots: table %q has no header", t.ID)
	}
	if t.TextColumns < 0 || t.TextColumns > len(t.Header) {
		return fmt.Errorf("plots: table %q: %d text columns of %d", t.ID, t.TextColumns, len(t.Header))
	}
	for i, row := range t.Rows {
		if len(row) != len(t.Header) {
			return fmt.Errorf("plots: table %q: row %d has %d cells: the header has %d", t.ID, i+1, len(row), len(t.Header))
		}
	}
	if t.Footer != nil && len(t.Footer) != len(t.Header) {
		return fmt.Errorf("plots: table %q: the footer has %d cells: the header has %d", t.ID, len(t.Footer), len(t.Header))
	}
	for i, row := range t.Groups {
		if row < 1 || row >= len(t.Rows) || i > 0 && row <= t.Groups[i-1] {
			return fmt.Errorf("plots: table %q: groups begin at rows %v: expected ascending numbers from 1 to %d", t.ID, t.Groups, len(t.Rows)-1)
		}
	}
	first := t.labels() + 1
	for _, columns := range [][]int{t.Under, t.Blocks} {
		for i, column := range columns {
			if column < first || column >= len(t.Header) || i > 0 && column <= columns[i-1] {
				return fmt.Errorf("plots: table %q: columns %v under others or at the head of a block: expected ascending numbers from %d to %d", t.ID, columns, first, len(t.Header)-1)
			}
		}
	}
	for _, column := range t.Under {
		if slices.Contains(t.Blocks, column) {
			return fmt.Errorf("plots: table %q: column %d begins a block and is under the one before: expected one of both", t.ID, column)
		}
	}
	if t.Sections && t.labels() < 2 {
		return fmt.Errorf("plots: table %q: sections take the only column of labels: expected at least 2", t.ID)
	}
	return nil
}

// labels is how many columns have labels.
func (t Table) labels() int { return max(t.TextColumns, 1) }

// Render returns t in the format f. Whatever is in a cell comes out as that text, never as markup or as something that
// steers the terminal; only csv, which is for programs, keeps control characters.
//
//   - text is for the terminal: a bold cell ends in *.
//   - markdown is a GitHub table, with the title in bold above it and the caption below. It has no rules between groups,
//     and the footer is its last row.
//   - csv is the header and the rows alone. All ends of lines inside a cell become \n.
//   - latex is a tabular with the rules of the booktabs package; the title and caption are a comment above it.
//     Letters that the fonts of pdfLaTeX lack need LuaLaTeX or XeLaTeX.
//   - html is a <table> element with a <tbody> for each group; a cell with a note can be reached with the Tab key. A table
//     with Under, Blocks or Sections is a <figure> of such tables, side by side where there is room.
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
		return t.csv()
	case FormatLaTeX:
		return t.latex(), nil
	case FormatHTML:
		return t.html(), nil
	default:
		return "", fmt.Errorf("plots: no table format %q: there are %q", f, Formats())
	}
}

// isText tells whether column i, from 0, has labels rather than numbers.
func (t Table) isText(i int) bool { return i < t.labels() }

// lines returns the rows, and the footer if there is one.
func (t Table) lines() [][]Field {
	if t.Footer == nil {
		return t.Rows
	}
	return slices.Concat(t.Rows, [][]Field{t.Footer})
}

// ruled tells whether a rule is above line i of [Table.lines].
func (t Table) ruled(i int) bool { return i > 0 && (i == len(t.Rows) || slices.Contains(t.Groups, i)) }
