package plots_test

import (
	"encoding/csv"
	"encoding/xml"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/plots"
)

// anyText draws text with much of the formats' markup.
var anyText = rapid.StringOf(rapid.OneOf(rapid.Rune(),
	rapid.SampledFrom([]rune("<>&\"'|_%$#{}~^\\*[]`,;\r\n\t\x00\x1b\u0085\ufffe±− "))))

func scores() plots.Table {
	return plots.Table{
		ID: "scores", Title: "Cora & co", Caption: "Macro F1, mean ± std.",
		Header: []string{"model", "keep_rate", "macro F1 %"},
		Rows: [][]plots.Field{
			{{Text: "GIN"}, {Text: "0.5"}, {Text: "77.3 ± 1.4", Note: "10 trials", Bold: true}},
			{{Text: "GAT | masked"}, {Text: "1"}, {Text: "−0.2"}},
			{{Text: "SGAT"}, {Text: "1"}, {Text: "–"}},
		},
		Groups: []int{1},
	}
}

func render(t require.TestingT, table plots.Table, f plots.Format) string {
	got, err := table.Render(f)
	require.NoError(t, err)
	return got
}

func TestTextTableMarksBoldCellsByAStarAndHasRulesBetweenGroups(t *testing.T) {
	assert.Equal(t, `Cora & co
╭──────────────┬───────────┬─────────────╮
│ model        │ keep_rate │  macro F1 % │
├──────────────┼───────────┼─────────────┤
│ GIN          │       0.5 │ 77.3 ± 1.4* │
├──────────────┼───────────┼─────────────┤
│ GAT | masked │         1 │        −0.2 │
│ SGAT         │         1 │           – │
╰──────────────┴───────────┴─────────────╯
Macro F1, mean ± std.
`, render(t, scores(), plots.FormatText))
	bold := scores()
	bold.Caption = "Ten trials. Bold: significant."
	assert.Contains(t, render(t, bold, plots.FormatText), "\nTen trials. *: significant.\n")
	assert.Contains(t, render(t, bold, plots.FormatMarkdown), "Ten trials. Bold: significant.")
}

func TestAnArrowBehindABoldNumberSaysThatItIsBelow(t *testing.T) {
	table := scores()
	table.Rows[0][2].Down = true
	for format, want := range map[plots.Format]string{
		plots.FormatText: "77.3 ± 1.4 ↓ │", plots.FormatMarkdown: "**77.3 ± 1.4 ↓**", plots.FormatHTML: "<b>77.3 ↓</b>",
		plots.FormatCSV: "77.3 ± 1.4\n",
	} {
		assert.Contains(t, render(t, table, format), want)
	}
	table.Rows[0][2].Bold = false
	assert.NotContains(t, render(t, table, plots.FormatText), "↓")
}

func TestMarkdownTableEscapesPipesAndAlignsNumbersRight(t *testing.T) {
	assert.Equal(t, `**Cora \& co**

| model | keep\_rate | macro F1 % |
| :--- | ---: | ---: |
| GIN | 0.5 | **77.3 ± 1.4** |
| GAT \| masked | 1 | −0.2 |
| SGAT | 1 | – |

Macro F1, mean ± std.
`, render(t, scores(), plots.FormatMarkdown))
}

// unstyled replaces each style of an HTML table's cells by a word.
func unstyled(html string) string {
	return strings.NewReplacer(
		`style="text-align:left"`, "LEFT", `style="text-align:right"`, "RIGHT", `style="text-align:right;white-space:nowrap"`,
		"NUMBER",
		`style="text-align:left;border-top:1px solid"`, "LEFT-RULED",
		`style="text-align:right;white-space:nowrap;border-top:1px solid"`, "NUMBER-RULED",
		`<small style="opacity:.8">`, "<small SOFT>", `style="text-align:left;max-width:14ch"`, "NAME",
		`style="text-align:right;max-width:14ch"`, "NAME-RIGHT", `style="text-align:left;max-width:24ch"`, "TEXT",
	).Replace(html)
}

