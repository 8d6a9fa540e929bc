package plots

import (
	"fmt"
	"strings"

	"nodemask/internal/svg"
)

// latexEscapes escapes TeX's special characters, also brackets: \\ takes a following one as its argument.
var latexEscapes = strings.NewReplacer(append(escapes(`\`, "&%$#_{}"),
	`\`, `\textbackslash{}`, `~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, `|`, `\textbar{}`,
	`"`, `\textquotedbl{}`,
	"`", `\textasciigrave{}`, `--`, `-{}-{}`, `''`, `'{}'{}`, `,,`, `,{},{}`, // TeX makes these quotes and dashes
	`<`, `$<$`, `>`, `$>$`, `[`, `{[}`, `]`, `{]}`, `*`, `{*}`,
	`±`, `$\pm$`, `−`, `$-$`, `×`, `$\times$`, `≤`, `$\le$`, `≥`, `$\ge$`, `≈`, `$\approx$`, `→`, `$\to$`, `↓`, `$\downarrow$`,
	`∞`, `$\infty$`,
	`α`, `$\alpha$`, `δ`, `$\delta$`, `ε`, `$\epsilon$`, `σ`, `$\sigma$`, `Δ`, `$\Delta$`,
)...)

func (t Table) latex() string {
	var b strings.Builder
	line := func(fields []Field) {
		b.WriteString(strings.Join(inMarkup(fields, latexEscapes, `\textbf{`, "}"), " & ") + " \\\\\n")
	}
	for _, remark := range []string{svg.Plain(t.Title), svg.Plain(t.Caption)} {
		if remark != "" {
			fmt.Fprintf(&b, "%% %s\n", remark)
		}
	}
	labels, numbers := t.labels(), len(t.Header)-t.labels()
	fmt.Fprintf(&b, "\\begin{tabular}{%s%s}\n\\toprule\n", strings.Repeat("l", labels), strings.Repeat("r", numbers))
	line(Fields(t.Header...))
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
