package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"nodemask/datasets"
	"nodemask/record"
)

// axisFlag is the flag of an axis; the text is what was given.
type axisFlag struct {
	record.Axis
	text  string
	given bool
}

// String returns what was given.
func (f *axisFlag) String() string { return f.text }

// Set takes a value, or for a switch whether it is on.
func (f *axisFlag) Set(text string) error {
	if f.Switch != "" {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("expected true or false")
		}
		text = strconv.FormatBool(on == (f.Switch == "true"))
	}
	var scratch record.Cell
	if err := f.Axis.Set(&scratch, text); err != nil {
		return err
	}
	f.text, f.given = text, true
	return nil
}

// Type returns what a usage text calls the value.
func (f *axisFlag) Type() string {
	if f.Switch != "" {
		return "bool"
	}
	return "value"
}

// addAxes adds a flag for each axis, with the presets' values as defaults.
func addAxes(flags *pflag.FlagSet) []*axisFlag {
	standard, attention := record.NewCell("", "gin", datasets.Inductive, 10), record.NewCell("", "gat", datasets.Inductive, 10)
	var all []*axisFlag
	for _, axis := range record.Axes() {
		f := &axisFlag{Axis: axis}
		help := axis.Help
		if own, other := axis.Get(standard), axis.Get(attention); axis.Switch == "" && own != "" {
			help += fmt.Sprintf(" (default %s", own)
			if own != other {
				help += fmt.Sprintf("; preset %s: %s", attention.Parameters.Preset, other)
			}
			help += ")"
		}
		flag := flags.VarPF(f, axis.Flag, "", help)
		if axis.Switch != "" {
			flag.NoOptDefVal = "true"
		}
		all = append(all, f)
	}
	return all
}

// setAxes gives a cell what was given, in the order of the axes: masking takes attention dropout away, and one that is given
// comes behind it.
func setAxes(c *record.Cell, axes []*axisFlag) error {
	for _, f := range axes {
		if f.given {
			if err := f.Axis.Set(c, f.text); err != nil {
				return fmt.Errorf("--%s %w", f.Flag, err)
			}
		}
	}
	return nil
}
