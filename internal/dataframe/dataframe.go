// Package dataframe holds tables of named, typed columns, one observation per row, and writes them as CSV that pandas
// and R read without options.
package dataframe

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Table is a list of columns of equal length.
type Table []Column

// Column is a named column with one of Texts, Numbers, Whole and Flags.
type Column struct {
	Name    string
	Texts   []string
	Numbers []float64 // NaN: unknown
	Whole   []int64
	Flags   []bool
	Known   []bool // where a value is known; nil: everywhere except NaN
}

// Rows returns the number of values.
func (c Column) Rows() int { return max(len(c.Texts), len(c.Numbers), len(c.Whole), len(c.Flags)) }

// IsKnown reports whether the row's value is known.
func (c Column) IsKnown(row int) bool {
	return (c.Known == nil || c.Known[row]) && (c.Numbers == nil || !math.IsNaN(c.Numbers[row]))
}

// Short returns the float64 with the fewest digits that rounds to x.
func Short(x float32) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(float64(x), 'g', -1, 32), 64)
	if err != nil {
		return float64(x)
	}
	return y
}

// Matrix returns columns h0, h1, … of row-major numbers [rows, width], each [Short].
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

// Check returns an error unless columns have unique names, one kind of values each, and equal lengths.
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

// Rows returns the number of rows.
func (t Table) Rows() int {
	if len(t) == 0 {
		return 0
	}
	return t[0].Rows()
}

// CSV writes a header and a line per row: numbers in the fewest distinguishing digits, true or false, unknown values
// empty.
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
