package plots

import (
	"fmt"
	"slices"
)

// Panels are small charts in a grid. Series of one name look alike in all of them, and stand once in the legend; the
// charts of a row share the scale of y.
type Panels struct {
	ID, Title, Caption string
	XLabel, YLabel     string    // of all; a panel's own are not written
	Width              float64   // in CSS pixels; 0: 840
	Rows               [][]Chart // a panel's Title names it
}

const defaultPanelsWidth, panelsRow = 840, 230

// Check returns nil if p can be drawn: it has panels, and each of them can be.
func (p Panels) Check() error {
	if len(p.Rows) == 0 || len(p.Rows[0]) == 0 {
		return fmt.Errorf("panels %q: none", p.ID)
	}
	for _, c := range slices.Concat(p.Rows...) {
		if err := c.Check(); err != nil {
			return err
		}
	}
	return nil
}

// named returns the index of the first series of that name, or -1.
func named(series []Series, name string) int {
	return slices.IndexFunc(series, func(s Series) bool { return s.Name == name })
}

// SVG returns a drawing of p, as [Chart.SVG] does. The error is that of [Panels.Check].
func (p Panels) SVG() ([]byte, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	all := Chart{Caption: p.Caption, XLabel: p.XLabel, YLabel: p.YLabel} // the series of all panels, each name once
	for _, c := range slices.Concat(p.Rows...) {
		for _, s := range c.Series {
			if named(all.Series, s.Name) < 0 {
				all.Series = append(all.Series, s)
			}
		}
	}
	looks := looks(all.Series)
	page := Sheet{ID: p.ID, Title: p.Title, Description: all.description(), Colours: coloursOf(looks), Width: p.Width}
	if page.Width == 0 {
		page.Width = defaultPanelsWidth
	}
	legend := newLegend(all.Series, looks, page.Width-2*margin)
	top := page.top() + margin
	above := top + legend.height()
	page.Height = above + panelsRow*float64(len(p.Rows))
	d := page.open()
	legend.draw(d, point{margin, top})
	for i, row := range p.Rows {
		share := (page.Width - margin) / float64(len(row))
		whole := Chart{} // for the scale of all charts of the row
		for _, c := range row {
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
			d.printf("<g transform=\"translate(%s,%s)\">\n", px(share*float64(k)), px(above+panelsRow*float64(i)))
			d.text(point{f.left, lineHeight * titleSize * 0.8}, labelSize, bold, Plain(c.Title))
			f.draw(d)
			if f.y.min < 0 && f.y.max > 0 {
				d.path(axisLine, polyline(f.at(f.x.min, 0), f.at(f.x.max, 0)))
			}
			var own []look
			for _, s := range c.Series {
				own = append(own, looks[named(all.Series, s.Name)])
			}
			c.drawSeries(d, f, own)
			d.WriteString("</g>\n")
		}
	}
	return d.close(), nil
}
