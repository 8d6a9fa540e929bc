package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/internal/race"
	"nodemask/plots"
)

// benchBatchesFlags are the flags of bench batches.
type benchBatchesFlags struct {
	data, ways []string
	keepRates  []float64
	model      string
	backend    string
	epochs     int
	markdown   bool
}

func newBenchBatchesCommand() *cobra.Command {
	f := benchBatchesFlags{}
	c := &cobra.Command{
		Use:   "batches",
		Short: "Compare training on whole graphs, in clusters with cached representations, and on sampled neighbours",
		Long: `Compare training on whole graphs, in clusters with cached representations, and on sampled neighbours: macro F1, seconds and the most
memory that the process had.

Each line is one trial in a process of its own, one after the other, transductively with 10 % of the nodes to train on. Seconds are
those of the trial, and those of the processor for the whole process, loading included, which other programs disturb less.`,
		Example: `  nodemask bench batches --data pubmed --ways "--batches 1;--batches 4;--batches 4 --sample 10,10" --epochs 50 --markdown`,
		Args:    misuseArgs(cobra.NoArgs),
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringSliceVar(&f.data, "data", []string{"pubmed"}, "data sets")
	ways := flags.String("ways", "--batches 1;--batches 4;--batches 4 --sample 10,10", "ways to train, between semicolons: flags of 'nodemask train'")
	flags.Float64SliceVar(&f.keepRates, "keep-rates", []float64{1, 0.5}, "keep rates of node masking; 1 is off")
	flags.StringVar(&f.model, "model", "gin", "model")
	flags.StringVar(&f.backend, "backend", "xla:cpu", backendHelp)
	flags.IntVar(&f.epochs, "epochs", 1000, "most epochs of a trial")
	flags.BoolVar(&f.markdown, "markdown", false, "print the table as Markdown")
	c.RunE = func(c *cobra.Command, _ []string) error {
		f.ways = strings.Split(*ways, ";")
		if f.epochs < 1 {
			return misusef("--epochs %d: expected at least 1", f.epochs)
		}
		return f.run(c)
	}
	return c
}

// trialLine is what bench batches reads of a trial.
type trialLine struct {
	MacroF1 float64 `json:"macro_f1"`
	Epochs  int     `json:"epochs"`
	Seconds float64 `json:"seconds"`
}

func (f *benchBatchesFlags) run(c *cobra.Command) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	t := plots.Table{ID: "bench-batches", TextColumns: 2, Header: []string{"data", "", "keep rate", "macro F1 %", "epochs", "seconds", "of a processor", "peak MB"}}
	for _, data := range f.data {
		if len(t.Rows) > 0 {
			t.Groups = append(t.Groups, len(t.Rows))
		}
		for _, way := range f.ways {
			for _, keepRate := range f.keepRates {
				row, err := f.trial(c.Context(), self, data, strings.TrimSpace(way), keepRate)
				if err != nil {
					return err
				}
				fmt.Fprintf(c.ErrOrStderr(), "%s, %s, keep rate %v: %s %% in %s s, %s MB\n", data, way, keepRate, row[0], row[2], row[4])
				t.Rows = append(t.Rows, fields(append([]string{data, strings.TrimSpace(way), fmt.Sprint(keepRate)}, row...)...))
			}
		}
	}
	if !f.markdown {
		return printTable(c.OutOrStdout(), t)
	}
	text, err := t.Render(plots.FormatMarkdown)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(c.OutOrStdout(), text)
	return err
}

// trial runs one in a process of its own.
func (f *benchBatchesFlags) trial(ctx context.Context, self, data, way string, keepRate float64) ([]string, error) {
	arguments := []string{"train", "--backend", f.backend, "--data", data, "--model", f.model, "--setting", "transductive", "--train", "10", "--trials", "1",
		"--keep-rate", fmt.Sprint(keepRate), "--max-epochs", fmt.Sprint(f.epochs), "--json"}
	arguments = append(arguments, strings.Fields(way)...)
	var out, problems bytes.Buffer
	command := exec.CommandContext(ctx, self, arguments...)
	command.Stdout, command.Stderr = &out, &problems
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("nodemask %s: %w: %s", strings.Join(arguments, " "), err, strings.TrimSpace(problems.String()))
	}
	var line trialLine
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		return nil, fmt.Errorf("nodemask %s printed %.80q: %w", strings.Join(arguments, " "), out.String(), err)
	}
	processor, peak := race.Used(command.ProcessState)
	return []string{fmt.Sprintf("%.2f", line.MacroF1), fmt.Sprint(line.Epochs), fmt.Sprintf("%.1f", line.Seconds), fmt.Sprintf("%.1f", processor.Seconds()), fmt.Sprintf("%.0f", peak)}, nil
}
