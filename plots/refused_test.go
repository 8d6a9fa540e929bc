package plots_test

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/plots"
)

func changed[T any](of T, change func(*T)) T {
	change(&of)
	return of
}

func TestWhatCannotBeDrawnIsRefused(t *testing.T) {
	one, nan := []float64{1}, math.NaN()
	series := func(s plots.Series) drawable { return plots.Chart{Series: []plots.Series{s}} }
	sized := func(side float64) drawable {
		return plots.Chart{Width: side, Series: []plots.Series{{X: one, Y: one}}}
	}
	effects := func(change func(*plots.Forest)) drawable { return changed(forest(), change) }
	_, err := series(plots.Series{X: one, Y: one, Low: []float64{1 + 1e-12}, High: one}).SVG()
	require.NoError(t, err, "a band may be off by rounding")
	for _, c := range []struct {
		want string
		of   drawable
	}{
		{`chart "": no series: expected at least one`, plots.Chart{}},
		{"no points", series(plots.Series{})},
		{"2 x and 1 y", series(plots.Series{X: []float64{1, 2}, Y: one})},
		{"NaN: expected a finite number", series(plots.Series{X: one, Y: []float64{nan}})},
		{"-Inf: expected a finite number", series(plots.Series{X: []float64{math.Inf(-1)}, Y: one})},
		{"2e+300: expected a finite number", series(plots.Series{X: one, Y: []float64{2e300}})},
		{"1 x and 0 cells", series(plots.Series{X: one, Y: one, Cells: []string{}})},
		{"1 x and 0 high", series(plots.Series{X: one, Y: one, Low: one})},
		{"1 x and 0 low", series(plots.Series{X: one, Y: one, Low: []float64{}, High: one})},
		{"1: expected it between 1.5 and 2", series(plots.Series{X: one, Y: one, Low: []float64{1.5}, High: []float64{2}})},
		{"1: expected it between 2 and 0", series(plots.Series{X: one, Y: one, Low: []float64{2}, High: []float64{0}})},
		{"a side of -1 pixels: expected 200 to 10000", sized(-1)},
		{"a side of 1e+06 pixels", sized(1e6)},
		{"a side of NaN pixels", sized(nan)},
		{`series "a": no series "GAT" before it`, series(plots.Series{Name: "a", Of: "GAT", X: one, Y: one})},

		{`panels "none": none`, plots.Panels{ID: "none"}},
		{`chart "A": series "here": no points`, changed(panels(), func(p *plots.Panels) { p.Rows[0][0].Series[0].X = nil })},

		{"no effects: expected at", effects(func(f *plots.Forest) { f.Groups = nil })},
		{`effect "Cora, inductive": 3: expected`, effects(func(f *plots.Forest) { f.Groups[0].Rows[0].Value = 3 })},
		{"NaN: expected a finite number", effects(func(f *plots.Forest) { f.Groups[1].Rows[0].Low = nan })},
		{"a side of 10 pixels", effects(func(f *plots.Forest) { f.Width = 10 })},
		{`forest plot "claims": effect "GAT, inductive": 1 fields: expected one for each of 2 columns, or none`,
			changed(claims(), func(f *plots.Forest) { f.Groups[0].Rows[0].Fields = []string{"31 of 48"} })},
	} {
		_, err := c.of.SVG()
		require.ErrorContains(t, err, c.want)
	}
}

func TestTablesThatCannotBeWrittenAreErrors(t *testing.T) {
	figure := func(change func(*plots.Table)) plots.Table { return changed(wide(), change) }
	list := func(change func(*plots.Table)) plots.Table { return changed(scores(), change) }
	groups := func(these ...int) plots.Table { return list(func(t *plots.Table) { t.Groups = these }) }
	const columns = "under others or at the head of a block: expected ascending numbers from 3 to 6"
	for _, c := range []struct {
		want  string
		table plots.Table
	}{
		{`table "": no header: expected at least one column`, plots.Table{}},
		{"row 1 has 0 cells: the header has 1", plots.Table{Header: []string{"a"}, Rows: [][]plots.Field{{}}}},
		{"2 text columns of 1", plots.Table{Header: []string{"a"}, TextColumns: 2}},
		{"groups begin at rows [0]", groups(0)}, {"groups begin at rows [3]", groups(3)},
		{"groups begin at rows [1 1]", groups(1, 1)},
		{"columns [2] " + columns, figure(func(t *plots.Table) { t.Under = []int{2} })},
		{"columns [5 5] " + columns, figure(func(t *plots.Table) { t.Under = []int{5, 5} })},
		{"columns [7] " + columns, figure(func(t *plots.Table) { t.Under = []int{7} })},
		{"sections take the only column of labels: expected at least 2",
			figure(func(t *plots.Table) { t.TextColumns = 1 })},
	} {
		for _, f := range plots.Formats() {
			_, err := c.table.Render(f)
			require.ErrorContains(t, err, c.want)
		}
	}
	_, err := scores().Render("pdf")
	require.ErrorContains(t, err, `"pdf"`)
}

// steers controls a terminal (ESC, its 8-bit form in UTF-8 and alone, backspace), ends lines, or reverses the direction
// of writing.
const steers = "a\x1b[31mb\u009b31mc\x9b31md\be\x00f\r\ng\u0085h\u2028i\u061c" +
	"j\u200ek\u200fl\u202am\u202bn\u202co\u202dp\u202eq\u2066r\u2067s\u2068t\u2069u"

func everywhere(s string) (plots.Table, plots.Chart) {
	cell := plots.Field{Text: s, Note: s, Bold: true}
	return plots.Table{ID: s, Title: s, Caption: s, Header: []string{s, s}, Rows: [][]plots.Field{{cell, cell}}},
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

func TestTextOfFilesSteersNoTerminal(t *testing.T) {
	check := func(t require.TestingT, s string) {
		table, chart := everywhere(s)
		for _, f := range []plots.Format{plots.FormatText, plots.FormatMarkdown} {
			require.NoError(t, steersIn(render(t, table, f)), f)
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
