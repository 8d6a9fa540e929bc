package plots

import (
	"fmt"
	"strings"

	"nodemask/internal/svg"
)

var markdownEscapes = strings.NewReplacer(append(escapes(`\`, "\\`*_{}[]<>|~$&"), "://", `\://`, "www.", `www\.`)...)

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
	line := func(fields []Field) {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(inMarkup(fields, markdownEscapes, "**", "**"), " | "))
	}
	if title := svg.Plain(t.Title); title != "" {
		fmt.Fprintf(&b, "**%s**\n\n", markdownEscapes.Replace(title))
	}
	line(Fields(t.Header...))
	labels, numbers := t.labels(), len(t.Header)-t.labels()
	b.WriteString(strings.Repeat("| :--- ", labels) + strings.Repeat("| ---: ", numbers) + "|\n")
	for _, row := range t.lines() {
		line(row)
	}
	if caption := svg.Plain(t.Caption); caption != "" {
		fmt.Fprintf(&b, "\n%s\n", markdownParagraph(caption))
	}
	return b.String()
}
