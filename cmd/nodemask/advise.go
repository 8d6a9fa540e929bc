package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nodemask/advice"
	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/paper/measure"
	"nodemask/paper/record"
)

func newAdviseCommand() *cobra.Command {
	var data, dataDir, setting, backendID, folder, output string
	var predict, asJSON bool
	o := advice.Options{}
	c := &cobra.Command{
		Use:   "advise",
		Short: "Say which regulariser, if any, helps a graph, and for which model",
		Long: `Say which regulariser, if any, helps a graph, and for which model: node masking, DropEdge, dropout and others,
against none.

Each chooses its configuration by validation on some splits of the nodes and is compared with the plain model on
others, until the answer is clear or the budget is spent. What was trained is kept in a folder for graphs of this
content, so the same command goes on where it stopped. docs/ADVICE.md has the rule and how often it was wrong.`,
		Example: `  nodemask advise --data my-graph
  nodemask advise --data cora --models gin --setting transductive
  nodemask advise --data graph.npz --budget 1h -o advice.html
  nodemask advise --data graph.npz --predict`,
	}
	flags := c.Flags()
	addData(flags, &data, &dataDir)
	flags.StringSliceVar(&o.Models, "models", advice.Models(), "models to ask about: "+strings.Join(hyper.Models(), ", "))
	flags.StringVar(&setting, "setting", "", "inductive (nodes arrive after training) or transductive (all are known in "+
		"training); default: transductive if the graph comes with a split of its own, else both")
	flags.IntVar(&o.TrainPercent, "train", 0, "size of the train set, in percent of the nodes (default: that of the "+
		"graph's own split, else 10)")
	flags.DurationVar(&o.Budget, "budget", 5*time.Minute, "how long training may take")
	addResults(flags, &folder, "", ", to go on from (default: in the user's cache, by the graph's content)")
	addOutput(flags, &output, "", "a page with everything, .html")
	flags.BoolVar(&predict, "predict", false, "train nothing: print what a rule fitted on other graphs says of masking")
	flags.BoolVar(&asJSON, "json", false, "print JSON instead of the sentence and the table")
	flags.IntVar(&o.Jobs, "jobs", min(runtime.NumCPU(), 4), "trials side by side")
	addBackend(flags, &backendID, "")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if setting != "" {
			one := datasets.Setting(setting)
			if err := one.Check(); err != nil {
				return misusef("--setting: %w", err)
			}
			o.Settings = []datasets.Setting{one}
		}
		if err := checkEnding(output, ".html"); err != nil {
			return err
		}
		if err := checkWritable("output", output); err != nil {
			return err
		}
		w := c.ErrOrStderr()
		o.Data = data
		if o.Graph, err = openGraph(c.Context(), w, data, dataDir); err != nil {
			return err
		}
		if predict {
			settings := o.Settings
			if settings == nil {
				settings = datasets.Settings()
			}
			return predictMasking(c.OutOrStdout(), o.Graph, settings, cmp.Or(o.TrainPercent, 10))
		}
		a, err := advise(c.Context(), w, o, backendID, folder)
		if a != nil {
			err = errors.Join(err, showAdvice(c, a, asJSON, output))
		}
		return goesOn(err)
	}
	return c
}

func advise(ctx context.Context, w io.Writer, o advice.Options, backendID, folder string) (*advice.Advice, error) {
	o, err := o.Complete()
	if err != nil {
		return nil, misuse{err}
	}
	if folder == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, misusef("--results is missing, and there is no cache: %w", err)
		}
		folder = filepath.Join(cache, "nodemask", "advise")
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, fmt.Errorf("%w: what is trained is kept there: expected --results with a folder that can be written to",
			err)
	}
	b, err := openBackend(w, backendID)
	if err != nil {
		return nil, err
	}
	// Only trials on the same graph by the same program version may be compared.
	kept := sha256.Sum256([]byte(o.Graph.ContentHash() + record.Version()))
	folder = filepath.Join(folder, hex.EncodeToString(kept[:8]))
	pool, err := train.NewPool(b, o.Jobs, keptPrograms)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	return advice.Advise(ctx, o, &lab{Options: o, backend: b, pool: pool, store: record.Open(folder),
		begin: time.Now(), progress: newTicker(w)})
}

const keptPrograms = 16

type lab struct {
	advice.Options
	backend *backend.Backend
	pool    *train.Pool
	store   *record.Store
	trained int

	begin    time.Time
	progress *ticker
}

func (l *lab) Trials(c record.Cell) ([]record.Record, error) {
	key := c.Key()
	all, err := l.store.Load(record.PairOf(c))
	return slices.DeleteFunc(all, func(r record.Record) bool {
		return r.Cell != key || r.Backend != l.backend.ID // other backends round differently
	}), err
}

func (l *lab) Train(ctx context.Context, what string, cells []record.Cell, seeds []uint64) error {
	return measure.Missing(ctx, l.backend, l.store, cells, measure.Options{
		Seeds: seeds, Batch: len(seeds), Jobs: l.Jobs, Pool: l.pool, WithoutMAD: true,
		Open: func(context.Context, string) (*datasets.Graph, error) { return l.Graph, nil },
		Progress: func(s measure.State) {
			if s.Last != nil {
				l.trained++
			}
			l.progress.say("%s; %d trials so far, at most %v left", what, l.trained,
				max(l.Budget-time.Since(l.begin), 0).Round(time.Second))
		},
	})
}

func showAdvice(c *cobra.Command, a *advice.Advice, asJSON bool, output string) error {
	out := c.OutOrStdout()
	if output != "" {
		if err := writeFile(output, a.WriteHTML); err != nil {
			return err
		}
	}
	if asJSON {
		return json.NewEncoder(plainJSON{out}).Encode(a)
	}
	fmt.Fprintf(out, "%s\n\n", a.Sentence)
	if a.Command != "" {
		if err := printTable(out, a.Table()); err != nil {
			return err
		}
	}
	for _, line := range []string{a.Rest(), a.Command} {
		if line != "" {
			fmt.Fprintf(out, "\n%s\n", line)
		}
	}
	return nil
}
