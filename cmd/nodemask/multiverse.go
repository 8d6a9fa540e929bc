package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/datasets"
	"nodemask/paper/judge"
	"nodemask/paper/measure"
	"nodemask/paper/record"
	"nodemask/paper/report"
)

type multiverseFlags struct {
	runFlags
	part, data, model     string
	sizes                 []int
	splits, batch, again  int
	list, status, summary bool
}

// otherParts are those of PROTOCOL.md that are kept.
var otherParts = []string{"depth", "tuned"}

func newMultiverseCommand() *cobra.Command {
	f := multiverseFlags{runFlags: runFlags{scale: 0.1}} // as the data set has it by itself
	c := &cobra.Command{
		Use:   "multiverse",
		Short: "Train readings of the paper, or what is missing of them",
		Long: `Train readings of the paper, or what is missing of them.

With --part cited, departures, stated and scale: the reading that the paper and the works that it cites describe, and
those around it, by the rules of paper/PROTOCOL-2.md. With --part depth and tuned: what else paper/PROTOCOL.md asks for.
Each trial is kept in the folder of results as it ends, so an interrupted run goes on where it stopped, and several may
share a folder.`,
		Example: `  nodemask multiverse --part cited --data all --model all --summary
  nodemask multiverse --part cited --data cora --model gin --jobs 2
  nodemask multiverse --list
  nodemask multiverse --part depth --summary
  nodemask multiverse --part tuned --model gcn --jobs 2
  nodemask multiverse --part tuned --data all --model all --summary
  nodemask multiverse --again 20`,
	}
	flags := c.Flags()
	flags.StringVar(&f.part, "part", "cited", "cited: the reading that the paper cites; departures from it; stated: "+
		"what it leaves open varies; scale: normalisation and rescaling; tables: the cited reading at the other sizes of "+
		"the paper's tables; balanced: the same configurations for every arm; depth: "+
		"keep rates of GIN with 2 to 16 layers; tuned: the same budget for every arm")
	flags.StringVar(&f.data, "data", "cora", "data set; all: every one that the part is on")
	flags.StringVar(&f.model, "model", "gin", "gin, gat or sgat; all, of the parts of PROTOCOL-2.md and of --part tuned, "+
		"which has gcn and sage too")
	flags.IntSliceVar(&f.sizes, "sizes", judge.Sizes(),
		"sizes of the train set, in percent; 20,33,75 for the part tables")
	flags.IntVar(&f.splits, "splits", judge.DepthSplits,
		"splits of each size, one trial each; 20 for the parts of PROTOCOL-2.md, 10 for scale")
	flags.IntVar(&f.batch, "batch", 5, "splits that all readings are done for before the next ones")
	f.add(flags, "readings", "results/protocol-1", "; of the parts of PROTOCOL-2.md: results/protocol-2")
	flags.BoolVar(&f.list, "list", false, "list the choices, and run nothing")
	flags.BoolVar(&f.status, "status", false, "count recorded and missing trials, and run nothing")
	flags.BoolVar(&f.summary, "summary", false, "print the findings so far, and run nothing")
	flags.IntVar(&f.again, "again", 0, "rerun this many recorded trials, chosen at random, and compare")
	f.addMemory(flags)
	c.RunE = func(c *cobra.Command, _ []string) error { return f.run(c) }
	return c
}

// multiverseRun is a run of the command: its flags, and where what it trains is kept, under which protocol.
type multiverseRun struct {
	*multiverseFlags
	*cobra.Command
	store    *record.Store
	protocol string
}

