package plots

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"nodemask/internal/svg"
)

// specificationScript makes the drawing interactive, in the look of specificationStyle.
//
//go:embed specification.js
var specificationScript string

//go:embed specification.css
var specificationStyle string

// embeddedSpecification is what the script reads.
type embeddedSpecification struct {
	Axes     []SpecificationAxis    `json:"axes"`
	Readings []SpecificationReading `json:"readings"` // by ascending effect
	Title    string                 `json:"title"`
	Mark     string                 `json:"mark"`
	Crop     float64                `json:"crop"` // where the drawing goes on after title and summary
	Left     float64                `json:"left"` // of the curve, in the drawing
	Right    float64                `json:"right"`
	Top      float64                `json:"top"`
	Bottom   float64                `json:"bottom"` // of the matrix
	Margin   float64                `json:"margin"`
	Style    string                 `json:"style"`
}

// HTML returns s as a piece of a page to look into, for a report or a notebook's output. It needs no network and no
// other files, and any number of pieces can stand on one page. The same s gives the same bytes.
//
// Pointing at a reading, or choosing one with the arrow keys, tells it in words. A click on an option, or the Enter
// key, leaves the readings that choose it, and another click frees it again; options of several axes combine. A line
// counts what is shown. It is as wide as its place, and scrolls where that is narrow. Where scripts do not run, as in
// a notebook that is not trusted, the reader sees what [Specification.SVG] draws.
//
// For scripts on the page, the element of class nodemask-specification has a property nodemask: the functions shown
// (numbers of readings by ascending effect, from 0), choose (axis, option, both from 0), select (number of a reading)
// and words (of the selected one). The error is that of
// [Specification.SVG].
func (s Specification) HTML() (string, error) {
	drawing, err := s.SVG()
	if err != nil {
		return "", err
	}
	l := s.layout()
	e := embeddedSpecification{Title: svg.Plain(s.Title), Mark: s.markName(), Crop: l.legendTop - margin/2,
		Left: l.left, Right: l.right, Top: l.y.end, Bottom: l.matrixBottom, Margin: margin}
	for _, a := range s.Axes {
		axis := SpecificationAxis{Name: svg.Plain(a.Name)}
		for _, o := range a.Options {
			axis.Options = append(axis.Options, svg.Plain(o))
		}
		e.Axes = append(e.Axes, axis)
	}
	for _, r := range s.sorted() {
		r.Text = svg.Plain(r.Text)
		e.Readings = append(e.Readings, r)
	}
	e.Style = specificationStyle
	for i, c := range svg.Palette[:2] {
		e.Style += fmt.Sprintf(".dark .line%d{stroke:%s}.dark .fill%[1]d{fill:%[2]s}\n", i, c.Dark)
	}
	data, err := json.Marshal(e) // which escapes <, > and &, so that no name can end the element
	if err != nil {
		return "", fmt.Errorf("specification curve %q: %w", s.ID, err)
	}
	// By itself, the image has no page to take the colour of its paper from.
	const paper = "<style>:root{background:#fff}@media " +
		"(prefers-color-scheme:dark){:root{background:#121212}}</style></svg>\n"
	picture := append(bytes.TrimSuffix(drawing, []byte("</svg>\n")), paper...)
	alt := cmp.Or(svg.Plain(s.Title), "Specification curve") + ". " + s.description()
	return fmt.Sprintf(`<div class="nodemask-specification" style="overflow-x:auto">
<img loading="lazy" src="data:image/svg+xml;base64,%s" alt="%s" width="%s" height="%s" style="width:%[3]spx;max-width:none;height:auto">
<script type="application/json">%[5]s</script>
<script>
%s</script>
</div>
`, base64.StdEncoding.EncodeToString(picture), svg.Escape(alt), svg.Px(l.Width), svg.Px(l.Height),
		data, specificationScript), nil
}
