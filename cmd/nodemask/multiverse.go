package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/train"
	"nodemask/paper"
	"nodemask/paper/cited"
	"nodemask/paper/multiverse"
	"nodemask/record"
	"nodemask/record/measure"
	"nodemask/stats"
)

// multiverseFlags are the flags of multiverse.
type multiverseFlags struct {
	part, data, model      string
	sizes                  []int
	splits, jobs, batch    int
	backend, shard, folder string
	dataDir                string
	list, status, summary  bool
	again                  int
	memory                 string
}

func newMultiverseCommand() *cobra.Command {
	var f multiverseFlags
	c := &cobra.Command{
		Use:   "multiverse",
		Short: "Train every reading of the paper, or what is missing of them",
		Long: `Train every reading of the paper, or what is missing of them.

With --part cited, departures, stated and scale: the reading that the paper and the works that it cites describe, and those around it, by the
rules of paper/PROTOCOL-2.md. Otherwise all combinations that the paper's text alone allows, by those of paper/PROTOCOL.md. Each trial is kept in the folder of results as it ends, so an interrupted run goes on where it stopped, and
several may share a folder.`,
		Example: `  nodemask multiverse --part cited --data all --model all --summary
  nodemask multiverse --part cited --data cora --model gin --jobs 2
  nodemask multiverse --list
  nodemask multiverse --data cora --model gin --jobs 2
  nodemask multiverse --model gat --sizes 10,50 --splits 3 --shard 1/4
  nodemask multiverse --part depth --summary
  nodemask multiverse --part tuned --model gcn --jobs 2
  nodemask multiverse --part tuned --data all --model all --summary
  nodemask multiverse --again 20`,
		Args: misuseArgs(cobra.NoArgs),
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.part, "part", "readings", "cited: the reading that the paper cites; departures from it; stated: what it leaves open varies; scale: normalisation and rescaling; tables: the cited reading at the other sizes of the paper's tables; readings: all that the text allows; depth: keep rates of GIN with 2 to 16 layers; tuned: the same budget for every arm")
	flags.StringVar(&f.data, "data", "cora", "data set; on pubmed, readings are those that are calibrated on Cora; all: every one of the parts of PROTOCOL-2.md and of --part tuned")
	flags.StringVar(&f.model, "model", "gin", "gin, gat or sgat; all, of the parts of PROTOCOL-2.md and of --part tuned, which has "+strings.Join(multiverse.TunedModels(), ", "))
	flags.IntSliceVar(&f.sizes, "sizes", multiverse.Sizes(), "sizes of the train set, in percent; 20,33,75 of the part tables")
	flags.IntVar(&f.splits, "splits", multiverse.Splits, "splits of each size, one trial each; 20 of the parts of PROTOCOL-2.md, 10 of scale")
	flags.IntVar(&f.jobs, "jobs", 1, "trials side by side")
	flags.IntVar(&f.batch, "batch", 5, "splits that all readings are done for before the next ones")
	flags.StringVar(&f.backend, "backend", "", backendHelp)
	flags.StringVar(&f.shard, "shard", "1/1", "i/n: run the i-th of n shares of the readings")
	flags.StringVar(&f.folder, "results", "results/multiverse", "folder of results; of the parts of PROTOCOL-2.md: results/cited")
	flags.StringVar(&f.dataDir, "data-dir", "", "folder of downloaded data sets (default $NODEMASK_DATA, then the user's cache)")
	flags.BoolVar(&f.list, "list", false, "list the choices, and run nothing")
	flags.BoolVar(&f.status, "status", false, "count what is there and what is missing, and run nothing")
	flags.BoolVar(&f.summary, "summary", false, "say what is found so far, and run nothing")
	flags.IntVar(&f.again, "again", 0, "run as many trials again, chosen by chance among those that are there, and compare")
	flags.StringVar(&f.memory, "memory", "2GiB", againMemoryHelp)
	c.RunE = func(c *cobra.Command, _ []string) error { return f.run(c) }
	return c
}

