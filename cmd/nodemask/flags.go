package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/paper/judge"
	"nodemask/paper/measure"
	"nodemask/paper/record"
)

func addData(flags *pflag.FlagSet, data, dir *string) {
	flags.StringVar(data, "data", "cora", "data set ('nodemask data list'), or a path to a graph of your own "+
		"('nodemask data --help' says in which formats)")
	addDataDir(flags, dir)
}

func addDataDir(flags *pflag.FlagSet, dir *string) {
	flags.StringVar(dir, "data-dir", "", "folder of downloaded data sets (default $NODEMASK_DATA, then the user's cache)")
}

func addBackend(flags *pflag.FlagSet, id *string, value string) {
	help := "xla:cuda, xla:cpu or go"
	if value == "" {
		help += " (default $GOMLX_BACKEND, then the best that is usable)"
	}
	flags.StringVar(id, "backend", value, help)
}

func addOutput(flags *pflag.FlagSet, output *string, value, help string) {
	flags.StringVarP(output, "output", "o", value, help)
}

func addTableOutput(flags *pflag.FlagSet, output *string) {
	addOutput(flags, output, "", ".csv file (default: standard output)")
}

func addSavedModel(flags *pflag.FlagSet, file *string) {
	flags.StringVar(file, "model", "", "model that 'nodemask train --save-model' wrote")
}

func addResults(flags *pflag.FlagSet, folder *string, value, help string) {
	flags.StringVar(folder, "results", value, "folder of results"+help)
}

type runFlags struct {
	jobs                            int
	backend, shard, folder, dataDir string
}

func (f *runFlags) add(flags *pflag.FlagSet, of, folder, help string) {
	flags.IntVar(&f.jobs, "jobs", 1, "trials side by side")
	addBackend(flags, &f.backend, "")
	flags.StringVar(&f.shard, "shard", "1/1", "i/n: run the i-th of n shares of the "+of)
	addResults(flags, &f.folder, folder, help)
	addDataDir(flags, &f.dataDir)
}

func (f *runFlags) share() (index, of int, err error) {
	if f.jobs < 1 {
		return 0, 0, misusef("--jobs %d: expected at least 1", f.jobs)
	}
	n, err := fmt.Sscanf(f.shard, "%d/%d", &index, &of)
	if n != 2 || err != nil || index < 1 || index > of || f.shard != fmt.Sprintf("%d/%d", index, of) {
		return 0, 0, misusef("--shard %s: expected i/n with i from 1 to n", f.shard)
	}
	return index - 1, of, nil
}

func (f *runFlags) open(ctx context.Context, data string) (*datasets.Graph, error) {
	if file, held := judge.GraphFileOf(data); held {
		path, err := file.Path(f.dataDir)
		if err != nil {
			return nil, err
		}
		data = path
	}
	g, err := datasets.Open(ctx, data, openOptions(f.dataDir))
	return g, dataError(err)
}

func (f *runFlags) train(c *cobra.Command, b *backend.Backend, store *record.Store, cells []record.Cell,
	o measure.Options, about func(record.Record) string) (ran bool, err error) {
	w := c.ErrOrStderr()
	if o.Shard, o.Shards, err = f.share(); err != nil {
		return false, err
	}
	o.Jobs, o.Open = f.jobs, f.open
	progress := newTicker(w)
	o.Progress = func(s measure.State) {
		if ran = true; s.Last != nil {
			progress.say("%d of %d trials, about %v left; last: %s", s.Done, s.Total, s.Left, about(*s.Last))
		}
	}
	return ran, goesOn(measure.Missing(c.Context(), b, store, cells, o))
}

func goesOn(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted: finished trials are kept; the same command goes on from there")
	}
	return err
}

func openBackend(w io.Writer, id string) (*backend.Backend, error) {
	b, err := backend.Open(id)
	if err != nil {
		var problem *backend.Error
		if errors.As(err, &problem) && problem.Unknown {
			return nil, misuse{err}
		}
		return nil, err
	}
	b.KeepMemory()
	_ = say(w, "backend: %s", b) // best effort
	return b, nil
}

// axisFlag sets one parameter of a recorded trial, given by its own flag or as name=value in --set. apply is nil until
// a value is given.
type axisFlag struct {
	record.Axis
	text  string
	apply func(*record.Cell)
}

// String returns the value as given.
func (f *axisFlag) String() string { return f.text }

// Set parses a value: true or false if the flag is a switch.
func (f *axisFlag) Set(text string) (err error) {
	if f.Switch != "" {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q: expected true or false", text)
		}
		text = strconv.FormatBool(on == (f.Switch == "true"))
	}
	f.text = text
	f.apply, err = f.Read(text)
	return err
}

// Type returns the value's name in the usage message.
func (f *axisFlag) Type() string { return "value" }

func addAxes(flags *pflag.FlagSet) (all []*axisFlag, set *setFlag) {
	standard := record.NewCell("", "gin", datasets.Inductive, 10)
	attention := record.NewCell("", "gat", datasets.Inductive, 10)
	set = &setFlag{}
	for _, axis := range record.Axes() {
		f := &axisFlag{Axis: axis}
		all = append(all, f)
		help := axis.Help
		if own, other := axis.Get(standard), axis.Get(attention); axis.Switch == "" && own != "" {
			help += fmt.Sprintf(" (default %s", own)
			if own != other {
				help += fmt.Sprintf("; preset %s: %s", attention.Parameters.Preset, other)
			}
			help += ")"
		}
		if axis.Rare {
			set.rare.VarPF(f, axis.Flag, "", help)
			set.names = append(set.names, axis.Flag)
		} else {
			flags.Var(f, axis.Flag, help)
		}
	}
	set.rare.SortFlags = false
	flags.Var(set, "set", "name=value for each of "+strings.Join(set.names, ", ")+"; '--set help' says what they are")
	return all, set
}

type setFlag struct {
	rare  pflag.FlagSet
	names []string
	help  bool
}

// String returns "": Set passes each value to an [axisFlag] and keeps none.
func (f *setFlag) String() string { return "" }

// Type returns the value's name in the usage message.
func (f *setFlag) Type() string { return "value" }

// Set parses name=value and sets the parameter of this name.
func (f *setFlag) Set(text string) error {
	if f.help = text == "help"; f.help {
		return nil
	}
	name, value, found := strings.Cut(text, "=")
	flag := f.rare.Lookup(name)
	if !found || flag == nil {
		return fmt.Errorf("%q: expected one of %s with its value behind =, or help", text, strings.Join(f.names, ", "))
	}
	if err := flag.Value.Set(value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (f *setFlag) usages() string { return strings.ReplaceAll(f.rare.FlagUsages(), "      --", "  ") }
