package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/train"
	"nodemask/paper"
	"nodemask/record"
	"nodemask/record/measure"
)

// reproduceFlags are the flags of reproduce.
type reproduceFlags struct {
	trials, jobs           int
	backend, shard, folder string
	dataDir                string
	scale                  float64
	list                   bool
	again, memory          string
}

func newReproduceCommand() *cobra.Command {
	var f reproduceFlags
	c := &cobra.Command{
		Use:   "reproduce [ID…]",
		Short: "Compute the paper's tables and figures, or what is missing of them",
		Long: `Compute the paper's tables and figures, or what is missing of them.

Each trial is kept in the folder of results as it ends, so an interrupted run goes on where it stopped. Without IDs
everything is computed but Reddit, whose data are to be fetched first ('nodemask data fetch reddit'). If another data set is
not there (CiteSeer: 'nodemask data fetch citeseer'), that is said first, all other trials run, and the exit code is 1.`,
		Example: `  nodemask reproduce --list
  nodemask reproduce table-mad --trials 1
  nodemask reproduce --jobs 2 --shard 1/4`,
		Args: misuseArgs(cobra.ArbitraryArgs),
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.IntVar(&f.trials, "trials", 10, "trials of each cell")
	flags.IntVar(&f.jobs, "jobs", 1, "trials side by side")
	flags.StringVar(&f.backend, "backend", "", backendHelp)
	flags.StringVar(&f.shard, "shard", "1/1", "i/n: run the i-th of n shares of the cells")
	flags.StringVar(&f.folder, "results", "results", "folder of results")
	flags.StringVar(&f.dataDir, "data-dir", "", "folder of downloaded data sets (default $NODEMASK_DATA, then the user's cache)")
	flags.Float64Var(&f.scale, "reddit-like-scale", 0.02, "size of the reddit-like data, as a share of Reddit's: 0.02 to 10")
	flags.BoolVar(&f.list, "list", false, "list the artifacts and how many cells they have, and run nothing")
	flags.StringVar(&f.again, "again", "", "file with records (- is standard input): run their trials again, on their backends, and compare")
	flags.StringVar(&f.memory, "memory", "2GiB", againMemoryHelp)
	c.RunE = func(c *cobra.Command, ids []string) error {
		if f.again != "" {
			if len(ids) > 0 {
				return misusef("--again runs what the records say: expected no IDs, found %s", strings.Join(ids, " "))
			}
			return f.runAgain(c)
		}
		return f.run(c, ids)
	}
	return c
}

func (f *reproduceFlags) run(c *cobra.Command, ids []string) error {
	artifacts, err := paper.Find(ids...)
	if err != nil {
		return artifactError(err, ids)
	}
	shard, shards, err := parseShard(f.shard)
	if err != nil {
		return err
	}
	switch {
	case f.trials < 1 || f.trials > 1_000_000:
		return misusef("--trials %d: expected 1 to 1000000", f.trials)
	case f.jobs < 1:
		return misusef("--jobs %d: expected at least 1", f.jobs)
	}
	if f.list {
		if len(ids) == 0 {
			artifacts = paper.Artifacts()
		}
		for _, a := range artifacts {
			fmt.Fprintf(c.OutOrStdout(), "%-24s %4d cells  %s\n", a.ID, len(a.Cells()), a.Title)
		}
		return nil
	}
	cells := paper.CellsOf(artifacts)
	all := len(cells)
	cells = slices.DeleteFunc(cells, paper.ReadOff)
	if read := all - len(cells); read > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "%d cells have a split for each trial: 'nodemask multiverse --part cited', '--part tables' and "+
			"'--part depth' run those\n", read)
	}
	b, err := openBackend(c.ErrOrStderr(), f.backend)
	if err != nil {
		return err
	}
	w := c.ErrOrStderr()
	var last time.Time
	err = measure.Missing(c.Context(), b, record.OpenStore(f.folder), cells, measure.Options{
		Trials: f.trials, Jobs: f.jobs, Shard: shard - 1, Shards: shards,
		Open: f.open, Unopened: sayUnopened(w), Also: paper.CellsOf(paper.Artifacts()),
		Progress: func(s measure.State) {
			if s.Last == nil || (time.Since(last) < 10*time.Second && s.Done < s.Total) {
				return
			}
			last = time.Now()
			left := ""
			if s.Left > 0 {
				left = fmt.Sprintf(", about %v left", s.Left)
			}
			fmt.Fprintf(w, "%d of %d trials%s; last: %s, seed %d, macro F1 %.2f; running: %s\n", s.Done, s.Total, left, s.Last.Cell, s.Last.Seed, s.Last.MacroF1, strings.Join(s.Running, " "))
		},
	})
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted: finished trials are kept; the same command goes on from there")
	}
	return err
}