func TestHTMLTableDoesNotBreakIntervals(t *testing.T) {
	html := render(t, plots.Table{Header: []string{"effect [95 %]"},
		Rows: [][]plots.Field{{{Text: "−0.07 [−0.80, 0.65] points, p < 0.001"}}}}, plots.FormatHTML)
	whole := `<span style="white-space:nowrap">`
	assert.Contains(t, html, "effect "+whole+"[95 %]</span>")
	assert.Contains(t, html, "−0.07 "+whole+"[−0.80, 0.65]</span> points, p "+whole+"&lt; 0.001</span>")
}

func TestHTMLTableHasACaptionScopesNotesAndABodyForEachGroup(t *testing.T) {
	assert.Equal(t, `<table id="scores">
<caption><b>Cora &amp; co</b> Macro F1, mean ± std.</caption>
<thead>
<tr><th scope="col" LEFT>model</th><th scope="col" RIGHT>keep_rate</th><th scope="col" RIGHT>macro F1 %</th></tr>
</thead>
<tbody>
<tr><th scope="row" LEFT>GIN</th><td NUMBER>0.5</td><td NUMBER title="10 trials" tabindex="0"><b>77.3</b><small SOFT> ± 1.4</small></td></tr>
</tbody>
<tbody>
<tr><th scope="row" LEFT-RULED>GAT | masked</th><td NUMBER-RULED>1</td><td NUMBER-RULED>−0.2</td></tr>
<tr><th scope="row" LEFT>SGAT</th><td NUMBER>1</td><td NUMBER>–</td></tr>
</tbody>
</table>
`, unstyled(render(t, scores(), plots.FormatHTML)))
}

func TestAnyTextSurvivesEveryFormat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(2, 4).Draw(t, "columns")
		table := plots.Table{
			ID: anyText.Draw(t, "id"), Title: anyText.Draw(t, "title"), Caption: anyText.Draw(t, "caption"),
			Header:      rapid.SliceOfN(anyText, columns, columns).Draw(t, "header"),
			TextColumns: rapid.IntRange(0, columns).Draw(t, "text columns"),
		}
		cell := rapid.Custom(func(t *rapid.T) plots.Field {
			return plots.Field{Text: anyText.Draw(t, "text"), Note: anyText.Draw(t, "note"), Bold: rapid.Bool().Draw(t, "bold")}
		})
		for range rapid.IntRange(0, 4).Draw(t, "rows") {
			table.Rows = append(table.Rows, rapid.SliceOfN(cell, columns, columns).Draw(t, "row"))
		}

		// The cells' texts, the header first.
		var texts [][]string
		var notes []string
		texts = append(texts, table.Header)
		for _, row := range table.Rows {
			var line []string
			for _, c := range row {
				line = append(line, c.Text)
				if c.Note != "" {
					notes = append(notes, inXML(c.Note))
				}
			}
			texts = append(texts, line)
		}

		type parsedCell struct {
			Title string `xml:"title,attr"`
			HTML  string `xml:",innerxml"`
		}
		type line struct {
			Cells []parsedCell `xml:",any"`
		}
		var parsed struct {
			Head line   `xml:"thead>tr"`
			Body []line `xml:"tbody>tr"`
		}
		require.NoError(t, xml.Unmarshal([]byte(render(t, table, plots.FormatHTML)), &parsed))
		inHTML := append([]line{parsed.Head}, parsed.Body...)
		require.Len(t, inHTML, len(texts))
		var titles []string
		for i, row := range texts {
			for k, text := range row {
				got := inHTML[i].Cells[k]
				require.Equal(t, inXML(text), html.UnescapeString(tags.ReplaceAllString(got.HTML, "")))
				if got.Title != "" {
					titles = append(titles, got.Title)
				}
			}
		}
		require.Equal(t, notes, titles)

		records, err := csv.NewReader(strings.NewReader(render(t, table, plots.FormatCSV))).ReadAll()
		require.NoError(t, err)
		require.Len(t, records, len(texts))
		for i, row := range texts {
			for k, text := range row {
				require.Equal(t, strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), records[i][k],
					"CSV, row %d, column %d", i, k)
			}
		}

		lines := 0
		for _, line := range strings.Split(render(t, table, plots.FormatMarkdown), "\n") {
			if strings.HasPrefix(line, "|") {
				lines++
				require.Equal(t, columns+1, strings.Count(line, "|")-strings.Count(line, `\|`), "Markdown: %s", line)
			}
		}
		require.Equal(t, len(texts)+1, lines)

		text := render(t, table, plots.FormatText)
		require.NotContains(t, text, "\x1b", "text may not steer the terminal")
	})
}

