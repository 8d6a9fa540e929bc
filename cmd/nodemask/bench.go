package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nodemask/datasets"
	"nodemask/internal/race"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/paper/record"
	"nodemask/plots"
	"nodemask/stats"
)

type benchFlags struct {
	data, models, backends, peers []string
	keepRates                     []float64
	peersScript                   string
	rounds, epochs, threads       int
	markdown, json                bool
}

func newBenchCommand() *cobra.Command {
	f := benchFlags{rounds: 5, epochs: 10, threads: 2}
	c := &cobra.Command{
		Use:   "bench",
		Short: "Time training epochs, beside those of other libraries",
		Long: `Time training epochs, beside those of other libraries.

Each contender is a process of its own that trains the same model on the same split, transductively with 10 % of the
nodes to train on. Those of a data set and a model, all keep rates among them, take turns, a few epochs each, while the
others wait: whatever else the machine does hits all alike, and all are in memory. Times are in milliseconds: the median
over all rounds, then the least.`,
		Example: `  nodemask bench --models gin --data cora
  nodemask bench --backends xla:cpu --peers .nodemask/peers/torch/bin/python=pyg`,
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.data, "data", []string{"cora", "pubmed"}, "data sets")
	flags.StringSliceVar(&f.models, "models", []string{"gin", "gat", "sgat"}, "models")
	flags.Float64SliceVar(&f.keepRates, "keep-rates", []float64{1, 0.5}, "keep rates of node masking; 1 is off")
	flags.StringSliceVar(&f.backends, "backends", []string{"xla:cpu", "go"}, "backends of ours")
	flags.StringSliceVar(&f.peers, "peers", nil, "other libraries, each as PYTHON=LIBRARY; see scripts/peers/README.md")
	flags.StringVar(&f.peersScript, "peers-script", "scripts/peers/peers.py", "program that runs them")
	flags.IntVar(&f.rounds, "rounds", f.rounds, "turns that each contender gets")
	flags.IntVar(&f.epochs, "epochs", f.epochs, "epochs in a turn, and as many with validation")
	flags.IntVar(&f.threads, "threads", f.threads, "threads of the other libraries")
	flags.BoolVar(&f.markdown, "markdown", false, "print the table as Markdown")
	flags.BoolVar(&f.json, "json", false, "print one JSON object a contender instead of the table")
	c.RunE = func(c *cobra.Command, _ []string) error { return f.run(c) }
	c.AddCommand(newContenderCommand())
	return c
}

// peerModels are the models that each library's program trains.
var peerModels = map[string][]string{
	"pyg": {"gin", "gat", "sgat"}, "pyg-csr": {"gin"}, "pyg-compile": {"gin", "gat", "sgat"}, "dgl": {"gin", "gat"},
	"torch-spmm": {"gin"}, "torch-csr": {"gin", "gat", "sgat"},
}

func (f *benchFlags) check() error {
	switch {
	case len(f.models) == 0:
		return misusef("--models is empty: expected one or more of %s", strings.Join(hyper.Models(), ", "))
	case len(f.data) == 0:
		return misusef("--data is empty: expected a data set or more")
	case len(f.keepRates) == 0:
		return misusef("--keep-rates is empty: expected a keep rate or more")
	case len(f.backends)+len(f.peers) == 0:
		return misusef("--backends is empty: expected one or more of %s", strings.Join(backend.IDs(), ", "))
	}
	for _, b := range f.backends {
		if name, _, _ := strings.Cut(b, ":"); name != "go" && name != "xla" {
			return misusef("--backends %s: expected %s or xla: and a plugin's path", b, strings.Join(backend.IDs(), ", "))
		}
	}
	for _, m := range f.models {
		if !slices.Contains(hyper.Models(), m) {
			err := fmt.Errorf("--models %s: known are %s", m, strings.Join(hyper.Models(), ", "))
			return misuse{didYouMean(err, m, hyper.Models())}
		}
	}
	f.data = withParameters(f.data)
	for _, data := range f.data {
		if _, err := datasets.Locate(data, datasets.OpenOptions{}); err != nil {
			return dataError(err)
		}
	}
	for _, p := range f.keepRates {
		if _, err := hyper.NewKeepRate(p); err != nil {
			return misusef("--keep-rates: %w", err)
		}
	}
	for _, p := range f.peers {
		if _, library, found := strings.Cut(p, "="); !found || peerModels[library] == nil {
			return misusef("--peers %s: expected PYTHON=LIBRARY, with one of %s", p,
				strings.Join(slices.Sorted(maps.Keys(peerModels)), ", "))
		}
	}
	if f.rounds < 1 || f.epochs < 1 || f.threads < 1 {
		return misusef("--rounds %d --epochs %d --threads %d: expected at least 1 of each", f.rounds, f.epochs, f.threads)
	}
	return nil
}