// sayUnopened says on w what cannot run, before all else does. What no download can mend ends the command at once.
func sayUnopened(w io.Writer) func(*measure.UnopenedError) error {
	return func(err *measure.UnopenedError) error {
		if errors.As(err, new(misuse)) {
			return err
		}
		sayLeft(w, err)
		return nil
	}
}

// sayLeft says why trials are left out.
func sayLeft(w io.Writer, why error) {
	fmt.Fprintf(w, "%s\nall other trials run now; the exit code will be 1\n", plain(why.Error()))
}

func (f *reproduceFlags) open(ctx context.Context, data string) (*datasets.Graph, error) {
	if data == "reddit-like" {
		data = fmt.Sprintf("reddit-like:scale=%v", f.scale)
	}
	g, err := datasets.Open(ctx, data, openOptions(f.dataDir))
	return g, dataError(err)
}

// againMemoryHelp is what --memory says of commands that run records again.
const againMemoryHelp = "with --again: most memory that a trial may take, as records may ask for more than anybody wants"

// runAgain runs the trials of records again. What differs more than another processor explains is an error.
func (f *reproduceFlags) runAgain(c *cobra.Command) (err error) {
	most, err := parseBytes(f.memory)
	if err != nil {
		return misusef("--memory %s: %w", f.memory, err)
	}
	in := c.InOrStdin()
	if f.again != "-" {
		file, err := os.Open(f.again)
		if err != nil {
			return misuse{fileError("again", f.again, err)}
		}
		defer file.Close() //nolint:errcheck // only read
		in = file
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	count, far, left := 0, 0, 0
	opened := map[string]*backend.Backend{}
	unopened := map[string]bool{} // data sets
	var read struct {             // that of the record before
		data  string
		graph *datasets.Graph
	}
	open := func(ctx context.Context, data string) (g *datasets.Graph, err error) {
		if read.graph == nil || data != read.data {
			if g, err = f.open(ctx, data); err != nil {
				return nil, err
			}
			read.data, read.graph = data, g
		}
		return read.graph, nil
	}
	for lines.Scan() {
		count++
		old, err := record.ParseRecord(lines.Bytes())
		if err != nil {
			return misusef("%s: line %d: %w", f.again, count, err)
		}
		if err := measure.CheckData(old.Data, most); err != nil {
			return fmt.Errorf("%s: line %d: %w: --memory allows more", f.again, count, err)
		}
		b := opened[old.Backend]
		if b == nil {
			if b, err = openBackend(c.ErrOrStderr(), old.Backend); err != nil {
				return err
			}
			opened[old.Backend] = b
		}
		if !unopened[old.Data] {
			if _, err := open(c.Context(), old.Data); errors.Is(err, context.Canceled) || errors.As(err, new(misuse)) {
				return err
			} else if err != nil {
				sayLeft(c.ErrOrStderr(), err)
				unopened[old.Data] = true
			}
		}
		if unopened[old.Data] {
			left++
			continue
		}
		again, differences, err := measure.Again(c.Context(), b, open, old, most)
		if errors.Is(err, train.ErrTooLarge) {
			return fmt.Errorf("%s: line %d: %w: --memory allows more", f.again, count, err)
		}
		if err != nil {
			return err
		}
		name := fmt.Sprintf("%s, seed %d", old.Cell, old.Seed)
		switch elsewhere := old.Device != again.Device || old.Version != again.Version || old.Kernels != again.Kernels; {
		case len(differences) == 0:
			fmt.Fprintf(c.OutOrStdout(), "%s: the same to the last digit\n", name)
			continue
		case elsewhere && measure.Near(old, again):
			fmt.Fprintf(c.OutOrStdout(), "%s: within %v points, as another processor or version may have it: %s\n", name, measure.Tolerance, strings.Join(differences, "; "))
			continue
		}
		far++
		fmt.Fprintf(c.OutOrStdout(), "%s: DIFFERS: %s\n", name, strings.Join(differences, "; "))
	}
	switch {
	case lines.Err() != nil:
		return fmt.Errorf("%s: line %d: %w", f.again, count+1, lines.Err())
	case count == 0:
		return misusef("%s: no record: expected a line of JSON for each, as 'nodemask results show' prints them", f.again)
	case far > 0 || left > 0:
		return fmt.Errorf("of %d trials, %d came out otherwise and %d could not be run", count, far, left)
	}
	return nil
}
