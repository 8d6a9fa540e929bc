package plots_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/internal/svg"
	"nodemask/plots"
)

func wide() plots.Table {
	return plots.Table{
		ID: "wide", Title: "Wide", Caption: "In two blocks.", TextColumns: 2, Sections: true, Under: []int{3, 4},
		Blocks: []int{5},
		Header: []string{"setting", "train", "a: GIN", "paper", "Δ", "b: GIN", "b: NM"},
		Rows: [][]plots.Field{
			{{Text: "inductive"}, {Text: "10 %"}, {Text: "51.0 ± 1.0", Bold: true, Note: "3 trials"}, {Text: "52.9"},
				{Text: "−1.9"}, {Text: "1"}, {Text: "2"}},
			{{Text: "inductive"}, {Text: "20 %"}, {Text: "–"}, {}, {}, {Text: "3"}, {Text: "4"}},
			{{Text: "<b>"}, {Text: "10 %"}, {Text: "5"}, {}, {}, {Text: "6"}, {Text: "7"}},
		},
	}
}

func TestAWideTableIsAFigureOfBlocksWithSections(t *testing.T) {
	assert.Equal(t, `<figure id="wide" style="margin:0">
<figcaption><b>Wide</b> In two blocks.</figcaption>
<div style="display:flex;flex-wrap:wrap;align-items:flex-end;gap:12px 28px">
<table>
<thead>
<tr><td colspan="1"></td><th scope="colgroup" colspan="1" style="text-align:center">a</th></tr>
<tr><th scope="col" LEFT>train</th><th scope="col" RIGHT>GIN<br/><small SOFT>paper, Δ</small></th></tr>
</thead>
<tbody>
<tr><th scope="rowgroup" colspan="2" LEFT>inductive</th></tr>
<tr><th scope="row" LEFT>10 %</th><td NUMBER title="3 trials" tabindex="0"><b>51.0</b>`+
		"<small SOFT> ± 1.0</small><br/><small SOFT>52.9\u2002−1.9</small></td></tr>\n"+
		`<tr><th scope="row" LEFT>20 %</th><td NUMBER>–<br/><small SOFT>`+"\u00a0</small></td></tr>\n"+
		`</tbody>
<tbody>
<tr><th scope="rowgroup" colspan="2" LEFT>&lt;b&gt;</th></tr>
<tr><th scope="row" LEFT>10 %</th><td NUMBER>5<br/><small SOFT>`+"\u00a0</small></td></tr>\n"+
		`</tbody>
</table>
<table>
<thead>
<tr><td colspan="1"></td><th scope="colgroup" colspan="2" style="text-align:center">b</th></tr>
<tr><th scope="col" LEFT>train</th><th scope="col" RIGHT>GIN</th><th scope="col" RIGHT>NM</th></tr>
</thead>
<tbody>
<tr><th scope="rowgroup" colspan="3" LEFT>inductive</th></tr>
<tr><th scope="row" LEFT>10 %</th><td NUMBER>1</td><td NUMBER>2</td></tr>
<tr><th scope="row" LEFT>20 %</th><td NUMBER>3</td><td NUMBER>4</td></tr>
</tbody>
<tbody>
<tr><th scope="rowgroup" colspan="3" LEFT>&lt;b&gt;</th></tr>
<tr><th scope="row" LEFT>10 %</th><td NUMBER>6</td><td NUMBER>7</td></tr>
</tbody>
</table>
</div>
</figure>
`, unstyled(render(t, wide(), plots.FormatHTML)))
}

func TestAWideTablesGroupsAndFooterAreInEachBlock(t *testing.T) {
	table := plots.Table{Header: []string{"seed", "a", "b"}, Blocks: []int{2}, Groups: []int{1},
		Footer: []plots.Field{{Text: "mean"}, {Text: "2"}, {Text: "5"}},
		Rows:   [][]plots.Field{{{Text: "1"}, {Text: "1"}, {Text: "4"}}, {{Text: "2"}, {Text: "3"}, {Text: "6"}}}}
	html := render(t, table, plots.FormatHTML)
	assert.Equal(t, 4, strings.Count(html, "<tbody>"))
	assert.Equal(t, 2, strings.Count(html, "<tfoot>"))
	assert.Equal(t, 8, strings.Count(html, "border-top:1px solid"))
	assert.NotContains(t, html, "colgroup", "the columns share no prefix")
	svg.WellFormed(t, html)
}

func TestTextOfAWideTableSurvivesInHTML(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, note := anyText.Draw(t, "text"), anyText.Draw(t, "note")
		cell := plots.Field{Text: text, Note: note, Bold: rapid.Bool().Draw(t, "bold")}
		table := plots.Table{Header: []string{"a", text, text}, Under: []int{2}, Title: text,
			Rows: [][]plots.Field{{cell, cell, cell}}, Footer: []plots.Field{cell, cell, cell}}
		html := render(t, table, plots.FormatHTML)
		words := svg.WellFormed(t, html)
		letters := func(s string) string {
			return strings.Join(strings.FieldsFunc(inXML(s), func(r rune) bool { return unicode.IsSpace(r) }), "")
		}
		require.GreaterOrEqual(t, strings.Count(letters(words), letters(text)), 1)
	})
}