func (f *multiverseFlags) run(c *cobra.Command) error {
	ofCited := slices.Contains(cited.Parts(), cited.Part(f.part))
	mostSplits, protocol := multiverse.Splits, paper.ProtocolHash()
	if ofCited {
		mostSplits, protocol = cited.Part(f.part).Splits(), paper.CitedProtocolHash()
		if !c.Flags().Changed("results") {
			f.folder = filepath.Join("results", paper.CitedFolder)
		}
		if !c.Flags().Changed("splits") {
			f.splits = mostSplits
		}
	}
	switch {
	case !ofCited && f.part != "readings" && f.part != "depth" && f.part != "tuned":
		return misusef("--part %s: expected %s, readings, depth or tuned", f.part, strings.ReplaceAll(strings.Trim(fmt.Sprint(cited.Parts()), "[]"), " ", ", "))
	case f.data == "all" && (!ofCited && f.part != "tuned" || f.again > 0):
		return misusef("--data all: expected one data set; only the parts of PROTOCOL-2.md and of --part tuned take all")
	case !ofCited && f.part != "readings" && f.list:
		return misusef("--list: --part %s has no readings to list", f.part)
	case !ofCited && f.part != "readings" && (c.Flags().Changed("sizes") || c.Flags().Changed("splits")):
		return misusef("--part %s: its sizes and splits are the protocol's: leave --sizes and --splits out", f.part)
	case f.splits < 1 || f.splits > mostSplits:
		return misusef("--splits %d: expected 1 to %d", f.splits, mostSplits)
	case f.jobs < 1:
		return misusef("--jobs %d: expected at least 1", f.jobs)
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
	shard, shards, err := parseShard(f.shard)
	if err != nil {
		return err
	}
	store := record.OpenTrajectories(f.folder).Under(protocol)
	switch {
	case f.again > 0:
		return f.runAgain(c, store)
	case ofCited:
		return f.runCited(c, store, shard, shards)
	case f.part == "tuned":
		return f.runTuned(c, store, shard, shards)
	}
	axes, err := multiverse.AxesOf(f.model)
	if err != nil {
		return misusef("--model: %w", err)
	}
	if f.list {
		return f.printAxes(c, axes)
	}
	if f.part == "depth" {
		return f.runDepth(c, store, shard, shards)
	}
	results := readMultiverse(store)
	var questions []multiverse.Question
	for _, setting := range datasets.Settings() {
		q, err := paper.Ask(results, f.data, f.model, setting)
		if err != nil {
			return err
		}
		if q.Among != nil && len(q.Among.Fits) == 0 {
			return misusef("--data %s: it takes the readings that are calibrated on Cora, which %s does not have: run --data cora --model %s first", f.data, f.folder, f.model)
		}
		q.Sizes = f.sizes
		questions = append(questions, q)
	}
	cells, err := multiverse.Cells(questions)
	if err != nil {
		return err
	}
	switch {
	case f.status:
		return f.printStatus(c, results, cells)
	case f.summary:
		return f.printSummary(c, results, questions)
	}
	return f.train(c, store, multiverse.Batch{Cells: cells, Seeds: multiverse.Seeds(multiverse.FirstSplit, f.splits)}, paper.ProtocolHash(), shard, shards)
}

// train runs what a batch lacks.
func (f *multiverseFlags) train(c *cobra.Command, store *record.Trajectories, batch multiverse.Batch, protocol string, shard, shards int) error {
	all, err := store.Load()
	if err != nil {
		return err
	}
	if _, err := multiverse.NewResults(all); err != nil {
		return err
	}
	b, err := openBackend(c.ErrOrStderr(), f.backend)
	if err != nil {
		return err
	}
	w := c.ErrOrStderr()
	var last time.Time
	err = measure.MissingTrajectories(c.Context(), b, store, batch.Cells, measure.TrajectoryOptions{
		Seeds: batch.Seeds, Batch: f.batch, Jobs: f.jobs, Shard: shard - 1, Shards: shards, Open: f.open, Unopened: sayUnopened(w), Protocol: protocol,
		Progress: func(s measure.TrajectoryState) {
			if time.Since(last) < 10*time.Second && s.Done < s.Total {
				return
			}
			last = time.Now()
			left := ""
			if s.Left > 0 {
				left = fmt.Sprintf(", about %v left", s.Left)
			}
			fmt.Fprintf(w, "%d of %d trials%s; last: %s, %s, %d%%, split %d, %d epochs in %.2f s\n", s.Done, s.Total, left, s.Last.Model, s.Last.Setting, s.Last.TrainPercent, s.Last.Seed, s.Last.Epochs, s.Last.Seconds)
		},
	})
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted: finished trials are kept; the same command goes on from there")
	}
	return err
}

// parseShard reads "i/n".
func parseShard(text string) (shard, shards int, err error) {
	if n, err := fmt.Sscanf(text, "%d/%d", &shard, &shards); n != 2 || err != nil || shard < 1 || shard > shards || text != fmt.Sprintf("%d/%d", shard, shards) {
		return 0, 0, misusef("--shard %s: expected i/n with i from 1 to n", text)
	}
	return shard, shards, nil
}

func (f *multiverseFlags) open(ctx context.Context, data string) (*datasets.Graph, error) {
	g, err := datasets.Open(ctx, data, openOptions(f.dataDir))
	return g, dataError(err)
}

func (f *multiverseFlags) printAxes(c *cobra.Command, axes []multiverse.Axis) error {
	w := bufio.NewWriter(c.OutOrStdout())
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
		fmt.Fprintf(w, "%s (%s%s)\n    %s\n    the paper: %s\n", axis.Title, axis.Name, where, strings.Join(names, " | "), axis.Paper)
	}
	for _, setting := range datasets.Settings() {
		fmt.Fprintf(w, "%s: %d readings\n", setting, len(multiverse.Readings(axes, setting)))
	}
	return w.Flush()
}

