package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/datasets"
	"nodemask/internal/digits"
	"nodemask/internal/memory"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/paper/measure"
	"nodemask/paper/record"
	"nodemask/paper/report"
)

type reproduceFlags struct {
	runFlags
	trials      int
	list, pages bool
	again       string
}

func newReproduceCommand() *cobra.Command {
	var f reproduceFlags
	c := &cobra.Command{
		Use:   "reproduce [ID…]",
		Short: "Compute the paper's tables and figures, or what is missing of them",
		Long: `Compute the paper's tables and figures, or what is missing of them.

Each trial is kept in the folder of results as it ends, so an interrupted run goes on where it stopped. Without IDs
everything is computed but Reddit, whose data are to be fetched first ('nodemask data fetch reddit'). If another data
set is not there (CiteSeer: 'nodemask data fetch citeseer'), that is said first, all other trials run, and the exit
code is 1.`,
		Example: `  nodemask reproduce --list
  nodemask reproduce table-mad --trials 1
  nodemask reproduce --jobs 2 --shard 1/4`,
		Args: cobra.ArbitraryArgs,
	}
	flags := c.Flags()
	flags.IntVar(&f.trials, "trials", 10, "trials of each cell")
	f.add(flags, "cells", "results", "")
	flags.Float64Var(&f.scale, "reddit-like-scale", 0.02, "size of the reddit-like data, as a share of "+
		"Reddit's: 0.02 to 10")
	flags.BoolVar(&f.list, "list", false, "list the artifacts and how many cells they have, and run nothing")
	flags.BoolVar(&f.pages, "pages", false, "run the first trial of each cell that pages run again, as browsers compute "+
		"it: --backend go, into results/"+report.PagesFolder)
	flags.StringVar(&f.again, "again", "",
		"file with records (- is standard input): run their trials again, on their backends, and compare")
	f.addMemory(flags)
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
	artifacts, err := report.Find(ids...)
	if err != nil {
		return artifactError(err, ids)
	}
	if _, _, err := f.share(); err != nil {
		return err
	}
	if f.trials < 1 || f.trials > 1_000_000 {
		return misusef("--trials %d: expected 1 to 1000000", f.trials)
	}
	if f.list {
		if len(ids) == 0 {
			artifacts = report.Artifacts()
		}
		for _, a := range artifacts {
			fmt.Fprintf(c.OutOrStdout(), "%-24s %4d cells  %s\n", a.ID, len(a.Cells()), a.Title)
		}
		return nil
	}
	if f.pages {
		return f.runPages(c, artifacts)
	}
	cells := report.CellsOf(artifacts)
	all := len(cells)
	cells = slices.DeleteFunc(cells, report.ReadOff)
	const parts = "'nodemask multiverse --part cited', '--part tables' and '--part depth'"
	if read := all - len(cells); read > 0 && len(cells) > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "%d cells have a split for each trial: %s run those\n", read, parts)
	} else if read > 0 {
		return misusef("%s: all %d cells have a split for each trial: %s run those", strings.Join(ids, " "), read, parts)
	}
	if all == 0 { // what is tuned is chosen by trials, and has no cells before
		return misusef("%s: its cells are chosen while they are tuned: 'nodemask multiverse --part balanced' and '--part "+
			"tuned' run them", strings.Join(ids, " "))
	}
	b, err := openBackend(c.ErrOrStderr(), f.backend)
	if err != nil {
		return err
	}
	ran, err := f.train(c, b, record.Open(f.folder), cells, measure.Options{Seeds: hyper.Seeds(1, f.trials),
		Also: report.CellsOf(report.Artifacts())}, func(last record.Record) string {
		return fmt.Sprintf("%s, seed %d, macro F1 %.2f", last.Cell, last.Seed, last.MacroF1)
	})
	if err == nil && !ran {
		fmt.Fprintln(c.ErrOrStderr(), "all of these trials are there already: 'nodemask report' shows them")
	}
	return err
}

// runPages runs what pages run again.
func (f *reproduceFlags) runPages(c *cobra.Command, artifacts []report.Artifact) error {
	for _, name := range []string{"trials", "backend", "results"} {
		if c.Flags().Changed(name) {
			return misusef("--pages: expected no --%s: one trial a cell, by --backend go, in results/%s", name, report.PagesFolder)
		}
	}
	b, err := openBackend(c.ErrOrStderr(), "go")
	if err != nil {
		return err
	}
	folder := filepath.Join("results", report.PagesFolder)
	_, err = f.train(c, b, record.Open(folder), report.PagesCells(artifacts),
		measure.Options{Seeds: hyper.Seeds(report.PagesSeed, 1), WithoutMAD: true}, func(last record.Record) string {
			return fmt.Sprintf("%s, macro F1 %.2f", last.Cell, last.MacroF1)
		})
	return err
}

// runAgain runs the trials of a file's records again.
func (f *reproduceFlags) runAgain(c *cobra.Command) error {
	in := c.InOrStdin()
	if f.again != "-" {
		file, err := openFile(f.again)
		if err != nil {
			return misuse{fileError("again", f.again, err)}
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
				return old, "", fmt.Errorf("%s: line %d: %w", f.again, count+1, lines.Err())
			case count == 0:
				return old, "", misusef("%s: no record: expected a line of JSON for each, as 'nodemask results show' prints them",
					f.again)
			}
			return old, "", io.EOF
		}
		count++
		place = fmt.Sprintf("%s: line %d", f.again, count)
		if old, err = record.Parse(lines.Bytes()); err != nil {
			return old, place, misusef("%s: %w", place, err)
		}
		return old, place, nil
	})
}

