// Package framefile writes tidy tables to files, as CSV or Parquet.
package framefile

import (
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/parquet-go/parquet-go"

	"nodemask/internal/dataframe"
)

// Write writes a table in the format that the end of a file's name says, .csv or .parquet. It returns an error for
// other ends, and those of [dataframe.Table.Check].
func Write(w io.Writer, t dataframe.Table, name string) error {
	switch extension := strings.ToLower(filepath.Ext(name)); extension {
	case ".csv":
		return t.CSV(w)
	case ".parquet":
		return Parquet(w, t)
	default:
		return fmt.Errorf("%s: a name that ends in %q: expected .csv or .parquet", name, extension)
	}
}

// rowsAtOnce are written to Parquet in one call.
const rowsAtOnce = 1024

// Parquet writes the table as Parquet, every column optional: UTF-8 texts, doubles, 64-bit integers, booleans.
func Parquet(w io.Writer, t dataframe.Table) error {
	if err := t.Check(); err != nil {
		return err
	}
	// A struct keeps the order of columns, which a map of them does not.
	fields := make([]reflect.StructField, len(t))
	cell := make([]func(row int) parquet.Value, len(t))
	for i, c := range t {
		if strings.ContainsAny(c.Name, "\",`") {
			return fmt.Errorf("column %q: expected a name without commas and quotes", c.Name)
		}
		tag := reflect.StructTag(fmt.Sprintf(`parquet:"%s,optional,snappy"`, c.Name))
		var kind reflect.Type
		kind, cell[i] = cells(c)
		fields[i] = reflect.StructField{Name: fmt.Sprintf("Column%d", i), Type: kind, Tag: tag}
	}
	schema := parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface())
	out := parquet.NewGenericWriter[any](w, schema)
	var rows []parquet.Row
	for row := range t.Rows() {
		values := make(parquet.Row, len(t))
		for i, c := range t {
			values[i] = cell[i](row).Level(0, 1, i)
			if !c.IsKnown(row) {
				values[i] = parquet.NullValue().Level(0, 0, i)
			}
		}
		if rows = append(rows, values); len(rows) == rowsAtOnce || row == t.Rows()-1 {
			if _, err := out.WriteRows(rows); err != nil {
				return fmt.Errorf("writing Parquet: %w", err)
			}
			rows = rows[:0]
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("writing Parquet: %w", err)
	}
	return nil
}

// cells returns the type of a column's values, and the one in a row as Parquet has it.
func cells(c dataframe.Column) (reflect.Type, func(row int) parquet.Value) {
	switch {
	case c.Texts != nil:
		return reflect.TypeFor[string](), func(row int) parquet.Value { return parquet.ByteArrayValue([]byte(c.Texts[row])) }
	case c.Numbers != nil:
		return reflect.TypeFor[float64](), func(row int) parquet.Value { return parquet.DoubleValue(c.Numbers[row]) }
	case c.Whole != nil:
		return reflect.TypeFor[int64](), func(row int) parquet.Value { return parquet.Int64Value(c.Whole[row]) }
	}
	return reflect.TypeFor[bool](), func(row int) parquet.Value { return parquet.BooleanValue(c.Flags[row]) }
}
