package plots

import (
	"fmt"
	"strings"
)

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
