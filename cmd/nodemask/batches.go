package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nodemask/internal/memory"
	"nodemask/internal/race"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/batches"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/plots"
	"nodemask/record"
	"nodemask/stats"
)

// batchFlags are the flags of train for graphs larger than memory.
type batchFlags struct {
	on       bool // one of them was given
	clusters int
	memory   string
	sample   []int
	folder   string
	keep     string

	limit int64 // of memory
	said  batches.Estimate
}

// batchedRecord is what --json prints of a trial in batches. Results keep none: cells are of whole graphs.
type batchedRecord struct {
	record.Record
	Batches int   `json:"batches"`
	Sample  []int `json:"sample,omitempty"`
}

func (f *batchFlags) add(flags *pflag.FlagSet) {
	flags.IntVar(&f.clusters, "batches", 0, "train on so many clusters of nodes, one after the other; neighbours in "+
		"other clusters come from cached representations (1: the whole graph at once)")
	flags.StringVar(&f.memory, "memory", "", "choose --batches such that training takes at most this much memory, such "+
		"as 2GiB")
	flags.IntSliceVar(&f.sample, "sample", nil, "sample so many neighbours a layer, such as 10,10, instead of caching "+
		"representations; --batches is then how many batches the train nodes make")
	flags.StringVar(&f.keep, "checkpoint", "", "folder for what a trial in batches had after each epoch: the same "+
		"command goes on from there")
	flags.StringVar(&f.folder, "batch-dir", "", "folder on a disk for features and cached representations while "+
		"training in batches (default: the system's for temporary files, which may lie in memory)")
}

// checkBatches returns an error for flags that do not go with training in batches.
func (f *trainFlags) checkBatches(c *cobra.Command, p hyper.Parameters) (err error) {
	b := &f.batched
	b.on = c.Flags().Changed("batches") || b.memory != "" || len(b.sample) > 0
	switch {
	case !b.on && (b.folder != "" || b.keep != ""):
		return misusef("--batch-dir and --checkpoint: expected --batches, --memory or --sample too")
	case !b.on:
		return nil
	case b.clusters < 0 || c.Flags().Changed("batches") && b.clusters == 0:
		return misusef("--batches %d: expected 1 or more", b.clusters)
	case slices.ContainsFunc(b.sample, func(k int) bool { return k < 1 }):
		return misusef("--sample %v: expected at least 1 neighbour a layer", b.sample)
	case len(b.sample) > 0 && len(b.sample) != p.Layers:
		return misusef("--sample %v: expected a number for each of the %d layers", b.sample, p.Layers)
	case (f.cacheInference || f.saveCache != "") && b.memory != "":
		return misusef("--memory with --cache-inference or --save-cache: what caching takes is not estimated: expected " +
			"--batches")
	case p.Regulariser == hyper.DropEdgeRegulariser && (b.clusters != 1 || len(b.sample) > 0):
		return misusef("--regulariser dropedge in batches: it drops both directions of an edge alike, and the ends of an " +
			"edge may be in two batches: expected another regulariser, or one cluster")
	case p.Regulariser == hyper.DropGNNRegulariser:
		return misusef("--regulariser dropgnn in batches: it masks nodes in testing too, which batches do not: expected " +
			"another regulariser")
	case b.folder != "" && !isFolder(b.folder):
		return misusef("--batch-dir %s: there is no such folder", b.folder)
	case f.jobs > 1:
		return misusef("--jobs %d: trials in batches run one after the other", f.jobs)
	case b.memory != "":
		if b.limit, err = memory.Parse(b.memory); err != nil {
			return misusef("--memory %s: %w", b.memory, err)
		}
	}
	return nil
}

// runner moves the graph's features to the disk and returns what runs trials in batches.
func (f *batchFlags) runner(c *cobra.Command, x train.Experiment) (runFunc, error) {
	o := batches.Options{Clusters: f.clusters, Folder: f.folder, Memory: f.limit, Sample: f.sample, Checkpoint: f.keep,
		Version: record.Version(),
		Said: func(e batches.Estimate) {
			f.said = e
			fmt.Fprintln(c.ErrOrStderr(), e)
		}}
	if o.Clusters != 1 {
		var err error
		if o.Release, err = batches.Spill(x.Graph, f.folder); err != nil {
			return nil, err
		}
		debug.SetGCPercent(25) // what a batch copies is garbage with the next one
		debug.FreeOSMemory()
	}
	return func(ctx context.Context, b *backend.Backend, seeds []uint64, r train.RunOptions) ([]*train.Result, error) {
		return batches.Run(ctx, b, x, o, seeds, r)
	}, nil
}

// benchBatchesFlags are the flags of bench batches.
type benchBatchesFlags struct {
	data, ways []string
	keepRates  []float64
	model      string
	backend    string
	epochs     int
	trials     int
	markdown   bool
}

