package plots

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

type axis struct {
	min, max, step float64
	start, end     float64
}

// newAxis returns an axis from low to high with about n steps of 1, 2 or 5 times a power of 10, and at least two ticks.
// If whole is true, both ends of the axis are ticks.
func newAxis(low, high, n float64, whole bool) axis {
	size := max(math.Abs(low), math.Abs(high))
	if high-low <= max(1e-9*size, 1e-300) {
		pad := size / 10
		if size < 1e-290 {
			pad = 1
		}
		low, high = low-pad, high+pad
	}
	span := high - low
	a := axis{min: low - span/30, max: high + span/30, step: niceStep(span / n)}
	if whole {
		a.min, a.max = math.Floor(low/a.step+1e-6)*a.step, math.Ceil(high/a.step-1e-6)*a.step
		a.min, a.max = min(a.min, low)-span*1e-6, max(a.max, high)+span*1e-6
	}
	if len(a.ticks()) < 2 {
		return newAxis(low, high, 2*n, whole)
	}
	return a
}

func niceStep(step float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, k := range []float64{1, 2, 5} {
		if k*power >= step*(1-1e-9) {
			return k * power
		}
	}
	return 10 * power
}

func (a axis) ticks() []float64 {
	var ticks []float64
	for k := math.Ceil(a.min / a.step); k*a.step <= a.max; k++ {
		ticks = append(ticks, k*a.step)
	}
	return ticks
}

func (a axis) part(v float64) float64 { return (v - a.min) / (a.max - a.min) }

func (a axis) at(v float64) float64 { return a.start + a.part(v)*(a.end-a.start) }

func (a axis) upright(bottom, top float64) string {
	var b strings.Builder
	for _, v := range a.ticks() {
		b.WriteString(polyline(point{a.at(v), bottom}, point{a.at(v), top}))
	}
	return b.String()
}

func (a axis) level(left, right float64) string {
	var b strings.Builder
	for _, v := range a.ticks() {
		b.WriteString(polyline(point{left, a.at(v)}, point{right, a.at(v)}))
	}
	return b.String()
}

func (a axis) drawBelow(d *drawing, bottom float64) {
	for _, v := range a.ticks() {
		d.text(point{a.at(v), bottom + xTickLabel}, tickSize, centred, a.label(v))
	}
}

func (a axis) drawLabel(d *drawing, bottom float64, lines []string) {
	d.lines(point{(a.start + a.end) / 2, bottom + xTickLabel + xLabelGap}, labelSize, labelLine, centred, lines)
}

func (a axis) drawBeside(d *drawing, left float64) {
	for _, v := range a.ticks() {
		d.text(point{left - yTickLabel, a.at(v) + middle*tickSize}, tickSize, toTheLeft, a.label(v))
	}
}

func (a axis) widest() float64 {
	width := 0.0
	for _, v := range a.ticks() {
		width = max(width, textWidth(a.label(v), tickSize))
	}
	return width
}

func (a axis) label(v float64) string {
	if math.Abs(v) < a.step/2 {
		return "0"
	}
	size := max(math.Abs(a.min), math.Abs(a.max))
	decimals := -int(math.Floor(math.Log10(a.step) + 1e-9))
	if size < 1e6 && size >= 1e-3 {
		return minus(strconv.FormatFloat(v, 'f', max(decimals, 0), 64))
	}
	return minus(strconv.FormatFloat(v, 'e', max(decimals+int(math.Floor(math.Log10(size))), 0), 64))
}

func minus(number string) string { return strings.Replace(number, "-", "−", 1) }

// Signed returns a difference with its sign ("+0.16", "−0.20"), or without a sign if it rounds to 0.
func Signed(x float64, digits int) string {
	if math.Abs(x) < 0.5*math.Pow10(-digits) {
		return fmt.Sprintf("%.*f", digits, 0.0)
	}
	return minus(fmt.Sprintf("%+.*f", digits, x))
}

type frame struct {
	left, right, top, bottom float64
	x, y                     axis
	xLabel, yLabel           []string
	bare                     bool // without numbers on the y axis
}

const (
	tickLength    = 4
	xTickLabel    = 16.4
	xLabelGap     = 17.5
	yTickLabel    = 8
	yLabelGap     = 9
	labelLine     = 1.2 * labelSize
	labelDescent  = 0.3 * labelSize
	axesWords     = 60 // pixels between an axis and the drawing's edge, roughly, for the axis's texts
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
	// However tall the x label is, the plot keeps at least half of the height below f.top.
	f.bottom = max(f.bottom, (f.top+height)/2)
	f.y = newAxis(slices.Min(ys), slices.Max(ys), max((body+margin-axesWords)/stepY, 2), true)
	f.y.start, f.y.end = f.bottom, f.top

	f.left = margin + f.y.widest() + yTickLabel
	if f.yLabel[0] != "" {
		f.left += yLabelGap + float64(len(f.yLabel))*labelLine - labelDescent
	}
	f.left = min(f.left, width/2)
	for steps := (width - 2*margin - axesWords) / stepX; ; steps-- {
		f.x = newAxis(slices.Min(xs), slices.Max(xs), max(steps, 2), false)
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