func (f *multiverseFlags) printStatus(c *cobra.Command, results *multiverse.Results, cells []record.Cell) error {
	done, complete, err := results.Count(cells, multiverse.Seeds(multiverse.FirstSplit, f.splits))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s, %s: %d of %d trials; %d of %d trainings have all %d splits\n", f.data, f.model, done, len(cells)*f.splits, complete, len(cells), f.splits)
	return err
}

// printSummary says what masking does over all readings, and over the calibrated ones.
func (f *multiverseFlags) printSummary(c *cobra.Command, results *multiverse.Results, questions []multiverse.Question) error {
	w := bufio.NewWriter(c.OutOrStdout())
	calibration, err := paper.Calibrate(results, f.model)
	if err != nil {
		return err
	}
	passed := 0
	for _, fit := range calibration.Fits {
		if fit.Calibrated {
			passed++
		}
	}
	if len(calibration.Splits) > 1 {
		fmt.Fprintf(w, "calibration on Cora, without masking, %d splits: %d of %d readings within %.1f points\n", len(calibration.Splits), passed, len(calibration.Fits), calibration.Limit)
		axes, err := multiverse.AxesOf(f.model)
		if err != nil {
			return err
		}
		for _, fit := range calibration.Fits[:min(5, len(calibration.Fits))] {
			mark := " "
			if fit.Calibrated {
				mark = "*"
			}
			fmt.Fprintf(w, "%s %.2f points (inductive %.2f, transductive %.2f), caching costs %.2f: %s\n", mark, fit.Both, fit.Inductive, fit.Transductive, fit.CacheCost, fit.Reading.Words(axes, datasets.Inductive))
		}
	}
	for _, q := range questions {
		effects, err := results.Effects(q)
		if err != nil {
			return err
		}
		if len(effects.Effects) == 0 {
			fmt.Fprintf(w, "%s: not all readings have two splits yet\n", q.Setting)
			continue
		}
		for _, which := range []struct {
			name    string
			effects *multiverse.Effects
		}{{"all readings", effects}, {"calibrated readings", effects.Calibrated(calibration)}} {
			if q.Among != nil && which.effects == effects {
				continue // the calibrated ones are all there are
			}
			if len(which.effects.Effects) == 0 {
				fmt.Fprintf(w, "%s, %s: none\n", q.Setting, which.name)
				continue
			}
			joint, err := which.effects.Joint()
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%s, %s (%d, %d splits): median effect %+.2f points (joint p %s); significantly above zero %.0f %% (p %s), below %.0f %% (p %s)\n", q.Setting, which.name,
				joint.Readings, joint.Splits, joint.Median, stats.ProbabilityText(joint.MedianP), 100*joint.Positive, stats.ProbabilityText(joint.PositiveP), 100*joint.Negative, stats.ProbabilityText(joint.NegativeP))
			names, variance, err := which.effects.Explained()
			if err != nil {
				continue // a single reading varies in nothing
			}
			for i, axis := range variance.Axes {
				fmt.Fprintf(w, "    %s explains %.0f %% alone, %.0f %% beyond the others\n", names[i], 100*axis.Alone, 100*axis.Lost)
			}
		}
	}
	return w.Flush()
}

// runAgain runs trials again that are there.
func (f *multiverseFlags) runAgain(c *cobra.Command, store *record.Trajectories) error {
	most, err := parseBytes(f.memory)
	if err != nil {
		return misusef("--memory %s: %w", f.memory, err)
	}
	all, err := store.Load()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(t record.Trajectory) bool { return t.Data != f.data || t.Model != f.model })
	if len(all) == 0 {
		return misusef("--again: %s has no trials of %s on %s", f.folder, f.model, f.data)
	}
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), uint64(os.Getpid())))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	opened := map[string]*backend.Backend{}
	differ, n := 0, min(f.again, len(all))
	for _, old := range all[:n] {
		b := opened[old.Backend]
		if b == nil {
			if b, err = openBackend(c.ErrOrStderr(), old.Backend); err != nil {
				return err
			}
			opened[old.Backend] = b
		}
		_, differences, err := measure.TrajectoryAgain(c.Context(), b, f.open, old, most)
		if errors.Is(err, train.ErrTooLarge) {
			return fmt.Errorf("%s: split %d: %w: --memory allows more", f.folder, old.Seed, err)
		}
		if err != nil {
			return err
		}
		cell, err := old.Cell()
		if err != nil {
			return err
		}
		said := "the same to the last digit"
		if len(differences) > 0 {
			differ++
			said = "DIFFERS: " + strings.Join(differences, "; ")
		}
		fmt.Fprintf(c.OutOrStdout(), "%s, split %d: %s\n", cell.Key(), old.Seed, said)
	}
	if differ > 0 {
		return fmt.Errorf("%d of %d trials came out otherwise, as another processor or version may have it", differ, n)
	}
	return nil
}