var tags = regexp.MustCompile(`<[^>]*>`)

func inXML(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff {
			return '\ufffd'
		}
		return r
	}, s)
}

func TestAFieldTellsAPageWhichCellItIsInEveryKindOfTable(t *testing.T) {
	table := plots.Table{ID: "t", Title: "T", Header: []string{"train", "GIN", "paper"},
		Rows: [][]plots.Field{{{Text: "10 %"}, {Text: "79", Note: "ten", Cell: `{"data":"cora"}`}, {Text: "78"}}}}
	for name, under := range map[string][]int{"a table": nil, "a figure of tables": {2}} {
		table.Under = under
		text, err := table.Render(plots.FormatHTML)
		require.NoError(t, err)
		require.Contains(t, text, ` title="ten" tabindex="0" data-cell="{&#34;data&#34;:&#34;cora&#34;}"`, name)
		text, err = table.Render(plots.FormatMarkdown)
		require.NoError(t, err)
		require.NotContains(t, text, "cora", name)
	}
}

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
<tr><th scope="col" NAME>train</th><th scope="col" NAME-RIGHT>a: GIN<br/><small SOFT>paper, Δ</small></th></tr>
</thead>
<tbody>
<tr><th scope="rowgroup" colspan="2" LEFT>inductive</th></tr>
<tr><th scope="row" TEXT>10 %</th><td NUMBER title="3 trials" tabindex="0"><b>51.0</b>`+
		"<small SOFT> ± 1.0</small><br/><small SOFT>52.9\u2002−1.9</small></td></tr>\n"+
		`<tr><th scope="row" TEXT>20 %</th><td NUMBER>–<br/><small SOFT>`+"\u00a0</small></td></tr>\n"+
		`</tbody>
<tbody>
<tr><th scope="rowgroup" colspan="2" LEFT>&lt;b&gt;</th></tr>
<tr><th scope="row" TEXT>10 %</th><td NUMBER>5<br/><small SOFT>`+"\u00a0</small></td></tr>\n"+
		`</tbody>
</table>
<table>
<thead>
<tr><th scope="col" NAME>train</th><th scope="col" NAME-RIGHT>b: GIN</th><th scope="col" NAME-RIGHT>b: NM</th></tr>
</thead>
<tbody>
<tr><th scope="rowgroup" colspan="3" LEFT>inductive</th></tr>
<tr><th scope="row" TEXT>10 %</th><td NUMBER>1</td><td NUMBER>2</td></tr>
<tr><th scope="row" TEXT>20 %</th><td NUMBER>3</td><td NUMBER>4</td></tr>
</tbody>
<tbody>
<tr><th scope="rowgroup" colspan="3" LEFT>&lt;b&gt;</th></tr>
<tr><th scope="row" TEXT>10 %</th><td NUMBER>6</td><td NUMBER>7</td></tr>
</tbody>
</table>
</div>
</figure>
`, unstyled(render(t, wide(), plots.FormatHTML)))
}
