// Package nb shows tables, charts, drawings and text in a gonb notebook; ordinary programs print them as plain text.
//
// It links neither GoMLX nor C, so that notebook cells start fast: [Train] and [CheckTree] run the command nodemask. To
// train on a graph, or with a layer, built in a notebook cell, use nb/incell.
//
// Every function waits until the notebook has received its output, as gonb may lose what is sent just before a cell
// ends. No output needs scripts or SVG elements, which untrusted notebooks (a fresh clone, GitHub) do not allow.
package nb

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"nodemask/nb/internal/notebook"
	"nodemask/plots"
)

func showHTML(fragment, fallback string) {
	show(fallback, map[protocol.MIMEType]any{protocol.MIMETextHTML: fragment})
}

// Markdown shows text with headings, lists, links and $formulas$.
func Markdown(text string) {
	show(text, map[protocol.MIMEType]any{protocol.MIMETextMarkdown: text})
}

// SVG shows a drawing. alt is for screen readers and plain text.
func SVG[T string | []byte](svg T, alt string) {
	showHTML(notebook.Image([]byte(svg), alt), "["+alt+"]")
}

// Table shows a table.
func Table(t plots.Table) {
	t.ID += "-" + gonbui.UniqueId() // a page may show a table twice
	t = dashed(t)
	showHTML(Must1(t.Render(plots.FormatHTML)), Must1(t.Render(plots.FormatText)))
}

func dashed(t plots.Table) plots.Table {
	rows := make([][]plots.Field, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = slices.Clone(row)
		for f := range row {
			rows[i][f].Text = cmp.Or(row[f].Text, "–")
		}
	}
	t.Rows = rows
	return t
}

// Chart shows charts, side by side if they fit.
func Chart(charts ...plots.Chart) {
	if len(charts) == 1 {
		showHTML(picture(charts[0]), altOf(charts[0].Title, charts[0].Caption))
		return
	}
	var pictures, text strings.Builder
	for _, c := range charts {
		pictures.WriteString(picture(c) + "\n")
		text.WriteString(altOf(c.Title, c.Caption) + "\n")
	}
	sideBySide(pictures.String(), text.String())
}

func sideBySide(pictures, text string) {
	showHTML(`<div style="display:flex;flex-wrap:wrap;gap:12px 28px;overflow-x:auto">`+"\n"+pictures+"</div>", text)
}

func picture(c plots.Chart) string {
	return notebook.Chart(Must1(c.SVG()), altOf(c.Title, c.Caption), Must1(c.Places()))
}

func altOf(title, caption string) string {
	return strings.TrimSpace(strings.TrimSuffix(title, ".") + ". " + caption)
}

func show(text string, data map[protocol.MIMEType]any) {
	if !gonbui.IsNotebook {
		fmt.Fprintln(os.Stdout, strings.TrimRight(text, "\n"))
		return
	}
	data[protocol.MIMETextPlain] = text
	gonbui.SendData(&protocol.DisplayData{Data: data})
	gonbui.Sync()
	if err := gonbui.Error(); err != nil {
		Must(fmt.Errorf("the notebook's kernel cannot be reached: %w", err))
	}
}
