package plots

import "slices"

type frame struct {
	left, right, top, bottom float64
	x, y                     axis
	xLabel, yLabel           []string
	bare                     bool // without y's numbers
}

const (
	tickLength    = 4
	xTickLabel    = 16.4 // from the axis to the baseline of its numbers
	xLabelGap     = 17.5
	yTickLabel    = 8 // from the axis to the end of its numbers
	yLabelGap     = 9
	labelLine     = 1.2 * labelSize
	labelDescent  = 0.3 * labelSize
	axesWords     = 60 // about the axes' text, in width and in height
	stepX, stepY  = 80, 45
	overhangSpace = 4
)

func (c Chart) newFrame(width, height, top float64) frame {
	f := frame{right: width - margin, top: top + tickSize/2}
	body := height - top - margin
	f.xLabel = wrap(c.XLabel, labelSize, width-2*margin-axesWords)
	f.yLabel = wrap(c.YLabel, labelSize, body-axesWords)
	var xs, ys []float64
	for _, s := range c.Series {
		xs, ys = append(xs, s.X...), append(ys, slices.Concat(s.Y, s.Low, s.High)...)
	}

	f.bottom = height - margin - xTickLabel - labelDescent
	if f.xLabel[0] != "" {
		f.bottom -= xLabelGap + float64(len(f.xLabel)-1)*labelLine
	}
	f.bottom = max(f.bottom, (f.top+height)/2) // however tall the label
	f.y = newAxis(slices.Min(ys), slices.Max(ys), max((body+margin-axesWords)/stepY, 2), true)
	f.y.start, f.y.end = f.bottom, f.top

	f.left = margin + f.y.widest() + yTickLabel
	if f.yLabel[0] != "" {
		f.left += yLabelGap + float64(len(f.yLabel))*labelLine - labelDescent
	}
	f.left = min(f.left, width/2)
	// Longer numbers on the x axis leave room for fewer.
	for steps := (width - 2*margin - axesWords) / stepX; ; steps-- {
		f.x = newAxis(slices.Min(xs), slices.Max(xs), max(steps, 2), false)
		if len(c.XNames) > 0 {
			f.x = axis{min: -0.5, max: float64(len(c.XNames)) - 0.5, step: 1, names: c.XNames}
			break
		}
		if steps <= 2 || f.x.widest() < f.x.step/(f.x.max-f.x.min)*(f.right-f.left) {
			break
		}
	}
	ticks := f.x.ticks()
	last := ticks[len(ticks)-1]
	overhang := width - overhangSpace - textWidth(f.x.label(last), tickSize)/2 - f.left
	f.right = max(min(f.right, f.left+overhang/f.x.part(last)), (f.left+width)/2)
	f.place(f.left, f.right)
	return f
}

func (f *frame) place(left, right float64) {
	f.left, f.right, f.x.start, f.x.end = left, right, left, right
}

func (f frame) at(x, y float64) point { return point{f.x.at(x), f.y.at(y)} }

func (f frame) points(x, y []float64) []point {
	points := make([]point, len(x))
	for i := range x {
		points[i] = f.at(x[i], y[i])
	}
	return points
}

func (f frame) draw(d *drawing) {
	d.path(gridLine, f.x.upright(f.bottom, f.top)+f.y.level(f.left, f.right))
	axis := polyline(point{f.left, f.bottom}, point{f.right, f.bottom})
	d.path(axisLine, axis+f.x.upright(f.bottom, f.bottom+tickLength))
	f.x.drawBelow(d, f.bottom)
	if !f.bare {
		f.y.drawBeside(d, f.left)
	}
	f.x.drawLabel(d, f.bottom, f.xLabel)
	d.upwards(point{margin + labelLine - labelDescent, (f.top + f.bottom) / 2}, f.yLabel)
}