func newBenchBatchesCommand() *cobra.Command {
	f := benchBatchesFlags{}
	c := &cobra.Command{
		Use:   "batches",
		Short: "Compare training on whole graphs, in clusters with cached representations, and on sampled neighbours",
		Long: `Compare training on whole graphs, in clusters with cached representations, and on sampled neighbours:
macro F1, seconds and the most memory that the process had.

Each line is a process of its own that trains transductively, with 10 % of the nodes to train on: a number of trials,
one after the other. F1 is their mean and standard deviation, epochs are their mean. Seconds are those of a trial, and
those of the processor for a trial, with its share of loading and compiling, which other programs disturb less. The
peak is the process's.`,
		Example: "  nodemask bench batches --data pubmed --epochs 50 " +
			`--ways "--batches 1;--batches 4;--batches 4 --sample 10,10"`,
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.data, "data", []string{"pubmed"}, "data sets")
	ways := flags.String("ways", "--batches 1;--batches 4;--batches 4 --sample 10,10",
		"ways to train, between semicolons: flags of 'nodemask train'")
	addKeepRates(flags, &f.keepRates)
	flags.StringVar(&f.model, "model", "gin", "model")
	addBackend(flags, &f.backend, "xla:cpu")
	flags.IntVar(&f.epochs, "epochs", 1000, "most epochs of a trial")
	flags.IntVar(&f.trials, "trials", 1, "trials of each line, with seeds from 1 on")
	addMarkdown(flags, &f.markdown)
	c.RunE = func(c *cobra.Command, _ []string) error {
		f.data, f.ways = withParameters(f.data), strings.Split(*ways, ";")
		if f.epochs < 1 {
			return misusef("--epochs %d: expected at least 1", f.epochs)
		}
		if f.trials < 1 {
			return misusef("--trials %d: expected at least 1", f.trials)
		}
		return f.run(c)
	}
	return c
}

// trialLine is what bench batches reads of a trial.
type trialLine struct {
	MacroF1 float64 `json:"macro_f1"`
	Epochs  float64 `json:"epochs"`
	Seconds float64 `json:"seconds"`
}

func (f *benchBatchesFlags) run(c *cobra.Command) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	t := plots.Table{ID: "table-sampling", TextColumns: 2, Header: []string{"data", "", "keep rate", "macro F1 %",
		"epochs", "seconds", "of a processor", "peak MB"}}
	for _, data := range f.data {
		if len(t.Rows) > 0 {
			t.Groups = append(t.Groups, len(t.Rows))
		}
		for _, way := range f.ways {
			for _, keepRate := range f.keepRates {
				row, err := f.line(c.Context(), self, data, strings.TrimSpace(way), keepRate)
				if err != nil {
					return err
				}
				fmt.Fprintf(c.ErrOrStderr(), "%s, %s, keep rate %v: %s %% in %s s, %s MB\n",
					data, way, keepRate, row[0], row[2], row[4])
				t.Rows = append(t.Rows, fields(append([]string{data, strings.TrimSpace(way), fmt.Sprint(keepRate)}, row...)...))
			}
		}
	}
	return printTable(c.OutOrStdout(), t, f.markdown)
}

// line runs trials in a process of their own, and returns what the table says of them.
func (f *benchBatchesFlags) line(ctx context.Context, self, data, way string, keepRate float64) ([]string, error) {
	arguments := []string{"train", "--backend", f.backend, "--data", data, "--model", f.model, "--setting", "transductive",
		"--train", "10", "--trials", fmt.Sprint(f.trials),
		"--keep-rate", fmt.Sprint(keepRate), "--max-epochs", fmt.Sprint(f.epochs), "--json"}
	arguments = append(arguments, strings.Fields(way)...)
	var out, problems bytes.Buffer
	command := exec.CommandContext(ctx, self, arguments...)
	command.Stdout, command.Stderr = &out, &problems
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("nodemask %s: %w: %s", strings.Join(arguments, " "), err, strings.TrimSpace(problems.String()))
	}
	var scores []float64
	var epochs, seconds float64
	for decoder := json.NewDecoder(&out); len(scores) < f.trials; {
		var trial trialLine
		if err := decoder.Decode(&trial); err != nil {
			return nil, fmt.Errorf("nodemask %s: trial %d of %d: %w", strings.Join(arguments, " "), len(scores)+1, f.trials, err)
		}
		scores = append(scores, trial.MacroF1)
		epochs, seconds = epochs+trial.Epochs, seconds+trial.Seconds
	}
	processor, peak := race.Used(command.ProcessState)
	each := float64(f.trials)
	return []string{stats.Summarize(scores).Text(2), fmt.Sprintf("%.0f", epochs/each), fmt.Sprintf("%.1f", seconds/each),
		fmt.Sprintf("%.1f", processor.Seconds()/each), fmt.Sprintf("%.0f", peak)}, nil
}
