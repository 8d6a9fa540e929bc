package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/datasets"
	"nodemask/internal/digits"
	"nodemask/internal/memory"
	"nodemask/internal/wholefile"
	"nodemask/nmgnn/backend"
	"nodemask/paper/measure"
	"nodemask/paper/record"
)

func newAgainCommand() *cobra.Command {
	var f runFlags
	var count int
	c := &cobra.Command{
		Use:   "again [FILE]",
		Short: "Run recorded trials again, on their backends, and compare",
		Long: `Run recorded trials again, on their backends, and compare: those of a file (- is standard input), or some of the
folder of results, drawn at random.`,
		Example: `  nodemask reproduce again --count 5
  nodemask report records cora/gat/inductive/10%/arrivals=train-edges/stop=either | nodemask reproduce again -`,
		Args: cobra.MaximumNArgs(1),
	}
	flags := c.Flags()
	flags.IntVar(&count, "count", 10, "trials to draw, without a file")
	addResults(flags, &f.folder, "results", "")
	addDataDir(flags, &f.dataDir)
	flags.StringVar(&f.memory, "memory", "2GiB", "most memory that a trial may take, as records may ask for more than "+
		"anybody wants")
	flags.Float64Var(&f.scale, "reddit-like-scale", 0.02, "size of the reddit-like data, as a share of Reddit's")
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

func (f *runFlags) againOf(c *cobra.Command, name string) error {
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
				return old, "", misusef("%s: no record: expected a line of JSON for each, as 'nodemask report records' prints them",
					name)
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
func (f *runFlags) rerun(c *cobra.Command, next func() (old record.Record, place string, err error)) error {
	most, err := memory.Parse(f.memory)
	if err != nil {
		return misusef("--memory %s: %w", f.memory, err)
	}
	asked, err := digits.Asked()
	if err != nil {
		return misuse{err}
	}
	var others []byte // records whose digits this process cannot compute
	var otherPlaces []string
	count, far, left := 0, 0, 0
	backends := map[string]*backend.Backend{}
	unopened := map[string]bool{}
	var last *datasets.Graph
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
				from.dataDir = "" // that folder may order nodes differently
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
		if errors.Is(err, memory.ErrTooLarge) {
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

// environment at the start: opening XLA sets variables.
var environment = os.Environ()

// rerunElsewhere reruns trials in a process that computes the other digits.
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
	child := exec.CommandContext(c.Context(), program, "reproduce", "again", "-", "--memory", f.memory,
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
	case err != nil && !strings.HasPrefix(why, "of "):
		return 0, 0, fmt.Errorf("running trials with digits of %s: %w: %s", other, err, why)
	}
	failed = len(places) - strings.Count(out.String(), "\n")
	return strings.Count(out.String(), ": DIFFERS: "), failed, nil
}
