package plots_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/internal/plots"
)

func forest() plots.Forest {
	return plots.Forest{ID: "forest", Title: "What masking changes", XLabel: "difference (points)",
		Groups: []plots.ForestGroup{
			{Name: "GIN & <others>", Rows: []plots.Effect{
				{Label: "Cora, inductive", Value: 1.5, Low: 0.5, High: 2.5, Note: "(10)"},
				{Label: "Cora, transductive", Value: -0.25, Low: -1, High: 0.5, Note: "(3)"},
			}},
			{Name: "GCN", Rows: []plots.Effect{{Label: "Cora, inductive", Value: -4, Low: -5, High: -3},
				{Label: "one number", Value: 1, Low: 1, High: 1}}},
		}}
}

func TestAForestPlotSaysItsNumbers(t *testing.T) {
	words := wellFormed(t, []byte(drawn(t, forest())))
	assert.Contains(t, words, "+1.50 [0.50, 2.50] (10)")
	assert.Contains(t, words, "−4.00 [−5.00, −3.00]")
}

func TestAForestPlotFillsThePointsWhoseIntervalLeavesZeroOut(t *testing.T) {
	f := forest()
	f.Groups = f.Groups[:1]
	svg, err := f.SVG()
	require.NoError(t, err)
	// Of two effects one is clear: a filled marker in the first colour, and an open one in the second.
	assert.Regexp(t, `<path class="fill0" fill="#0072B2" d=`, string(svg))
	assert.Regexp(t, `<path class="line1" stroke="#D55E00" stroke-width="1.5" fill="none" d="M[^"]*Z"`, string(svg))
	assert.NotContains(t, string(svg), `<path class="fill1"`)
}

func TestAForestPlotShowsAllWordsWithinItsWidth(t *testing.T) {
	texts := regexp.MustCompile(`<text x="([^"]+)" y="([^"]+)" font-size="12"( text-anchor="end")?>([^<]*)`)
	for _, width := range []float64{0, 200, 760} {
		f := forest()
		f.Width = width
		f.Groups[0].Rows[0].Label = "a label of many words that does not fit a third of the width of the plot, and goes on"
		f.Groups[0].Rows[1].Note = "(a note of many words that does not fit beside the effects, and goes on)"
		svg, err := f.SVG()
		require.NoError(t, err)
		size := regexp.MustCompile(`viewBox="0 0 ([^ ]+) `).FindStringSubmatch(string(svg))
		drawn, err := strconv.ParseFloat(size[1], 64)
		require.NoError(t, err)
		var words []string
		seen := map[string]bool{}
		for _, m := range texts.FindAllStringSubmatch(string(svg), -1) {
			words = append(words, m[4])
			assert.False(t, seen[m[1]+","+m[2]], "two lines at %s, %s", m[1], m[2])
			seen[m[1]+","+m[2]] = true
			x, err := strconv.ParseFloat(m[1], 64)
			require.NoError(t, err)
			length := 6 * float64(len([]rune(m[4]))) // at least, in pixels
			if m[3] != "" {
				assert.GreaterOrEqual(t, x-length, 0.0, m[4])
			} else {
				assert.LessOrEqual(t, x+length, drawn, m[4])
			}
		}
		all := strings.Join(words, " ")
		assert.Contains(t, all, f.Groups[0].Rows[0].Label)
		assert.Contains(t, all, f.Groups[0].Rows[1].Note)
	}
}

func TestEffectsThatCannotBeDrawnAreRefused(t *testing.T) {
	for want, change := range map[string]func(*plots.Forest){
		"no effects: expected at":        func(f *plots.Forest) { f.Groups = nil },
		`"Cora, inductive": 3: expected`: func(f *plots.Forest) { f.Groups[0].Rows[0].Value = 3 },
		"NaN: expected a finite number":  func(f *plots.Forest) { f.Groups[1].Rows[0].Low = math.NaN() },
		"a width of 10 pixels":           func(f *plots.Forest) { f.Width = 10 },
	} {
		f := forest()
		change(&f)
		_, err := f.SVG()
		require.ErrorContains(t, err, want)
	}
}

