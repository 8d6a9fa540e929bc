package plots

import (
	"fmt"
	"strings"
)

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
	for _, row := range t.lines() {
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