// rerun runs the trials of records again, on their backends, and says how each came out. next returns each record and
// its place, then io.EOF. What differs more than another processor explains is an error in the end, as is what could
// not be run.
func (f *runFlags) rerun(c *cobra.Command, next func() (old record.Record, place string, err error)) error {
	most, err := memory.Parse(f.memory)
	if err != nil {
		return misusef("--memory %s: %w", f.memory, err)
	}
	asked, err := digits.Asked()
	if err != nil {
		return misuse{err}
	}
	var others []byte        // lines of records whose digits this process does not compute
	var otherPlaces []string // theirs
	count, far, left := 0, 0, 0
	backends := map[string]*backend.Backend{}
	unopened := map[string]bool{} // data sets
	var last *datasets.Graph      // of the record before
	lastName, lastInside := "", false
	for {
		old, place, err := next()
		if err == io.EOF && others != nil {
			differ, failed, err := f.rerunElsewhere(c, others, otherPlaces, asked)
			if err != nil {
				return err
			}
			far, left, others = far+differ, left+failed, nil
		}
		switch {
		case err == io.EOF && far+left > 0:
			return fmt.Errorf("of %d trials, %d came out otherwise and %d could not be run", count, far, left)
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		count++
		if err := measure.CheckData(old.Data, most); err != nil {
			return fmt.Errorf("%s: %w: --memory allows more", place, err)
		}
		if old.Backend == "xla:cpu" && digits.HasAVX2() && (old.Digits == "") != (asked == digits.Processor) {
			line, err := record.Line(old)
			if err != nil {
				return err
			}
			others, otherPlaces = append(append(others, line...), '\n'), append(otherPlaces, place)
			continue
		}
		if backends[old.Backend] == nil {
			if backends[old.Backend], err = openBackend(c.ErrOrStderr(), old.Backend); err != nil {
				return err
			}
		}
		inside := ofProgram(c.Context(), old)
		if !unopened[old.Data] && (last == nil || old.Data != lastName || inside != lastInside) {
			from := *f
			if inside {
				from.dataDir = "" // nodes may be in another order there
			}
			g, err := from.open(c.Context(), old.Data)
			switch {
			case errors.Is(err, context.Canceled) || errors.As(err, new(misuse)):
				return err
			case err != nil:
				sayLeft(c.ErrOrStderr(), err)
				unopened[old.Data] = true
			default:
				last, lastName, lastInside = g, old.Data, inside
			}
		}
		if unopened[old.Data] {
			left++
			continue
		}
		opened := func(context.Context, string) (*datasets.Graph, error) { return last, nil }
		now, differences, err := measure.Again(c.Context(), backends[old.Backend], opened, old, most)
		if errors.Is(err, train.ErrTooLarge) {
			return fmt.Errorf("%s: %w: --memory allows more", place, err)
		}
		if err != nil {
			return err
		}
		said := "the same to the last digit"
		elsewhere := old.Device != now.Device || old.Digits != now.Digits || old.Version != now.Version ||
			old.Kernels != now.Kernels
		switch differ := strings.Join(differences, "; "); {
		case len(differences) == 0:
		case elsewhere && measure.Near(old, now):
			said = fmt.Sprintf("within %v points, as another processor or version may have it: %s", measure.Tolerance, differ)
		default:
			far++
			said = "DIFFERS: " + differ
		}
		seed := "seed"
		if old.Readings != nil {
			seed = "split"
		}
		fmt.Fprintf(c.OutOrStdout(), "%s, %s %d: %s\n", old.Cell, seed, old.Seed, said)
	}
}

// ofProgram reports whether a record was made on a graph that is part of the program. One with readings says so by its
// split alone.
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

// environment is what the process was started with: XLA has variables of its own set when it is opened.
var environment = os.Environ()

// rerunElsewhere runs the trials of lines, which come from places, again in a process that computes the digits that
// asked are not. It returns how many came out otherwise and how many could not be run, and the error that ended it.
func (f *runFlags) rerunElsewhere(c *cobra.Command, lines []byte, places []string, asked string,
) (differ, failed int, err error) {
	program, err := os.Executable()
	if err != nil {
		return 0, 0, err
	}
	other := digits.AVX2
	if asked == other {
		other = digits.Processor
	}
	var out, diagnostics bytes.Buffer
	child := exec.CommandContext(c.Context(), program, "reproduce", "--again", "-", "--memory", f.memory,
		"--data-dir", f.dataDir, "--reddit-like-scale", fmt.Sprint(f.scale))
	child.Env = append(slices.Clone(environment), digits.Variable+"="+other)
	child.Stdin, child.Stdout, child.Stderr = bytes.NewReader(lines), io.MultiWriter(c.OutOrStdout(), &out), &diagnostics
	err = child.Run()
	said := diagnostics.String()
	notes, why := said, ""
	if at := strings.LastIndex("\n"+said, "\nnodemask: "); at >= 0 {
		notes, why = said[:at], strings.TrimSpace(said[at+len("nodemask: "):])
	}
	fmt.Fprint(c.ErrOrStderr(), notes)
	number, what, _ := strings.Cut(strings.TrimPrefix(why, "-: line "), ": ")
	switch n, wrong := strconv.Atoi(number); {
	case c.Context().Err() != nil:
		return 0, 0, c.Context().Err()
	case wrong == nil && 0 < n && n <= len(places):
		return 0, 0, fmt.Errorf("%s: %s", places[n-1], what)
	case err != nil && !strings.HasPrefix(why, "of "): // how many: that is said here
		return 0, 0, fmt.Errorf("running trials with digits of %s: %w: %s", other, err, why)
	}
	failed = len(places) - strings.Count(out.String(), "\n")
	return strings.Count(out.String(), ": DIFFERS: "), failed, nil
}
