package plots

import (
	"cmp"
	"errors"
	"slices"

	"nodemask/internal/svg"
)

// Panels are small charts in a grid. Series of one name look alike in all and appear once in the legend; charts of a
// row share their y scale.
type Panels struct {
	ID, Title, Caption string
	XLabel, YLabel     string    // of all; panels' own labels are not drawn
	Width              float64   // in CSS pixels; 0: 840
	Rows               [][]Chart // with Titles as names
	OneScale           bool      // one y scale for all panels, not per row
}

const defaultPanelsWidth, panelsRow = 840, 230

// Check returns the error of [Panels.SVG].
func (p Panels) Check() error {
	if len(p.Rows) == 0 || len(p.Rows[0]) == 0 {
		return named("panels", p.ID, errors.New("none"))
	}
	for _, c := range slices.Concat(p.Rows...) {
		if err := c.Check(); err != nil {
			return err
		}
	}
	return nil
}

// SVG returns a drawing of p, as [Chart.SVG] does. It returns an error unless there is a panel and each can be drawn.
func (p Panels) SVG() ([]byte, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	all := Chart{Caption: p.Caption, XLabel: p.XLabel, YLabel: p.YLabel} // all panels' series, each name once
	index := map[string]int{}
	for _, c := range slices.Concat(p.Rows...) {
		for _, s := range c.Series {
			if _, ok := index[s.Name]; !ok {
				index[s.Name] = len(all.Series)
				all.Series = append(all.Series, s)
			}
		}
	}
	looks := looks(all.Series)
	width := cmp.Or(p.Width, defaultPanelsWidth)
	d := newDrawing(p.ID, p.Title, all.description(), width, coloursOf(looks)...)
	legend := newLegend(all.Series, looks, width-2*margin)
	top := d.top() + margin
	above := top + legend.height()
	d.Height = above + panelsRow*float64(len(p.Rows))
	d.open()
	legend.draw(d, point{margin, top})
	for i, row := range p.Rows {
		share := (width - margin) / float64(len(row))
		whole := Chart{} // for the row's scale
		charts := row
		if p.OneScale {
			charts = slices.Concat(p.Rows...)
		}
		for _, c := range charts {
			whole.Series = append(whole.Series, c.Series...)
		}
		for k, c := range row {
			if i == len(p.Rows)-1 {
				whole.XLabel = p.XLabel
			}
			if whole.YLabel = ""; k == 0 {
				whole.YLabel = p.YLabel
			}
			f := whole.newFrame(share, panelsRow, lineHeight*titleSize+margin/2)
			d.printf("<g transform=\"translate(%s,%s)\">\n", svg.Px(share*float64(k)), svg.Px(above+panelsRow*float64(i)))
			d.text(point{f.left, lineHeight * titleSize * 0.8}, labelSize, bold, svg.Plain(c.Title))
			f.draw(d)
			if f.y.min < 0 && f.y.max > 0 {
				d.path(axisLine, polyline(f.at(f.x.min, 0), f.at(f.x.max, 0)))
			}
			var own []look
			for _, s := range c.Series {
				own = append(own, looks[index[s.Name]])
			}
			c.drawSeries(d, f, own)
			d.WriteString("</g>\n")
		}
	}
	return d.close(), nil
}
