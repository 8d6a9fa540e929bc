package plots

import (
	"fmt"
	"strings"
)

// markdownEscapes has all that GitHub's Markdown might take for markup inside a line, or for a link.
var markdownEscapes = strings.NewReplacer(append(escapes(`\`, "\\`*_{}[]<>|~$&"), "://", `\://`, "www.", `www\.`)...)

// markdownParagraph returns s as a paragraph that no heading, list or rule begins.
func markdownParagraph(s string) string {
	s = markdownEscapes.Replace(s)
	rest := strings.TrimLeft(s, "0123456789")
	digits := len(s) - len(rest)
	marks := "#+-"
	if digits > 0 {
		marks = ".)"
	}
	if rest != "" && strings.Contains(marks, rest[:1]) {
		return s[:digits] + `\` + rest
	}
	return s
}

func (t Table) markdown() string {
	var b strings.Builder
	if title := Plain(t.Title); title != "" {
		fmt.Fprintf(&b, "**%s**\n\n", markdownEscapes.Replace(title))
	}
	for _, name := range t.Header {
		fmt.Fprintf(&b, "| %s ", markdownEscapes.Replace(Plain(name)))
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
			s := markdownEscapes.Replace(c.marked())
			if c.Bold && s != "" {
				s = "**" + s + "**"
			}
			fmt.Fprintf(&b, "| %s ", s)
		}
		b.WriteString("|\n")
	}
	if caption := Plain(t.Caption); caption != "" {
		fmt.Fprintf(&b, "\n%s\n", markdownParagraph(caption))
	}
	return b.String()
}
