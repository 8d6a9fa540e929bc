// Package dataframe holds tables of named, typed columns, a row an observation, and writes them as CSV, which pandas, R
// and others read without any options.
package dataframe

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Table is a table of columns of the same length.
type Table []Column

// Column is a named column. It has one of Texts, Numbers, Whole and Flags.
type Column struct {
	Name    string
	Texts   []string
	Numbers []float64 // NaN: not known
	Whole   []int64
	Flags   []bool
	Known   []bool // says where a value is known; nil: everywhere, NaN apart
}

// Rows returns how many values the column has.
func (c Column) Rows() int { return max(len(c.Texts), len(c.Numbers), len(c.Whole), len(c.Flags)) }

// IsKnown reports whether the value in a row is known.
func (c Column) IsKnown(row int) bool {
	return (c.Known == nil || c.Known[row]) && (c.Numbers == nil || !math.IsNaN(c.Numbers[row]))
}

// Short returns the number with the fewest digits that is x in 32 bits.
func Short(x float32) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(float64(x), 'g', -1, 32), 64)
	if err != nil {
		return float64(x)
	}
	return y
}

// Matrix returns the columns h0, h1 and so on of numbers [rows, width], row-major, each [Short].
func Matrix(numbers []float32, rows, width int) (t Table) {
	for k := range width {
		column := Column{Name: fmt.Sprintf("h%d", k), Numbers: make([]float64, rows)}
		for v := range rows {
			column.Numbers[v] = Short(numbers[v*width+k])
		}
		t = append(t, column)
	}
	return t
}

// Check returns nil if all columns have a name of their own, values of one kind, and as many of them as the others.
func (t Table) Check() error {
	names := map[string]bool{}
	for i, c := range t {
		rows, kinds := c.Rows(), 0
		for _, is := range []bool{c.Texts != nil, c.Numbers != nil, c.Whole != nil, c.Flags != nil} {
			if is {
				kinds++
			}
		}
		switch {
		case c.Name == "" || names[c.Name]:
			return fmt.Errorf("column %d is called %q: expected a name of its own", i+1, c.Name)
		case kinds != 1:
			return fmt.Errorf("column %q has %d kinds of values: expected one", c.Name, kinds)
		case rows != t.Rows() || c.Known != nil && len(c.Known) != rows:
			return fmt.Errorf("column %q has %d values, and %d that say which are known: expected %d", c.Name, rows,
				len(c.Known), t.Rows())
		}
		names[c.Name] = true
	}
	return nil
}

// Rows returns how many rows the table has.
func (t Table) Rows() int {
	if len(t) == 0 {
		return 0
	}
	return t[0].Rows()
}

// CSV writes a line of names, then a line a row: numbers in as few digits as tell them apart, true or false, nothing
// where a value is not known.
func (t Table) CSV(w io.Writer) error {
	if err := t.Check(); err != nil {
		return err
	}
	out := csv.NewWriter(w)
	line := make([]string, len(t))
	for i, c := range t {
		line[i] = c.Name
	}
	if err := out.Write(line); err != nil {
		return err
	}
	for row := range t.Rows() {
		for i, c := range t {
			line[i] = c.text(row)
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func (c Column) text(row int) string {
	switch {
	case !c.IsKnown(row):
		return ""
	case c.Texts != nil:
		return c.Texts[row]
	case c.Numbers != nil:
		return strconv.FormatFloat(c.Numbers[row], 'g', -1, 64)
	case c.Whole != nil:
		return strconv.FormatInt(c.Whole[row], 10)
	default:
		return strconv.FormatBool(c.Flags[row])
	}
}
