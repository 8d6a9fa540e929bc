package advice

import (
	_ "embed"
	"html/template"
	"io"

	"nodemask/plots"
)

//go:embed page.html.tmpl
var pageTemplate string

// WriteHTML writes the answer, a figure, the table and the command as a self-contained page.
func (a *Advice) WriteHTML(w io.Writer) error {
	parsed, err := template.New("advice").Parse(pageTemplate)
	if err != nil {
		return err
	}
	table, err := a.Table().Render(plots.FormatHTML)
	if err != nil {
		return err
	}
	page := struct {
		*Advice
		Table, Picture template.HTML
	}{a, template.HTML(table), ""} //nolint:gosec // plots escapes what it is given
	if f, any := a.Forest(); any {
		svg, err := f.SVG()
		if err != nil {
			return err
		}
		page.Picture = template.HTML(svg) //nolint:gosec // the drawing is ours and escapes its texts
	}
	return parsed.Execute(w, page)
}
