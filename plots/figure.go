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
		fmt.Fprintf(b, `<th scope="col" style="text-align:%s">%s`, t.side(i), broken(text, longestName))
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
			fmt.Fprintf(b, "<tr><th scope=\"rowgroup\" colspan=\"%d\" style=\"text-align:left\">%s</th></tr>\n", len(labels)+len(numbers), row[0].labelInHTML())
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
		tag, scope, style := t.htmlCell(i, at == 0, ruled)
		text := row[i].inHTML()
		if t.isText(i) {
			text = row[i].labelInHTML()
		}
		fmt.Fprintf(b, `<%s%s style="%s"%s>%s`, tag, scope, style, row[i].attributes(), text)
		if twoLines && !t.isText(i) {
			var parts []string
			for _, k := range t.under(i) {
				if row[k].Text != "" {
					parts = append(parts, row[k].inHTML())
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

// broken returns text as HTML in lines of about so many letters, broken at spaces. Line breaks do what a style sheet would do
// better, but notebooks that are not trusted have none.
func broken(text string, letters int) string {
	var lines []string
	line := ""
	for _, word := range strings.Split(text, " ") {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > letters {
			lines = append(lines, escape(line))
			line = word
			continue
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return strings.Join(append(lines, escape(line)), " <br/>")
}

const (
	longestName = 14 // of a column, in letters, before it breaks into lines
	longestText = 24 // of a label

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

// inHTML is a number as HTML: a deviation after it is small.
func (f Field) inHTML() string {
	number, sd, found := strings.Cut(f.Text, deviation)
	s := escape(number)
	if f.Bold {
		s = "<b>" + s + "</b>"
	}
	if found {
		s += fmt.Sprintf(`<small style="%s">%s%s</small>`, softly, deviation, escape(sd))
	}
	return s
}

// labelInHTML is a label as HTML, in lines.
func (f Field) labelInHTML() string {
	s := broken(f.Text, longestText)
	if f.Bold {
		s = "<b>" + s + "</b>"
	}
	return s
}
