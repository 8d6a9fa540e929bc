package plots

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// axis is the range of the numbers along one axis, with ticks at the multiples of step.
type axis struct {
	min, max, step float64
}

// newAxis covers low to high with about n steps of 1, 2 or 5 times a power of 10. It ends on a step if whole, a little
// beyond the data otherwise.
func newAxis(low, high, n float64, whole bool) axis {
	size := max(math.Abs(low), math.Abs(high))
	if high-low <= max(1e-9*size, 1e-300) { // all the same
		pad := size / 10
		if size < 1e-290 {
			pad = 1
		}
		low, high = low-pad, high+pad
	}
	span := high - low
	a := axis{low - span/30, high + span/30, niceStep(span / n)}
	if whole {
		a.min, a.max = math.Floor(low/a.step+1e-6)*a.step, math.Ceil(high/a.step-1e-6)*a.step
		a.min, a.max = min(a.min, low)-span*1e-6, max(a.max, high)+span*1e-6 // for ticks at the ends to be inside
	}
	return a
}

// niceStep is the smallest of 1, 2 and 5 times a power of 10 that is not below step.
func niceStep(step float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, k := range []float64{1, 2, 5} {
		if k*power >= step*(1-1e-9) {
			return k * power
		}
	}
	return 10 * power
}

// Ticks has the axis's own ticks, whatever range is asked for: it is the range of the axis.
func (a axis) Ticks(_, _ float64) []plot.Tick {
	var ticks []plot.Tick
	for k := math.Ceil(a.min / a.step); k*a.step <= a.max; k++ {
		ticks = append(ticks, plot.Tick{Value: k * a.step, Label: a.label(k * a.step)})
	}
	return ticks
}

var superscripts = strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷",
	"8", "⁸", "9", "⁹")

// label writes v with as many decimals as step needs, with a power of 10 if the axis has very large or small numbers.
func (a axis) label(v float64) string {
	if math.Abs(v) < a.step/2 {
		return "0"
	}
	size := max(math.Abs(a.min), math.Abs(a.max))
	decimals := -int(math.Floor(math.Log10(a.step) + 1e-9))
	if size < 1e6 && size >= 1e-3 {
		return minus(strconv.FormatFloat(v, 'f', max(decimals, 0), 64))
	}
	exponent := int(math.Floor(math.Log10(size)))
	// In two parts, as 10^-exponent alone may leave the range of float64.
	half := exponent / 2
	mantissa := v / math.Pow(10, float64(half)) / math.Pow(10, float64(exponent-half))
	return minus(strconv.FormatFloat(mantissa, 'f', max(decimals+exponent, 0), 64)) + "×10" + superscripts.Replace(strconv.Itoa(exponent))
}

// minus writes a number's hyphen as the minus sign it stands for.
func minus(number string) string { return strings.Replace(number, "-", "−", 1) }
