package plots

import (
	"bytes"
	"fmt"
	"slices"
)

// Panels are small charts in a grid. Series of one name look alike in all of them, and stand once in the legend; the charts of a row
// share the scale of y.
type Panels struct {
	ID, Title, Caption string
	XLabel, YLabel     string    // of all; a panel's own are not written
	Width, RowHeight   float64   // in CSS pixels; 0: 960 and 260
	Rows               [][]Chart // a panel's Title names it
}

const defaultPanelsWidth, defaultRowHeight = 960, 260

// Check returns nil if p can be drawn: it has panels, and each of them can be.
func (p Panels) Check() error {
	if len(p.Rows) == 0 || len(p.Rows[0]) == 0 {
		return fmt.Errorf("plots: panels %q: none", p.ID)
	}
	for _, c := range slices.Concat(p.Rows...) {
		if err := c.Check(); err != nil {
			return err
		}
	}
	return nil
}

// all are the series of all panels, each name once, for the legend and the looks.
func (p Panels) all() []Series {
	var all []Series
	for _, c := range slices.Concat(p.Rows...) {
		for _, s := range c.Series {
			if !slices.ContainsFunc(all, func(other Series) bool { return other.Name == s.Name }) {
				all = append(all, s)
			}
		}
	}
	return all
}

// SVG returns a drawing of p, as [Chart.SVG] does. The error is that of [Panels.Check].
func (p Panels) SVG() ([]byte, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	width, rowHeight := p.Width, p.RowHeight
	if width == 0 {
		width = defaultPanelsWidth
	}
	if rowHeight == 0 {
		rowHeight = defaultRowHeight
	}
	series := p.all()
	all := looks(series)
	title := newHeading(p.Title, width)
	legend := newLegend(series, all, width-2*margin)
	top := margin + title.height() + margin
	used := make([]int, len(all))
	for i, look := range all {
		used[i] = look.colour
	}
	above := top + legend.height()
	var d drawing
	d.start(p.ID, p.Title, Chart{Caption: p.Caption, XLabel: p.XLabel, YLabel: p.YLabel, Series: series}.description(), used, width, above+rowHeight*float64(len(p.Rows)))
	title.draw(&d)
	legend.draw(&d, point{margin, top})
	for i, row := range p.Rows {
		share := (width - margin) / float64(len(row))
		whole := Chart{}
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
			f := whole.newFrame(share, rowHeight, lineHeight*titleSize+margin/2)
			fmt.Fprintf(&d, "<g transform=\"translate(%s,%s)\">\n", px(share*float64(k)), px(above+rowHeight*float64(i)))
			d.text(point{f.left, lineHeight * titleSize * 0.8}, labelSize, bold, oneLine(c.Title))
			f.draw(&d)
			if f.y.min < 0 && f.y.max > 0 {
				d.path(axisLine, polyline([]point{{f.left, f.at(f.x.min, 0).y}, {f.right, f.at(f.x.min, 0).y}}))
			}
			var own []look
			for _, s := range c.Series {
				own = append(own, all[slices.IndexFunc(series, func(other Series) bool { return other.Name == s.Name })])
			}
			c.drawSeries(&d, f, own)
			d.WriteString("</g>\n")
		}
	}
	d.WriteString("</svg>\n")
	return bytes.Clone(d.Bytes()), nil
}
