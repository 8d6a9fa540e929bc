// Package plots writes tables and charts as HTML, SVG, terminal text, Markdown, CSV and LaTeX. It knows nothing of what
// the numbers mean.
package plots

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Cell is one cell of a [Table].
type Field struct {
	Text string
	Note string // tooltip in HTML, not written elsewhere
	Bold bool
}

// Table is a header and rows of text.
type Table struct {
	ID, Title, Caption string
	Header             []string
	Rows               [][]Field
	TextColumns        int // that many first columns are labels, to the left; the others are numbers, to the right. 0: 1
}

// Format is a way to write a [Table] down.
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

// Check is nil if t has a header, every row is as long as it, and TextColumns is between 0 and its length.
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
	return nil
}

// Render writes t in the format f. Whatever is in a cell comes out as that text, never as markup.
//
//   - text is for the terminal: a bold cell ends in *.
//   - markdown is a GitHub table, with the title in bold above it and the caption below.
//   - csv is the header and the rows alone. All ends of lines inside a cell become \n.
//   - latex is a tabular with the rules of the booktabs package; the title and caption are a comment above it.
//   - html is a <table> element; a cell with a note can be reached with the Tab key.
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
func (t Table) isText(i int) bool { return i < max(t.TextColumns, 1) }

func (t Table) text() string {
	w := table.NewWriter()
	style := table.StyleRounded
	style.Format.Header = text.FormatDefault
	w.SetStyle(style)
	header := make(table.Row, len(t.Header))
	var columns []table.ColumnConfig
	for i, name := range t.Header {
		header[i] = oneLine(name)
		if !t.isText(i) {
			columns = append(columns, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	w.AppendHeader(header)
	w.SetColumnConfigs(columns)
	for _, cells := range t.Rows {
		row := make(table.Row, len(cells))
		for i, c := range cells {
			s := oneLine(c.Text)
			if c.Bold {
				s += "*"
			}
			row[i] = s
		}
		w.AppendRow(row)
	}
	var b strings.Builder
	for _, part := range []string{oneLine(t.Title), w.Render(), oneLine(t.Caption)} {
		if part != "" {
			b.WriteString(part + "\n")
		}
	}
	return b.String()
}

// markdownEscapes has all that GitHub's Markdown might take for markup inside a line.
var markdownEscapes = strings.NewReplacer(escapes(`\`, "\\`*_{}[]<>|~$&")...)

func (t Table) markdown() string {
	var b strings.Builder
	if title := oneLine(t.Title); title != "" {
		fmt.Fprintf(&b, "**%s**\n\n", markdownEscapes.Replace(title))
	}
	for _, name := range t.Header {
		fmt.Fprintf(&b, "| %s ", markdownEscapes.Replace(oneLine(name)))
	}
	b.WriteString("|\n")
	for i := range t.Header {
		if t.isText(i) {
			b.WriteString("| :--- ")
		} else {
			b.WriteString("| ---: ")
		}
	}
	b.WriteString("|\n")
	for _, row := range t.Rows {
		for _, c := range row {
			s := markdownEscapes.Replace(oneLine(c.Text))
			if c.Bold && s != "" {
				s = "**" + s + "**"
			}
			fmt.Fprintf(&b, "| %s ", s)
		}
		b.WriteString("|\n")
	}
	if caption := oneLine(t.Caption); caption != "" {
		fmt.Fprintf(&b, "\n%s\n", markdownEscapes.Replace(caption))
	}
	return b.String()
}

// newlines makes all ends of lines \n: encoding/csv reads \r\n as that.
var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func (t Table) csv() (string, error) {
	records := [][]string{t.Header}
	for _, row := range t.Rows {
		record := make([]string, len(row))
		for i, c := range row {
			record[i] = c.Text
		}
		records = append(records, record)
	}
	return writeCSV(records)
}

func writeCSV(records [][]string) (string, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for _, record := range records {
		clean := make([]string, len(record))
		for i, s := range record {
			clean[i] = newlines.Replace(s)
		}
		if len(clean) == 1 && clean[0] == "" {
			w.Flush()
			b.WriteString("\"\"\n") // readers skip an empty line
			continue
		}
		if err := w.Write(clean); err != nil {
			return "", fmt.Errorf("plots: csv: %w", err)
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return "", fmt.Errorf("plots: csv: %w", err)
	}
	return b.String(), nil
}

// latexEscapes keeps TeX's special characters as text. Brackets are among them, as \\ takes one after it for its argument.
var latexEscapes = strings.NewReplacer(append(escapes(`\`, "&%$#_{}"),
	`\`, `\textbackslash{}`, `~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, `|`, `\textbar{}`, `"`, `\textquotedbl{}`,
	`<`, `$<$`, `>`, `$>$`, `[`, `{[}`, `]`, `{]}`, `*`, `{*}`,
	`±`, `$\pm$`, `−`, `$-$`, `×`, `$\times$`, `≤`, `$\le$`, `≥`, `$\ge$`, `≈`, `$\approx$`, `→`, `$\to$`, `∞`, `$\infty$`,
	`α`, `$\alpha$`, `δ`, `$\delta$`, `ε`, `$\epsilon$`, `σ`, `$\sigma$`, `Δ`, `$\Delta$`,
)...)

func (t Table) latex() string {
	var b strings.Builder
	for _, line := range []string{oneLine(t.Title), oneLine(t.Caption)} {
		if line != "" {
			fmt.Fprintf(&b, "%% %s\n", line)
		}
	}
	b.WriteString(`\begin{tabular}{`)
	header := make([]Field, len(t.Header))
	for i, name := range t.Header {
		header[i].Text = name
		if t.isText(i) {
			b.WriteByte('l')
		} else {
			b.WriteByte('r')
		}
	}
	b.WriteString("}\n\\toprule\n")
	line := func(cells []Field) {
		for i, c := range cells {
			if i > 0 {
				b.WriteString(" & ")
			}
			s := latexEscapes.Replace(oneLine(c.Text))
			if c.Bold {
				s = `\textbf{` + s + `}`
			}
			b.WriteString(s)
		}
		b.WriteString(" \\\\\n")
	}
	line(header)
	b.WriteString("\\midrule\n")
	for _, row := range t.Rows {
		line(row)
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	return b.String()
}

func (t Table) html() string {
	var b strings.Builder
	b.WriteString("<table")
	if t.ID != "" {
		fmt.Fprintf(&b, ` id="%s"`, name(t.ID))
	}
	b.WriteString(">\n")
	switch {
	case t.Title != "" && t.Caption != "":
		fmt.Fprintf(&b, "<caption><b>%s</b> %s</caption>\n", escape(t.Title), escape(t.Caption))
	case t.Title != "":
		fmt.Fprintf(&b, "<caption><b>%s</b></caption>\n", escape(t.Title))
	case t.Caption != "":
		fmt.Fprintf(&b, "<caption>%s</caption>\n", escape(t.Caption))
	}
	b.WriteString("<thead>\n<tr>")
	for i, name := range t.Header {
		fmt.Fprintf(&b, `<th scope="col" style="text-align:%s">%s</th>`, t.side(i), escape(name))
	}
	b.WriteString("</tr>\n</thead>\n<tbody>\n")
	for _, row := range t.Rows {
		b.WriteString("<tr>")
		for i, c := range row {
			tag, scope := "td", ""
			if i == 0 {
				tag, scope = "th", ` scope="row"`
			}
			style := "text-align:" + t.side(i)
			if !t.isText(i) {
				style += ";white-space:nowrap"
			}
			fmt.Fprintf(&b, `<%s%s style="%s"`, tag, scope, style)
			if c.Note != "" {
				fmt.Fprintf(&b, ` title="%s" tabindex="0"`, escape(c.Note))
			}
			s := escape(c.Text)
			if c.Bold {
				s = "<b>" + s + "</b>"
			}
			fmt.Fprintf(&b, ">%s</%s>", s, tag)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody>\n</table>\n")
	return b.String()
}

func (t Table) side(column int) string {
	if t.isText(column) {
		return "left"
	}
	return "right"
}

// escape is s for the text or an attribute of HTML and XML. What XML cannot hold becomes U+FFFD.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder never fails
	return b.String()
}

// escapes are arguments for strings.NewReplacer that put before in front of each of chars.
func escapes(before, chars string) []string {
	var pairs []string
	for _, c := range chars {
		pairs = append(pairs, string(c), before+string(c))
	}
	return pairs
}

// oneLine is s with each run of white space and control characters turned into one space, and what is not UTF-8 or not
// for XML into U+FFFD.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r < ' ', r >= 0x7f && r < 0xa0, r == '\u2028', r == '\u2029':
			return ' '
		case r == 0xfffe, r == 0xffff:
			return '\ufffd'
		default:
			return r
		}
	}, strings.ToValidUTF8(s, "\ufffd"))
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' }), " ")
}

// name is s as the name of an element that HTML, XML and CSS all take.
func name(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, s)
	if s == "" || s[0] >= '0' && s[0] <= '9' || s[0] == '-' {
		return "x" + s
	}
	return s
}
