package plots

import (
	"fmt"
	"strings"
)

// latexEscapes keeps TeX's special characters as text. Brackets are among them, as \\ takes one after it for its
// argument.
var latexEscapes = strings.NewReplacer(append(escapes(`\`, "&%$#_{}"),
	`\`, `\textbackslash{}`, `~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, `|`, `\textbar{}`,
	`"`, `\textquotedbl{}`,
	"`", `\textasciigrave{}`, `--`, `-{}-{}`, `''`, `'{}'{}`, `,,`, `,{},{}`, // which TeX makes quotes and dashes of
	`<`, `$<$`, `>`, `$>$`, `[`, `{[}`, `]`, `{]}`, `*`, `{*}`,
	`±`, `$\pm$`, `−`, `$-$`, `×`, `$\times$`, `≤`, `$\le$`, `≥`, `$\ge$`, `≈`, `$\approx$`, `→`, `$\to$`, `↓`, `$\downarrow$`,
	`∞`, `$\infty$`,
	`α`, `$\alpha$`, `δ`, `$\delta$`, `ε`, `$\epsilon$`, `σ`, `$\sigma$`, `Δ`, `$\Delta$`,
)...)

func (t Table) latex() string {
	var b strings.Builder
	for _, line := range []string{Plain(t.Title), Plain(t.Caption)} {
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
			s := latexEscapes.Replace(c.marked())
			if c.Bold {
				s = `\textbf{` + s + `}`
			}
			b.WriteString(s)
		}
		b.WriteString(" \\\\\n")
	}
	line(header)
	b.WriteString("\\midrule\n")
	for i, row := range t.lines() {
		if t.ruled(i) {
			b.WriteString("\\midrule\n")
		}
		line(row)
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	return b.String()
}