func (f *benchFlags) run(c *cobra.Command) error {
	if err := f.check(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var lines []*race.Lane
	for _, data := range f.data {
		folder := ""
		if len(f.peers) > 0 {
			g, view, err := benchView(c.Context(), data)
			if err != nil {
				return err
			}
			if folder, err = race.Export(g, view); err != nil {
				return err
			}
			defer os.RemoveAll(folder)
		}
		for _, m := range f.models {
			var lanes []*race.Lane
			for _, keepRate := range f.keepRates {
				some, err := f.lanes(self, data, folder, m, keepRate)
				if err != nil {
					return err
				}
				lanes = append(lanes, some...)
			}
			note := c.ErrOrStderr()
			fmt.Fprintf(note, "%s, %s, keep rates %v: %d contenders\n", data, m, f.keepRates, len(lanes))
			for _, l := range lanes {
				l.Ready = func(l *race.Lane) {
					if l.Backend != "" {
						fmt.Fprintf(note, "backend: %s\n", l.Backend)
					}
				}
			}
			if err := race.Run(c.Context(), lanes, f.rounds, f.epochs, race.Silence); err != nil {
				return err
			}
			lines = append(lines, lanes...)
		}
	}
	if err := f.print(c.OutOrStdout(), lines); err != nil {
		return err
	}
	failed := 0
	for _, l := range lines {
		if l.Error != "" {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d contenders failed: what was printed says why", failed, len(lines))
	}
	return nil
}

// lanes are the contenders for one model on one data set; the first is what the others are compared with.
func (f *benchFlags) lanes(self, data, folder, m string, keepRate float64) ([]*race.Lane, error) {
	s, err := hyper.For(m)
	if err != nil {
		return nil, err
	}
	s = s.WithMasking(hyper.KeepRate(keepRate))
	about := race.Lane{Data: data, Model: m, KeepRate: keepRate}
	var lanes []*race.Lane
	for _, b := range f.backends {
		l := about
		l.Library = "nodemask " + b
		l.Command = []string{self, "bench", "contender", "--backend", b, "--data", data, "--model", m, "--keep-rate",
			fmt.Sprint(keepRate)}
		lanes = append(lanes, &l)
	}
	for _, p := range f.peers {
		python, library, _ := strings.Cut(p, "=")
		if !slices.Contains(peerModels[library], m) {
			continue
		}
		l := about
		l.Library = library
		l.Command = []string{python, f.peersScript, library, "--data", folder, "--model", m, "--keep-rate",
			fmt.Sprint(keepRate),
			"--threads", strconv.Itoa(f.threads), "--layers", strconv.Itoa(s.Layers), "--hidden", strconv.Itoa(s.Hidden),
			"--mlp-layers", strconv.Itoa(s.MLPLayers), "--heads", strconv.Itoa(max(s.Heads, 1)),
			"--dropout", fmt.Sprint(s.Dropout), "--attention-dropout", fmt.Sprint(s.AttentionDropout),
			"--learning-rate", fmt.Sprint(s.LearningRate), "--weight-decay", fmt.Sprint(s.WeightDecay)}
		lanes = append(lanes, &l)
	}
	return lanes, nil
}

// print shows what was measured, ratios being to the first contender of the same model and data.
func (f *benchFlags) print(out io.Writer, lanes []*race.Lane) error {
	if f.json {
		lines := json.NewEncoder(out)
		for _, l := range lanes {
			if err := lines.Encode(l); err != nil {
				return fmt.Errorf("writing the result: %w", err)
			}
		}
		return nil
	}
	t := plots.Table{ID: "bench", TextColumns: 2, Header: []string{"data", "model", "keep rate", "", "ms an epoch",
		"ratio", "with validation", "first epoch s", "peak MB"}}
	var first *race.Lane
	for i, l := range lanes {
		if first == nil || first.Data != l.Data || first.Model != l.Model || first.KeepRate != l.KeepRate {
			if first != nil {
				t.Groups = append(t.Groups, i)
			}
			first = l
		}
		row := plots.Fields(l.Data, l.Model, fmt.Sprint(l.KeepRate), l.Library)
		if l.Error != "" {
			t.Rows = append(t.Rows, append(row, plots.Fields(l.Error, "", "", "", "")...))
			continue
		}
		ratio := ""
		if first.Error == "" {
			ratio = fmt.Sprintf("%.1f", stats.Median(l.Train)/stats.Median(first.Train))
		}
		t.Rows = append(t.Rows, append(row, plots.Fields(spread(l.Train), ratio, spread(l.Validate),
			fmt.Sprintf("%.1f", l.FirstEpoch), fmt.Sprintf("%.0f", l.PeakMB))...))
	}
	return printTable(out, t, f.markdown)
}

func spread(x []float64) string { return fmt.Sprintf("%.1f (%.1f)", stats.Median(x), slices.Min(x)) }

// newContenderCommand is one contender of ours: it speaks the protocol of [race.Lane] on its standard input and output.
func newContenderCommand() *cobra.Command {
	var backendID, data, m string
	var keepRate float64
	c := &cobra.Command{Use: "contender", Hidden: true}
	c.Flags().StringVar(&backendID, "backend", "xla:cpu", "")
	c.Flags().StringVar(&data, "data", "cora", "")
	c.Flags().StringVar(&m, "model", "gin", "")
	c.Flags().Float64Var(&keepRate, "keep-rate", 1, "")
	c.RunE = func(c *cobra.Command, _ []string) error {
		b, err := backend.Open(backendID)
		if err != nil {
			return err
		}
		b.KeepMemory()
		g, view, err := benchView(c.Context(), data)
		if err != nil {
			return err
		}
		s, err := hyper.For(m)
		if err != nil {
			return misuse{err}
		}
		s = s.WithMasking(hyper.KeepRate(keepRate))
		if err := s.Check(); err != nil {
			return misuse{err}
		}
		begin := time.Now()
		trainer, err := train.New(b, nmgnn.Build(s, g.NumClasses()), g, view, train.OptionsOf(s, view))
		if err != nil {
			return err
		}
		defer trainer.Close()
		if _, err := trainer.TimeEpochs(c.Context(), 1, true); err != nil {
			return err
		}
		out := json.NewEncoder(c.OutOrStdout())
		err = out.Encode(map[string]any{"ready": true, "library": "nodemask " + backendID, "version": record.Version(),
			"backend": b.Summary(), "first_epoch_s": time.Since(begin).Seconds()})
		if err != nil {
			return err
		}
		return race.Compete(c.Context(), c.InOrStdin(), out, trainer.TimeEpochs)
	}
	return c
}

// benchView is what all contenders train on.
func benchView(ctx context.Context, data string) (*datasets.Graph, *datasets.View, error) {
	g, err := datasets.Open(ctx, data, openOptions(""))
	if err != nil {
		return nil, nil, dataError(err)
	}
	split, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: 10, Seed: 1})
	if err != nil {
		return nil, nil, err
	}
	view, err := datasets.NewView(g, split, datasets.Transductive, datasets.AllEdges)
	return g, view, err
}
