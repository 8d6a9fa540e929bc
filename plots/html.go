package plots

import (
	"fmt"
	"regexp"
	"strings"
)

func (t Table) html() string {
	if len(t.Under) > 0 || len(t.Blocks) > 0 || t.Sections {
		return t.htmlFigure()
	}
	var b strings.Builder
	b.WriteString("<table")
	if t.ID != "" {
		fmt.Fprintf(&b, ` id="%s"`, name(t.ID))
	}
	b.WriteString(">\n")
	switch title, caption := escape(oneLine(t.Title)), escape(oneLine(t.Caption)); {
	case title != "" && caption != "":
		fmt.Fprintf(&b, "<caption><b>%s</b> %s</caption>\n", title, caption)
	case title != "":
		fmt.Fprintf(&b, "<caption><b>%s</b></caption>\n", title)
	case caption != "":
		fmt.Fprintf(&b, "<caption>%s</caption>\n", caption)
	}
	b.WriteString("<thead>\n<tr>")
	for i, name := range t.Header {
		fmt.Fprintf(&b, `<th scope="col" style="text-align:%s">%s</th>`, t.side(i), escape(name))
	}
	b.WriteString("</tr>\n</thead>\n<tbody>\n")
	for i, row := range t.Rows {
		if t.ruled(i) {
			b.WriteString("</tbody>\n<tbody>\n")
		}
		b.WriteString(t.htmlRow(row, t.ruled(i)))
	}
	b.WriteString("</tbody>\n")
	if t.Footer != nil {
		b.WriteString("<tfoot>\n" + t.htmlRow(t.Footer, true) + "</tfoot>\n")
	}
	b.WriteString("</table>\n")
	return b.String()
}

// htmlCell returns the tag of a cell of column i, its scope and its style; the first cell of a row is the row's heading.
func (t Table) htmlCell(i int, first, ruled bool) (tag, scope, style string) {
	tag, style = "td", "text-align:"+t.side(i)
	if first {
		tag, scope = "th", ` scope="row"`
	}
	if !t.isText(i) {
		style += ";white-space:nowrap"
	}
	if ruled {
		style += ";border-top:1px solid"
	}
	return tag, scope, style
}

// flags are words of a command that browsers would break after their hyphens.
var flags = regexp.MustCompile(`--[a-z]+(-[a-z]+)*`)

// htmlRow returns one row, with a rule above it if ruled.
func (t Table) htmlRow(row []Field, ruled bool) string {
	var b strings.Builder
	b.WriteString("<tr>")
	for i, c := range row {
		tag, scope, style := t.htmlCell(i, i == 0, ruled)
		fmt.Fprintf(&b, `<%s%s style="%s"%s`, tag, scope, style, c.attributes())
		s := flags.ReplaceAllString(escape(c.Text), `<span style="white-space:nowrap">$0</span>`)
		if c.Bold {
			s = "<b>" + s + "</b>"
		}
		fmt.Fprintf(&b, ">%s</%s>", s, tag)
	}
	b.WriteString("</tr>\n")
	return b.String()
}

// attributes are those of a field beside its style, each with a blank before it.
func (c Field) attributes() string {
	text := ""
	if c.Note != "" {
		text += fmt.Sprintf(` title="%s" tabindex="0"`, escape(c.Note))
	}
	if c.Cell != "" {
		text += fmt.Sprintf(` data-cell="%s"`, escape(c.Cell))
	}
	return text
}

// side returns the side that a column is aligned to.
func (t Table) side(column int) string {
	if t.isText(column) {
		return "left"
	}
	return "right"
}
