package plots

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"nodemask/internal/svg"
)

const (
	softly    = "opacity:.8"
	deviation = " ± "
)

// html writes styles inline, because untrusted notebooks drop style sheets.
func (t Table) html() string {
	var b strings.Builder
	attributes, title, caption := "", svg.Escape(svg.Plain(t.Title)), svg.Escape(svg.Plain(t.Caption))
	if t.ID != "" {
		attributes = fmt.Sprintf(` id="%s"`, svg.ElementID(t.ID))
	}
	if title != "" {
		title = "<b>" + title + "</b>"
	}
	tag, inside := "table", "caption"
	if t.figure() {
		tag, inside = "figure", "figcaption"
		attributes += ` style="margin:0"`
	}
	fmt.Fprintf(&b, "<%s%s>\n", tag, attributes)
	if caption = strings.TrimSpace(title + " " + caption); caption != "" {
		fmt.Fprintf(&b, "<%s>%s</%[1]s>\n", inside, caption)
	}
	if !t.figure() {
		t.htmlBlock(&b, t.labels(), len(t.Header))
		return b.String()
	}
	// All tables have the same number of rows, so aligning their bottom edges aligns the rows.
	b.WriteString("<div style=\"display:flex;flex-wrap:wrap;align-items:flex-end;gap:12px 28px\">\n")
	begins := slices.Concat([]int{t.labels()}, t.Blocks, []int{len(t.Header)})
	for i, begin := range begins[:len(begins)-1] {
		b.WriteString("<table>\n")
		t.htmlBlock(&b, begin, begins[i+1])
	}
	b.WriteString("</div>\n</figure>\n")
	return b.String()
}

func (t Table) figure() bool { return len(t.Under) > 0 || len(t.Blocks) > 0 || t.Sections }

type block struct {
	Table
	*strings.Builder
	columns []int
	// twoLines is true if columns of [Table].Under stand below numbers. Then every number gets a second line, maybe
	// blank, so that first lines align.
	twoLines bool
}

func (t Table) htmlBlock(w *strings.Builder, begin, end int) {
	b := block{Table: t, Builder: w}
	for i := range end {
		if (i > 0 || !t.Sections) && (i < t.labels() || i >= begin && !slices.Contains(t.Under, i)) {
			b.columns = append(b.columns, i)
			b.twoLines = b.twoLines || len(t.under(i)) > 0
		}
	}
	b.WriteString("<thead>\n<tr>")
	for _, i := range b.columns {
		fmt.Fprintf(b, `<th scope="col" style="%s">%s`, b.style(i, ";max-width:14ch"), unbroken(b.Header[i]))
		var names []string
		for _, k := range b.under(i) {
			names = append(names, svg.Escape(b.Header[k]))
		}
		b.second(names, ", ")
		b.WriteString("</th>")
	}
	b.WriteString("</tr>\n</thead>\n<tbody>\n")
	for r, row := range t.Rows {
		section := t.Sections && (r == 0 || row[0].Text != t.Rows[r-1][0].Text)
		if r > 0 && (t.ruled(r) || section) {
			b.WriteString("</tbody>\n<tbody>\n")
		}
		if section {
			fmt.Fprintf(b, "<tr><th scope=\"rowgroup\" colspan=\"%d\" style=\"text-align:left\">%s</th></tr>\n",
				len(b.columns), row[0].bolden(unbroken(row[0].Text)))
		}
		b.row(row, t.ruled(r))
	}
	b.WriteString("</tbody>\n</table>\n")
}

func (b block) row(row []Field, ruled bool) {
	b.WriteString("<tr>")
	for at, i := range b.columns {
		tag, scope, style, text := "td", "", b.style(i, ";max-width:24ch"), row[i].bolden(unbroken(row[i].Text))
		if !b.isText(i) {
			style, text = "text-align:right;white-space:nowrap", row[i].number()
		}
		if at == 0 {
			tag, scope = "th", ` scope="row"`
		}
		if ruled {
			style += ";border-top:1px solid"
		}
		fmt.Fprintf(b, `<%s%s style="%s"%s>%s`, tag, scope, style, row[i].attributes(), text)
		if b.twoLines && !b.isText(i) {
			parts := []string{"\u00a0"}
			for _, k := range b.under(i) {
				if row[k].Text != "" {
					parts = append(parts, row[k].number())
				}
			}
			b.second(parts[min(1, len(parts)-1):], "\u2002")
		}
		fmt.Fprintf(b, "</%s>", tag)
	}
	b.WriteString("</tr>\n")
}

func (b block) second(parts []string, between string) {
	if len(parts) > 0 {
		fmt.Fprintf(b, `<br/><small style="%s">%s</small>`, softly, strings.Join(parts, between))
	}
}

// whole matches text that must stay on one line: flags, intervals and "< 0.001".
var whole = regexp.MustCompile(`--[a-z]+(-[a-z]+)*|\[[−+\d.]+, [−+\d.]+\]|\[\d+ %\]|&lt; 0\.001`)

func unbroken(text string) string {
	return whole.ReplaceAllString(svg.Escape(text), `<span style="white-space:nowrap">$0</span>`)
}

func (t Table) under(i int) []int {
	var columns []int
	for k := i + 1; slices.Contains(t.Under, k); k++ {
		columns = append(columns, k)
	}
	return columns
}

func (t Table) style(column int, width string) string {
	style := "text-align:right"
	if t.isText(column) {
		style = "text-align:left"
	}
	if t.figure() {
		style += width
	}
	return style
}

func (f Field) number() string {
	number, sd, found := strings.Cut(f.Text, deviation)
	s := f.bolden(svg.Escape(number))
	if found {
		s += fmt.Sprintf(`<small style="%s">%s%s</small>`, softly, deviation, svg.Escape(sd))
	}
	return s
}

func (f Field) bolden(html string) string {
	if f.Bold && f.Down {
		html += down
	}
	if f.Bold {
		return "<b>" + html + "</b>"
	}
	return html
}

func (f Field) attributes() string {
	text := ""
	if f.Note != "" {
		text += fmt.Sprintf(` title="%s" tabindex="0"`, svg.Escape(f.Note))
	}
	if f.Cell != "" {
		text += fmt.Sprintf(` data-cell="%s"`, svg.Escape(f.Cell))
	}
	return text
}