// claims is a forest plot as a report has it: pooled effects in bold, columns of text, names that need room.
func claims() plots.Forest {
	return plots.Forest{ID: "claims", Title: "What is left of the claims, over all readings",
		XLabel: "masked − plain, macro F1 (points)", Columns: []string{"holds in", "grade"}, Width: 900,
		Groups: []plots.ForestGroup{
			{Name: "Table 1: GAT and SGAT on Cora", Rows: []plots.Effect{
				{Label: "GAT, inductive", Value: 1.5, Low: 0.5, High: 2.5, Fields: []string{"31 of 48", "B"}},
				{Label: "SGAT, inductive", Value: 0.4, Low: -0.4, High: 1.2, Fields: []string{"12 of 48", "D"}},
				{Label: "both", Value: 0.95, Low: 0.3, High: 1.6, Pooled: true, Fields: []string{"43 of 96", "C"}},
			}},
			{Name: "Table 3: GIN", Rows: []plots.Effect{
				{Label: "Cora, transductive", Value: -0.7, Low: -1.1, High: -0.3},
				{Label: "all", Value: -0.1, Low: -0.6, High: 0.4, Pooled: true, Note: "(10)", Fields: []string{"9 of 48", "E"}},
			}},
		}}
}

func TestPooledEffectsAreBoldDiamondsAndColumnsHaveTheirText(t *testing.T) {
	text := drawn(t, claims())
	assert.Regexp(t, `<path class="fill0" fill="#0072B2" d="M[\d.]+,[\d.]+ [\d.]+,[\d.]+ [\d.]+,[\d.]+ `+
		`[\d.]+,[\d.]+Z"/>\n<text [^>]*font-weight="bold">\+0.95 \[0.30, 1.60\]</text>`, text)
	assert.Regexp(t, `<path class="line1" stroke="#D55E00"[^>]*d="M[^"]*Z"/>\n<text [^>]*font-weight="bold">−0.10 `+
		`\[−0.60, 0.40\] \(10\)</text>`, text, "open: it includes 0")
	assert.Contains(t, text, ">holds in</text>")
	assert.Contains(t, text, ">31 of 48</text>")
	assert.Contains(t, text, "GAT, inductive +1.50 [0.50, 2.50], holds in 31 of 48, grade B; SGAT")
}

func TestEffectsWithOtherFieldsThanColumnsAreErrors(t *testing.T) {
	f := claims()
	f.Groups[0].Rows[0].Fields = []string{"31 of 48"}
	_, err := f.SVG()
	require.EqualError(t, err,
		`forest plot "claims": effect "GAT, inductive": 1 fields: expected one for each of 2 columns, or none`)
}

func TestARowOfTextAloneHasNoMarkAndNoNumbers(t *testing.T) {
	f := claims()
	f.Groups[1].Rows = append(f.Groups[1].Rows, plots.Effect{Label: "Reddit", TextOnly: true,
		Fields: []string{"", "not run"}})
	before, err := claims().SVG()
	require.NoError(t, err)
	svg, err := f.SVG()
	require.NoError(t, err)
	wellFormed(t, svg)
	paths := func(svg []byte) int { return strings.Count(string(svg), "<path ") }
	assert.Equal(t, paths(before), paths(svg))
	assert.Contains(t, string(svg), "; Reddit, grade not run.")
	assert.NotContains(t, string(svg), ">0.00 [")
	f.Groups[1].Rows[2].Value = 1
	_, err = f.SVG()
	require.EqualError(t, err, `forest plot "claims": effect "Reddit": text only, and has numbers: expected zeros`)
	f.Groups = []plots.ForestGroup{{Rows: []plots.Effect{{Label: "Reddit", TextOnly: true}}}}
	_, err = f.SVG()
	require.NoError(t, err, "an axis without effects")
}

func TestABoundThatRoundsToZeroHasNoSign(t *testing.T) {
	f := plots.Forest{Groups: []plots.ForestGroup{{Rows: []plots.Effect{{Label: "a", Value: 1, Low: -0.001, High: 2}}}}}
	svg, err := f.SVG()
	require.NoError(t, err)
	assert.Contains(t, string(svg), ">+1.00 [0.00, 2.00]</text>")
}
