package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/datasets"
	"nodemask/internal/memory"
	"nodemask/internal/wholefile"
	"nodemask/nmgnn/backend"
	"nodemask/paper/measure"
	"nodemask/paper/record"
)

type againFlags struct {
	folder, dataDir, memory string

	graph    *datasets.Graph // the last one
	opened   string          // its name and folder
	unopened map[string]bool
}

func newAgainCommand() *cobra.Command {
	f := againFlags{unopened: map[string]bool{}}
	var count int
	c := &cobra.Command{
		Use:   "again [FILE]",
		Short: "Run recorded trials again, on their backends, and compare",
		Long: `Run recorded trials again, on their backends, and compare: those of a file (- is standard input), or some of the
folder of results, drawn at random. Records of xla:cpu without "digits" have last digits of the processor that made
them: those are not run again.`,
		Example: `  nodemask reproduce again --count 5
  head -n 3 results/go/cora-gat.jsonl | nodemask reproduce again -`,
		Args: cobra.MaximumNArgs(1),
	}
	flags := c.Flags()
	flags.IntVar(&count, "count", 10, "trials to draw, without a file")
	addResults(flags, &f.folder, "results", "")
	addDataDir(flags, &f.dataDir)
	flags.StringVar(&f.memory, "memory", "2GiB", "most memory that a trial may take, as records may ask for more than "+
		"anybody wants")
	c.RunE = func(c *cobra.Command, files []string) error {
		switch {
		case len(files) > 0:
			return f.againOf(c, files[0])
		case count < 1:
			return misusef("--count %d: expected at least 1", count)
		}
		all, err := loaded(f.folder)
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(r record.Record) bool { return !portable(r) })
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:min(count, len(all))]
		return f.rerun(c, func() (old record.Record, place string, err error) {
			if len(all) == 0 {
				return old, "", io.EOF
			}
			old, all = all[0], all[1:]
			return old, fmt.Sprintf("%s: %s, seed %d", f.folder, old.Cell, old.Seed), nil
		})
	}
	return c
}

func (f *againFlags) againOf(c *cobra.Command, name string) error {
	in := c.InOrStdin()
	if name != "-" {
		file, err := wholefile.Open(name)
		if err != nil {
			return misuse{fileError("", name, err)}
		}
		defer file.Close() //nolint:errcheck // only read
		in = file
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	count := 0
	return f.rerun(c, func() (old record.Record, place string, err error) {
		if !lines.Scan() {
			switch {
			case lines.Err() != nil:
				return old, "", fmt.Errorf("%s: line %d: %w", name, count+1, lines.Err())
			case count == 0:
				return old, "", misusef("%s: no record: expected a line of JSON for each, as results/ has them", name)
			}
			return old, "", io.EOF
		}
		count++
		place = fmt.Sprintf("%s: line %d", name, count)
		if old, err = record.Parse(lines.Bytes()); err != nil {
			return old, place, misusef("%s: %w", place, err)
		}
		return old, place, nil
	})
}

// rerun prints how each record's new trial compares. next ends with io.EOF.
func (f *againFlags) rerun(c *cobra.Command, next func() (old record.Record, place string, err error)) error {
	most, err := memory.Parse(f.memory)
	if err != nil {
		return misusef("--memory %s: %w", f.memory, err)
	}
	count, far, left := 0, 0, 0
	backends := map[string]*backend.Backend{}
	for {
		old, place, err := next()
		switch {
		case err == io.EOF && far+left > 0:
			return fmt.Errorf("of %d trials, %d came out otherwise and %d could not be run", count, far, left)
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		count++
		say := func(said string) {
			fmt.Fprintf(c.OutOrStdout(), "%s, seed %d: %s\n", old.Cell, old.Seed, said)
		}
		if err := measure.CheckData(old.Data, most); err != nil {
			return fmt.Errorf("%s: %w: --memory allows more", place, err)
		}
		if !portable(old) {
			say("recorded before portable digits: cannot be run again here")
			left++
			continue
		}
		if backends[old.Backend] == nil {
			if backends[old.Backend], err = openBackend(c.ErrOrStderr(), old.Backend); err != nil {
				return err
			}
		}
		g, err := f.graphOf(c.Context(), old, func(why error) { sayLeft(c.ErrOrStderr(), why) })
		if err != nil {
			return err
		}
		if g == nil {
			left++
			continue
		}
		opened := func(context.Context, string) (*datasets.Graph, error) { return g, nil }
		now, differences, err := measure.Again(c.Context(), backends[old.Backend], opened, old, most)
		if errors.Is(err, memory.ErrTooLarge) {
			return fmt.Errorf("%s: %w: --memory allows more", place, err)
		}
		if err != nil {
			return err
		}
		elsewhere := old.Device != now.Device || old.Digits != now.Digits || old.Version != now.Version ||
			old.Kernels != now.Kernels
		switch differ := strings.Join(differences, "; "); {
		case len(differences) == 0:
			say("the same to the last digit")
		case elsewhere && measure.Near(old, now):
			say(fmt.Sprintf("within %v points, as another processor or version may have it: %s", measure.Tolerance, differ))
		default:
			far++
			say("DIFFERS: " + differ)
		}
	}
}

// portable reports whether a record's digits are the same on every processor: those of XLA once were the processor's.
func portable(r record.Record) bool {
	return r.Backend != "xla:cpu" || r.Digits != "" || !backend.HasAVX2()
}

// graphOf opens a record's graph, unless it is that of the last one; nil: it cannot be opened, as say is told once.
func (f *againFlags) graphOf(ctx context.Context, r record.Record, say func(error)) (*datasets.Graph, error) {
	from := runFlags{dataDir: f.dataDir}
	if ofProgram(ctx, r) {
		from.dataDir = "" // that folder may order nodes differently
	}
	name := r.Data + "\x00" + from.dataDir
	switch {
	case f.unopened[name]:
		return nil, nil
	case f.opened == name:
		return f.graph, nil
	}
	g, err := from.open(ctx, r.Data)
	switch {
	case errors.Is(err, context.Canceled) || errors.As(err, new(misuse)):
		return nil, err
	case err != nil:
		say(err)
		f.unopened[name] = true
		return nil, nil
	}
	f.opened, f.graph = name, g
	return g, nil
}

// ofProgram reports whether a record's graph is embedded in the program; a record with readings shows that only by its
// split.
func ofProgram(ctx context.Context, r record.Record) bool {
	if at, err := datasets.Locate(r.Data, datasets.OpenOptions{}); err != nil || at.String() != "embedded" {
		return false
	}
	if r.Readings == nil {
		return r.Source == "embedded"
	}
	g, err := datasets.Open(ctx, r.Data, datasets.OpenOptions{})
	if err != nil {
		return false
	}
	split, err := measure.Experiment(r.CellOf(), g).Split(r.Seed)
	return err == nil && split.Hash() == r.SplitHash
}
