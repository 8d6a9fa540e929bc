// Package plots writes tables and charts as HTML, SVG, terminal text, Markdown, CSV and LaTeX. It knows nothing of what
// the numbers mean.
package plots

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nodemask/internal/svg"
)

// Field holds one cell of a [Table].
type Field struct {
	Text string
	Note string // tooltip in HTML, not written elsewhere
	Bold bool
	Down bool // with Bold: an arrow behind it says that it is below what it is compared with, except in csv
	// Cell is what a page's script needs to measure the number anew, for the attribute data-cell in HTML; "": nothing.
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
	Footer             []Field // a last row about the others, such as their means, as long as Header; nil: none
	Groups             []int   // ascending: rows, from 0, that have a rule above them; the first needs none
	// The first TextColumns columns are labels, aligned left; the others are numbers, aligned right. 0: 1.
	TextColumns int

	// How HTML makes a wide table narrow enough for its page. The other formats keep all columns side by side.

	// Under lists columns, from 0, ascending, that are written small under the column before them.
	Under []int
	// Blocks lists columns, from 0, ascending, that begin a table of their own, beside the one before or below it; each
	// has all labels.
	Blocks   []int
	Sections bool // the first column is a heading above the rows that share it
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

// Check returns the error of [Table.Render] in a format that there is.
func (t Table) Check() error { return named("table", t.ID, t.check()) }

func (t Table) check() error {
	columns := len(t.Header)
	switch {
	case columns == 0:
		return errors.New("no header: expected at least one column")
	case t.TextColumns < 0 || t.TextColumns > columns:
		return fmt.Errorf("%d text columns of %d", t.TextColumns, columns)
	case t.Footer != nil && len(t.Footer) != columns:
		return fmt.Errorf("the footer has %d cells: the header has %d", len(t.Footer), columns)
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
	for _, column := range t.Under {
		if slices.Contains(t.Blocks, column) {
			return fmt.Errorf("column %d begins a block and is under the one before: expected one of both", column)
		}
	}
	return nil
}

// ascending tells whether the numbers ascend, from least to most at the most.
func ascending(numbers []int, least, most int) bool {
	for _, n := range numbers {
		if n < least || n > most {
			return false
		}
		least = n + 1
	}
	return true
}

// marked returns a field's text in one line, with an arrow behind it if it is below what it is compared with.
func (f Field) marked() string {
	if f.Bold && f.Down {
		return svg.Plain(f.Text) + down
	}
	return svg.Plain(f.Text)
}

const down = " ↓"

// labels is how many columns have labels.
func (t Table) labels() int { return max(t.TextColumns, 1) }

// Render returns t in the format f. Whatever is in a cell comes out as that text, never as markup or as something that
// steers the terminal; only csv, which is for programs, keeps control characters.
//
//   - text is for the terminal: a bold cell ends in *, or in the arrow.
//   - markdown is a GitHub table, with the title in bold above it and the caption below. It has no rules between
//     groups, and the footer is its last row.
//   - csv is the header and the rows alone. All ends of lines inside a cell become \n.
//   - latex is a tabular with the rules of the booktabs package; the title and caption are a comment above it.
//     Letters that the fonts of pdfLaTeX lack need LuaLaTeX or XeLaTeX.
//   - html is a <table> element with a <tbody> for each group; a cell with a note can be reached with the Tab key. A
//     table with Under, Blocks or Sections is a <figure> of such tables, side by side where there is room.
//
// It returns an error for another format, and unless t has a header, every row and any footer are as long as the
// header, TextColumns is between 0 and that length, Groups names rows below the first, Under and Blocks name columns of
// numbers after the first and none that the other does, and Sections leaves a label in each row.
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
	case FormatLaTeX:
		return t.latex(), nil
	case FormatHTML:
		return t.html(), nil
	default:
		return "", fmt.Errorf("no table format %q: there are %q", f, Formats())
	}
}

// isText tells whether column i, from 0, has labels rather than numbers.
func (t Table) isText(i int) bool { return i < t.labels() }

// inMarkup returns the texts of fields without what a format takes for markup, bold ones between two marks of its own.
func inMarkup(fields []Field, escapes *strings.Replacer, bold, end string) []string {
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = escapes.Replace(f.marked())
		if f.Bold && texts[i] != "" {
			texts[i] = bold + texts[i] + end
		}
	}
	return texts
}

// escapes returns arguments for [strings.NewReplacer] that put before in front of each of chars.
func escapes(before, chars string) []string {
	var pairs []string
	for _, c := range chars {
		pairs = append(pairs, string(c), before+string(c))
	}
	return pairs
}

// lines returns the rows, and the footer if there is one.
func (t Table) lines() [][]Field {
	if t.Footer == nil {
		return t.Rows
	}
	return slices.Concat(t.Rows, [][]Field{t.Footer})
}

// ruled tells whether a rule is above line i of [Table.lines].
func (t Table) ruled(i int) bool { return i > 0 && (i == len(t.Rows) || slices.Contains(t.Groups, i)) }
