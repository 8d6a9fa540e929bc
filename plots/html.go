package plots

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"nodemask/internal/svg"
)

const (
	longestName = 14 // letters per line
	longestText = 24 // letters per line

	softly    = "opacity:.8"
	deviation = " ± "
)

// html returns a <table>, or with Under, Blocks or Sections a <figure> of tables that wrap on narrow pages, without
// style sheets, which untrusted notebooks lack.
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
	// Blocks have equally many rows, so aligning their ends makes the rows level.
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
	labels, numbers []int
	twoLines        bool // all numbers have a second line, which keeps the first level
}

func (t Table) htmlBlock(w *strings.Builder, begin, end int) {
	b := block{Table: t, Builder: w}
	for i := range t.labels() {
		if i > 0 || !t.Sections {
			b.labels = append(b.labels, i)
		}
	}
	for i := begin; i < end; i++ {
		if !slices.Contains(t.Under, i) {
			b.numbers = append(b.numbers, i)
		}
		b.twoLines = b.twoLines || len(t.under(i)) > 0
	}
	b.header()
	b.WriteString("<tbody>\n")
	for r, row := range t.Rows {
		section := t.Sections && (r == 0 || row[0].Text != t.Rows[r-1][0].Text)
		if r > 0 && (t.ruled(r) || section) {
			b.WriteString("</tbody>\n<tbody>\n")
		}
		if section {
			fmt.Fprintf(b, "<tr><th scope=\"rowgroup\" colspan=\"%d\" style=\"text-align:left\">%s</th></tr>\n",
				len(b.labels)+len(b.numbers), row[0].bolden(broken(row[0].Text, longestText)))
		}
		b.row(row, t.ruled(r))
	}
	b.WriteString("</tbody>\n</table>\n")
}

func (b block) header() {
	b.WriteString("<thead>\n<tr>")
	for _, i := range slices.Concat(b.labels, b.numbers) {
		text := b.Header[i]
		if b.figure() {
			text = broken(text, longestName)
		} else {
			text = unbroken(text)
		}
		fmt.Fprintf(b, `<th scope="col" style="text-align:%s">%s`, b.side(i), text)
		var names []string
		for _, k := range b.under(i) {
			names = append(names, svg.Escape(b.Header[k]))
		}
		if len(names) > 0 {
			fmt.Fprintf(b, `<br/><small style="%s">%s</small>`, softly, strings.Join(names, ", "))
		}
		b.WriteString("</th>")
	}
	b.WriteString("</tr>\n</thead>\n")
}

func (b block) row(row []Field, ruled bool) {
	b.WriteString("<tr>")
	for at, i := range slices.Concat(b.labels, b.numbers) {
		tag, scope, style := "td", "", "text-align:"+b.side(i)
		if at == 0 {
			tag, scope = "th", ` scope="row"`
		}
		if !b.isText(i) {
			style += ";white-space:nowrap"
		}
		if ruled {
			style += ";border-top:1px solid"
		}
		fmt.Fprintf(b, `<%s%s style="%s"%s>%s`, tag, scope, style, row[i].attributes(), b.cell(row, i))
		if b.twoLines && !b.isText(i) {
			var parts []string
			for _, k := range b.under(i) {
				if row[k].Text != "" {
					parts = append(parts, row[k].number())
				}
			}
			small := "\u00a0"
			if len(parts) > 0 {
				small = strings.Join(parts, "\u2002")
			}
			fmt.Fprintf(b, `<br/><small style="%s">%s</small>`, softly, small)
		}
		fmt.Fprintf(b, "</%s>", tag)
	}
	b.WriteString("</tr>\n")
}

// whole matches what must not be broken: commands at hyphens, intervals and bounds at spaces.
var whole = regexp.MustCompile(`--[a-z]+(-[a-z]+)*|\[[−+\d.]+, [−+\d.]+\]|\[\d+ %\]|&lt; 0\.001`)

func unbroken(text string) string {
	return whole.ReplaceAllString(svg.Escape(text), `<span style="white-space:nowrap">$0</span>`)
}

func (b block) cell(row []Field, i int) string {
	f := row[i]
	switch {
	case !b.figure():
		return f.bolden(unbroken(f.Text))
	case b.isText(i):
		return f.bolden(broken(f.Text, longestText))
	default:
		return f.number()
	}
}

func broken(text string, letters int) string {
	var lines []string
	line := ""
	for word := range strings.SplitSeq(text, " ") {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > letters {
			lines = append(lines, svg.Escape(line))
			line = word
			continue
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return strings.Join(append(lines, svg.Escape(line)), " <br/>")
}

func (t Table) under(i int) []int {
	var columns []int
	for k := i + 1; slices.Contains(t.Under, k); k++ {
		columns = append(columns, k)
	}
	return columns
}

func (t Table) side(column int) string {
	if t.isText(column) {
		return "left"
	}
	return "right"
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
