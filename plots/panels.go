package plots

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"nodemask/internal/svg"
)

// Panels are small charts in a grid. Series with equal names look alike.
type Panels struct {
	ID, Title, Caption string
	XLabel, YLabel     string    // for all panels; labels of charts in Rows are not drawn
	Width              float64   // in pixels; 0 means 840
	Rows               [][]Chart // each chart's Title names its panel
	// OneScale gives all panels one y axis and writes each line's name at the line's end. Otherwise the panels of a row
	// have the same y axis, and a legend names all lines.
	OneScale bool
}

const (
	defaultPanelsWidth, panelsRow = 840, 230
	nameGap                       = 12
)

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

type panel struct {
	Chart
	frame  frame
	corner point
	looks  []look
	named  bool // each line's name is drawn at the line's end, not in a legend
}

// SVG returns a drawing of p in the format of [Chart.SVG].
func (p Panels) SVG() ([]byte, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	d, panels := p.layout()
	for _, c := range panels {
		d.printf("<g transform=\"translate(%s,%s)\">\n", svg.Px(c.corner.x), svg.Px(c.corner.y))
		d.text(point{c.frame.left, lineHeight * titleSize * 0.8}, labelSize, bold, svg.Plain(c.Title))
		c.frame.draw(d)
		if c.frame.y.min < 0 && c.frame.y.max > 0 {
			d.path(axisLine, polyline(c.frame.at(c.frame.x.min, 0), c.frame.at(c.frame.x.max, 0)))
		}
		c.drawSeries(d, c.frame, c.looks)
		if c.named {
			c.nameLines(d)
		}
		d.WriteString("</g>\n")
	}
	return d.close(), nil
}

// Places returns each panel's [Chart.Places], with the panel's title in the name of each [Place].
func (p Panels) Places() ([]Place, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	d, panels := p.layout()
	var all []Place
	for _, c := range panels {
		for _, place := range c.places(c.frame, c.corner, d.Width, d.Height) {
			place.Name = svg.Plain(c.Title) + ", " + place.Name
			all = append(all, place)
		}
	}
	return all, nil
}

func (p Panels) layout() (*drawing, []panel) {
	all := Chart{Caption: p.Caption, XLabel: p.XLabel, YLabel: p.YLabel}
	index := map[string]int{}
	names := 0.0
	for _, c := range slices.Concat(p.Rows...) {
		for _, s := range c.Series {
			if _, ok := index[s.Name]; !ok {
				index[s.Name] = len(all.Series)
				all.Series = append(all.Series, s)
				names = max(names, nameGap+legendGap+textWidth(svg.Plain(s.Name), tickSize)+margin)
			}
		}
	}
	looks := looks(all.Series)
	width := cmp.Or(p.Width, defaultPanelsWidth)
	d := newDrawing(p.ID, p.Title, all.description(), width)
	legend := newLegend(all.Series, looks, width-2*margin)
	if p.OneScale {
		legend.rows = nil
	}
	top := d.top() + margin
	above := top + legend.height()
	d.Height = above + panelsRow*float64(len(p.Rows))
	d.open()
	if !p.OneScale {
		legend.draw(d, point{margin, top})
	}
	var panels []panel
	axis := 0.0 // width of the y axis's texts
	for i, row := range p.Rows {
		whole, charts := Chart{}, row
		if p.OneScale {
			charts = slices.Concat(p.Rows...)
		}
		for _, c := range charts {
			whole.Series = append(whole.Series, c.Series...)
		}
		if i == len(p.Rows)-1 && !p.OneScale {
			whole.XLabel = p.XLabel
		}
		share := (width - margin) / float64(len(row))
		for k, c := range row {
			if whole.YLabel = ""; k == 0 {
				whole.YLabel = p.YLabel
			}
			own := panel{Chart: c, corner: point{share * float64(k), above + panelsRow*float64(i)}}
			own.frame = whole.newFrame(share, panelsRow, lineHeight*titleSize+margin/2)
			if p.OneScale {
				left := 0.0
				if k == 0 {
					axis = own.frame.left
					left = axis
				}
				body := (width - axis) / float64(len(row))
				own.corner.x = axis + body*float64(k) - left
				own.frame.place(left, left+body-names)
				own.frame.bare, own.named = k > 0, true
				if i == len(p.Rows)-1 {
					own.frame.xLabel = wrap(p.XLabel, labelSize, body-margin)
					d.Height = max(d.Height, above+panelsRow*float64(i+1)+float64(len(own.frame.xLabel))*labelLine)
				}
			}
			for _, s := range c.Series {
				own.looks = append(own.looks, looks[index[s.Name]])
			}
			panels = append(panels, own)
		}
	}
	return d, panels
}

func (c panel) nameLines(d *drawing) {
	type name struct {
		look look
		text string
		y    float64
	}
	var names []name
	for i, s := range c.Series {
		names = append(names, name{c.looks[i], s.Name, c.frame.at(0, s.Y[len(s.Y)-1]).y})
	}
	slices.SortStableFunc(names, func(a, b name) int { return cmp.Compare(a.y, b.y) })
	y := math.Inf(-1)
	for _, n := range names {
		y = max(n.y, y+legendLine)
		at := point{c.frame.right + nameGap, y}
		d.path(n.look.markers(), n.look.marker(at))
		d.text(point{at.x + legendGap, at.y + middle*tickSize}, tickSize, "", svg.Plain(n.text))
	}
}