func (f *multiverseFlags) run(c *cobra.Command) error {
	ofCited := slices.Contains(judge.Parts(), judge.Part(f.part))
	r := multiverseRun{multiverseFlags: f, Command: c, protocol: judge.FirstProtocol()}
	mostSplits := judge.DepthSplits
	if ofCited {
		mostSplits, r.protocol = judge.Part(f.part).Splits(), judge.SecondProtocol()
		if !c.Flags().Changed("results") {
			f.folder = filepath.Join("results", report.SecondFolder)
		}
		if !c.Flags().Changed("splits") {
			f.splits = mostSplits
		}
	}
	hasReadings := ofCited && f.part != string(judge.Balanced)
	switch {
	case !ofCited && !slices.Contains(otherParts, f.part):
		return misusef("--part %s: expected %s, depth or tuned", f.part,
			strings.ReplaceAll(strings.Trim(fmt.Sprint(judge.Parts()), "[]"), " ", ", "))
	case f.data == "all" && (!ofCited && f.part != "tuned" || f.again > 0):
		return misusef("--data all: expected one data set; only the parts of PROTOCOL-2.md and of --part tuned take all")
	case !hasReadings && f.list:
		return misusef("--list: --part %s has no readings to list", f.part)
	case !hasReadings && (c.Flags().Changed("sizes") || c.Flags().Changed("splits")):
		return misusef("--part %s: its sizes and splits are the protocol's: leave --sizes and --splits out", f.part)
	case f.part == "depth" && f.model != "gin":
		return misusef("--model %s: --part depth is about GIN: leave --model out", f.model)
	case f.splits < 1 || f.splits > mostSplits:
		return misusef("--splits %d: expected 1 to %d", f.splits, mostSplits)
	case f.batch < 1:
		return misusef("--batch %d: expected at least 1", f.batch)
	case f.again < 0:
		return misusef("--again %d: expected at least 1", f.again)
	}
	for _, size := range f.sizes {
		if size < 1 || size > 99 {
			return misusef("--sizes: %d: expected 1 to 99 percent", size)
		}
	}
	if _, _, err := f.share(); err != nil {
		return err
	}
	r.store = record.OpenUnder(f.folder, r.protocol)
	if f.status || f.summary { // they read, compute and print
		return unlessInterrupted(c.Context(), r.runPart)
	}
	return r.runPart()
}

// runPart runs the part of the command, whose flags fit it.
func (r multiverseRun) runPart() error {
	f, ofCited := r.multiverseFlags, slices.Contains(judge.Parts(), judge.Part(r.part))
	switch {
	case f.again > 0:
		return r.runAgain()
	case f.part == string(judge.Balanced):
		return r.runTuned(judge.BalancedDesign())
	case ofCited:
		return r.runCited()
	case f.part == "tuned":
		return r.runTuned(judge.DrawnDesign())
	}
	return r.runDepth()
}

// results are the trials of the folder, which are read when they are asked for.
func (r multiverseRun) results() *record.Results {
	return r.store.Results(nil, nil)
}

// train runs what a batch lacks.
func (r multiverseRun) train(batch judge.Batch) error {
	all, err := r.store.Load()
	if err != nil {
		return err
	}
	if err := record.NewResults(all).Err(); err != nil {
		return err
	}
	b, err := openBackend(r.ErrOrStderr(), r.backend)
	if err != nil {
		return err
	}
	_, err = r.runFlags.train(r.Command, b, r.store, batch.Cells, measure.Options{Seeds: batch.Seeds, Batch: r.batch,
		Protocol: r.protocol}, func(last record.Record) string {
		return fmt.Sprintf("%s, %s, %d%%, split %d, %d epochs in %.2f s", last.Model, last.Setting, last.TrainPercent,
			last.Seed, last.Epochs, last.Seconds)
	})
	return err
}

func printAxes(out io.Writer, axes []judge.Axis) error {
	w := bufio.NewWriter(out)
	for _, axis := range axes {
		where := ""
		switch {
		case axis.Masked:
			where = "; with masking"
		case axis.Plain:
			where = "; without masking"
		}
		if axis.Setting != "" {
			where += "; " + string(axis.Setting)
		}
		if axis.Read {
			where += "; read off each trial"
		}
		names := make([]string, len(axis.Options))
		for i, option := range axis.Options {
			names[i] = option.Name
		}
		fmt.Fprintf(w, "%s (%s%s)\n    %s\n    the paper: %s\n",
			axis.Title, axis.Name, where, strings.Join(names, " | "), axis.Paper)
	}
	for _, setting := range datasets.Settings() {
		fmt.Fprintf(w, "%s: %d readings\n", setting, len(judge.AllReadings(axes, setting)))
	}
	return w.Flush()
}

func (r multiverseRun) printStatus(of string, results *record.Results, cells []record.Cell, seeds []uint64) error {
	done, complete, err := results.Count(cells, seeds)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.OutOrStdout(), "%s: %d of %d trials; %d of %d trainings have all %d splits\n",
		of, done, len(cells)*r.splits, complete, len(cells), r.splits)
	return err
}

func (r multiverseRun) runAgain() error {
	all, err := r.store.Load(record.Pair{Data: r.data, Model: r.model})
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return misusef("--again: %s has no trials of %s on %s", r.folder, r.model, r.data)
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:min(r.again, len(all))]
	return r.rerun(r.Command, func() (old record.Record, place string, err error) {
		if len(all) == 0 {
			return old, "", io.EOF
		}
		old, all = all[0], all[1:]
		return old, fmt.Sprintf("%s: split %d", r.folder, old.Seed), nil
	})
}
