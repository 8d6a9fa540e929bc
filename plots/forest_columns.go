package plots

// forestColumns are the columns of text at the right end of a forest plot.
type forestColumns struct {
	names []string
	at    []float64 // where each begins, from where the numbers do
	width float64   // of all, with the space before them
}

const forestColumnGap = 14

// columns lays out f's columns behind numbers of that width.
func (f Forest) columns(numbers float64) forestColumns {
	c := forestColumns{names: f.Columns}
	for i, name := range f.Columns {
		c.width += forestColumnGap
		c.at = append(c.at, numbers+c.width)
		widest := boldSlack * textWidth(name, tickSize)
		for _, g := range f.Groups {
			for _, e := range g.Rows {
				widest = max(widest, e.slack()*textWidth(e.field(i), tickSize))
			}
		}
		c.width += widest
	}
	return c
}

// drawNames writes the columns' names on a line, where the numbers begin at x.
func (c forestColumns) drawNames(d *drawing, x, baseline float64) {
	for i, name := range c.names {
		d.text(point{x + c.at[i], baseline}, tickSize, bold, oneLine(name))
	}
}

// drawRow writes an effect's fields on a line.
func (c forestColumns) drawRow(d *drawing, e Effect, x, baseline float64) {
	for i := range c.names {
		d.text(point{x + c.at[i], baseline}, tickSize, e.weight(), oneLine(e.field(i)))
	}
}

// field is the text of a column; "" if there is none.
func (e Effect) field(column int) string {
	if e.Fields == nil {
		return ""
	}
	return e.Fields[column]
}

// weight returns the attributes of an effect's text.
func (e Effect) weight() string {
	if e.Pooled {
		return bold
	}
	return ""
}

// slack is how much wider an effect's text is for its weight.
func (e Effect) slack() float64 {
	if e.Pooled {
		return boldSlack
	}
	return 1
}

// diamond returns the path of a pooled effect at the height y: as wide as its interval, highest at its value.
func (e Effect) diamond(y float64, at func(float64) float64) string {
	const half = 6.5
	// An interval without a width would leave nothing to see.
	left, right := min(at(e.Low), at(e.Value)-half/2), max(at(e.High), at(e.Value)+half/2)
	return polyline([]point{{left, y}, {at(e.Value), y - half}, {right, y}, {at(e.Value), y + half}}) + "Z"
}
