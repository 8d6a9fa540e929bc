package plots

import (
	"fmt"
	"slices"
	"strings"
)

// htmlFigure returns the table as blocks, which a page sets side by side or, where it is narrow, one below the other. It needs
// no style sheet: notebooks that are not trusted have none.
func (t Table) htmlFigure() string {
	var b strings.Builder
	id := ""
	if t.ID != "" {
		id = fmt.Sprintf(` id="%s"`, name(t.ID))
	}
	fmt.Fprintf(&b, "<figure%s style=\"margin:0\">\n", id)
	if title, caption := escape(oneLine(t.Title)), escape(oneLine(t.Caption)); title != "" || caption != "" {
		if title != "" {
			title = "<b>" + title + "</b>"
		}
		fmt.Fprintf(&b, "<figcaption>%s</figcaption>\n", strings.TrimSpace(title+" "+caption))
	}
	// Blocks have as many rows, and end at the same height, so that their rows are level.
	b.WriteString("<div style=\"display:flex;flex-wrap:wrap;align-items:flex-end;gap:12px 28px\">\n")
	begins := append([]int{t.labels()}, t.Blocks...)
	for i, begin := range begins {
		end := len(t.Header)
		if i+1 < len(begins) {
			end = begins[i+1]
		}
		t.htmlBlock(&b, begin, end)
	}
	b.WriteString("</div>\n</figure>\n")
	return b.String()
}

// htmlBlock writes a table of the labels and the columns from begin to before end.
func (t Table) htmlBlock(b *strings.Builder, begin, end int) {
	var labels, numbers []int
	for i := range t.labels() {
		if i > 0 || !t.Sections {
			labels = append(labels, i)
		}
	}
	for i := begin; i < end; i++ {
		if !slices.Contains(t.Under, i) {
			numbers = append(numbers, i)
		}
	}
	shared := t.sharedPrefix(numbers)
	twoLines := slices.ContainsFunc(numbers, func(i int) bool { return len(t.under(i)) > 0 })

	b.WriteString("<table>\n<thead>\n")
	if shared != "" {
		fmt.Fprintf(b, "<tr><td colspan=\"%d\"></td><th scope=\"colgroup\" colspan=\"%d\" style=\"text-align:center\">%s</th></tr>\n", len(labels), len(numbers), escape(shared))
	}
	b.WriteString("<tr>")
	for _, i := range slices.Concat(labels, numbers) {
		text := t.Header[i]
		if !t.isText(i) && shared != "" {
			text = text[len(shared+blockSeparator):]
		}
		fmt.Fprintf(b, `<th scope="col" style="text-align:%s">%s`, t.side(i), narrow(text, escape(text), longestName))
		if under := t.under(i); len(under) > 0 {
			var names []string
			for _, k := range under {
				names = append(names, escape(t.Header[k]))
			}
			fmt.Fprintf(b, `<br/><small style="%s">%s</small>`, softly, strings.Join(names, ", "))
		}
		b.WriteString("</th>")
	}
	b.WriteString("</tr>\n</thead>\n<tbody>\n")
	for r, row := range t.Rows {
		ruled := t.ruled(r)
		section := t.Sections && (r == 0 || row[0].Text != t.Rows[r-1][0].Text)
		if r > 0 && (ruled || section) {
			b.WriteString("</tbody>\n<tbody>\n")
		}
		if section {
			fmt.Fprintf(b, "<tr><th scope=\"rowgroup\" colspan=\"%d\" style=\"text-align:left\">%s</th></tr>\n", len(labels)+len(numbers), row[0].inHTML(false))
		}
		t.htmlBlockRow(b, row, labels, numbers, twoLines, ruled)
	}
	b.WriteString("</tbody>\n")
	if t.Footer != nil {
		b.WriteString("<tfoot>\n")
		t.htmlBlockRow(b, t.Footer, labels, numbers, twoLines, true)
		b.WriteString("</tfoot>\n")
	}
	b.WriteString("</table>\n")
}

// htmlBlockRow writes one row of a block, with a rule above it if ruled. With twoLines, all numbers have a second line, so that
// the first ones are level.
func (t Table) htmlBlockRow(b *strings.Builder, row []Field, labels, numbers []int, twoLines, ruled bool) {
	b.WriteString("<tr>")
	for at, i := range slices.Concat(labels, numbers) {
		tag, scope := "td", ""
		if at == 0 {
			tag, scope = "th", ` scope="row"`
		}
		style := "text-align:" + t.side(i)
		if !t.isText(i) {
			style += ";white-space:nowrap"
		}
		if ruled {
			style += ";border-top:1px solid"
		}
		note := ""
		if row[i].Note != "" {
			note = fmt.Sprintf(` title="%s" tabindex="0"`, escape(row[i].Note))
		}
		fmt.Fprintf(b, `<%s%s style="%s"%s>%s`, tag, scope, style, note, narrow(row[i].Text, row[i].inHTML(!t.isText(i)), longestText))
		if twoLines && !t.isText(i) {
			var parts []string
			for _, k := range t.under(i) {
				if row[k].Text != "" {
					parts = append(parts, row[k].inHTML(false))
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

// narrow returns html, the text in HTML, so that it breaks into lines of about so many letters, or as it is if it is shorter.
func narrow(text, html string, letters int) string {
	if len([]rune(text)) <= letters {
		return html
	}
	return fmt.Sprintf(`<span style="display:inline-block;max-width:%dch">%s</span>`, letters, html)
}

const (
	longestName = 14 // of a column, in letters, before it breaks into lines
	longestText = 22 // of a label

	softly         = "opacity:.8"
	blockSeparator = ": " // in the header: what a block's columns share is before it
	deviation      = " ± "
)

// sharedPrefix is what the names of all these columns have before a colon; "" if they differ there.
func (t Table) sharedPrefix(columns []int) string {
	shared := ""
	for k, i := range columns {
		prefix, _, found := strings.Cut(t.Header[i], blockSeparator)
		if !found || k > 0 && prefix != shared {
			return ""
		}
		shared = prefix
	}
	return shared
}

// under returns the columns that are written under column i.
func (t Table) under(i int) []int {
	var columns []int
	for k := i + 1; slices.Contains(t.Under, k); k++ {
		columns = append(columns, k)
	}
	return columns
}

// inHTML is the text of f as HTML; with compact, a deviation after the number is small.
func (f Field) inHTML(compact bool) string {
	s := escape(f.Text)
	if mean, sd, found := strings.Cut(s, deviation); compact && found {
		s = fmt.Sprintf(`%s<small style="%s"> ± %s</small>`, mean, softly, sd)
	}
	if f.Bold {
		s = "<b>" + s + "</b>"
	}
	return s
}
