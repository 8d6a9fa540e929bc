package plots_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/plots"
)

// steers controls a terminal (ESC, its 8-bit form in UTF-8 and alone, backspace), ends lines, or reverses the direction
// of writing.
const steers = "a\x1b[31mb\u009b31mc\x9b31md\be\x00f\r\ng\u0085h\u2028i\u061c" +
	"j\u200ek\u200fl\u202am\u202bn\u202co\u202dp\u202eq\u2066r\u2067s\u2068t\u2069u"

func everywhere(s string) (plots.Table, plots.Chart) {
	cell := plots.Field{Text: s, Note: s, Bold: true}
	return plots.Table{ID: s, Title: s, Caption: s, Header: []string{s, s}, Rows: [][]plots.Field{{cell, cell}},
			Footer: []plots.Field{cell, cell}},
		plots.Chart{ID: s, Title: s, Caption: s, XLabel: s, YLabel: s,
			Series: []plots.Series{{Name: s, X: []float64{1}, Y: []float64{1}}}}
}

// steersIn returns an error for a control or bidirectional character in s, except line ends.
func steersIn(s string) error {
	for i, r := range s {
		if unicode.IsControl(r) && r != '\n' || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r) {
			return fmt.Errorf("%U at byte %d", r, i)
		}
	}
	return nil
}

// cells matches an HTML table's cells: separate paragraphs, which confine directions of writing.
var cells = regexp.MustCompile(`<t[hd] [^>]*>(?:<b>)?[^<]*`)

// whole matches a cell that is isolated from its neighbours, as a whole.
var whole = regexp.MustCompile(`\x{2068}([^\x{2066}-\x{2069}│]*)\x{2069}`)

func TestTextFromRightToLeftStaysInItsCell(t *testing.T) {
	table := plots.Table{ID: "t", Header: []string{"class", "share"}, Rows: [][]plots.Field{plots.Fields("אב", "+1"),
		plots.Fields("ab", "+2")}}
	text := render(t, table, plots.FormatText)
	require.Contains(t, text, "│ \u2068אב\u2069    │    +1 │\n│ ab    │    +2 │\n")
}

func TestTextOfFilesSteersNoTerminal(t *testing.T) {
	check := func(t require.TestingT, s string) {
		table, chart := everywhere(s)
		for _, f := range []plots.Format{plots.FormatText, plots.FormatMarkdown} {
			require.NoError(t, steersIn(whole.ReplaceAllString(render(t, table, f), "$1")), f)
		}
		require.NoError(t, steersIn(cells.ReplaceAllString(render(t, table, plots.FormatHTML), "")))
		svg := drawn(t, chart)
		require.NoError(t, steersIn(svg))
	}
	check(t, steers)
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.StringOf(rapid.OneOf(rapid.Rune(),
			rapid.SampledFrom([]rune(strings.ToValidUTF8(steers, "\x9b"))))).Draw(t, "text"))
	})
}

func TestMarkdownCaptionIsAParagraphWhateverItBeginsWith(t *testing.T) {
	for caption, want := range map[string]string{
		"# heading": `\# heading`, "- item": `\- item`, "+ item": `\+ item`, "* item": `\* item`, "> quote": `\> quote`,
		"1. item": `1\. item`, "12) item": `12\) item`, "---": `\---`, "7": "7", "10 trials.": "10 trials.",
		"GIN - GAT": "GIN - GAT",
	} {
		table := plots.Table{Header: []string{"a"}, Caption: caption}
		assert.Equal(t, "| a |\n| :--- |\n\n"+want+"\n", render(t, table, plots.FormatMarkdown))
	}
}

func TestMarkdownMakesNoLinks(t *testing.T) {
	table := plots.Table{Header: []string{"https://evil.example www.evil.example [a](b) ![a](b) <c> [d]: e"}}
	assert.Contains(t, render(t, table, plots.FormatMarkdown),
		`| https\://evil.example www\.evil.example \[a\](b) !\[a\](b) \<c\> \[d\]: e |`)
}

func TestNamesOpenNoElementsInHTMLAndSVG(t *testing.T) {
	table, chart := everywhere(`}</style></title></text></td><script>alert(1)</script>"' onload='x`)
	svg := drawn(t, chart)
	html := render(t, table, plots.FormatHTML)
	for _, drawn := range []string{svg, html} {
		assert.NotContains(t, drawn, "<script")
		assert.NotRegexp(t, `<[^>]*[\s"']onload`, regexp.MustCompile(`"[^"]*"`).ReplaceAllString(drawn, `""`))
	}
	assert.Equal(t, 1, strings.Count(svg, "</style>"))
	assert.Contains(t, svg, ` id="x---style---title---text---td--script-alert-1---script----onload--x"`)
}
