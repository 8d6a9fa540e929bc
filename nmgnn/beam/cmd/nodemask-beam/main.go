// Command nodemask-beam runs saved models over graphs too large for one machine, as Apache Beam pipelines.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/spf13/cobra"

	"nodemask/nmgnn/beam/internal/layerwise"
	"nodemask/nmgnn/cached"
)

// misuse marks a usage error, which exits with 2 instead of 1.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

func misusef(format string, args ...any) error { return misuse{fmt.Errorf(format, args...)} }

func main() {
	// Beam's runner starts this program again as a worker, with Beam's flags only; beam.Init then never returns.
	layerwise.Register()
	if len(os.Args) > 1 && (os.Args[1] == "--worker" || os.Args[1] == "--worker=true") {
		flag.Parse()
		beam.Init()
	}
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // so that a second interrupt kills the program
	root := newRootCommand()
	root.SetArgs(args)
	// Beam leaves behind one temporary folder per pipeline. This folder holds them all, and is removed at the end.
	folder, err := os.MkdirTemp("", "nodemask-beam-*")
	if err == nil {
		defer os.RemoveAll(folder)
		err = os.Setenv("TMPDIR", folder)
	}
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "nodemask-beam:", err)
	var m misuse
	if errors.As(err, &m) {
		return 2
	}
	return 1
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "nodemask-beam",
		Short: "Run saved models over graphs that are too large for one machine, as pipelines of Apache Beam",
		Long: `Run saved models over graphs that are too large for one machine, as pipelines of Apache Beam.

Without further flags pipelines run in this process, on Prism. --runner and Beam's other flags choose another runner.
All files and folders must be there for every worker, at the same path.`,
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if err := c.ValidateRequiredFlags(); err != nil { // without this call, the exit code would be 1, not 2
				return misuse{err}
			}
			beamlog.SetupLogging("error", "text")
			beam.Init()
			return nil
		},
	}
	root.PersistentFlags().AddGoFlagSet(flag.CommandLine)
	flag.CommandLine.VisitAll(func(f *flag.Flag) {
		if f.Name != "runner" {
			_ = root.PersistentFlags().MarkHidden(f.Name)
		}
	})
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return misuse{err} })
	root.AddCommand(newEmbedCommand(), newPredictCommand())
	root.CompletionOptions.DisableDefaultCmd = true
	return root
}

type options struct {
	model, output string
	shards        int
}

func newCommand(c *cobra.Command, do func(o options, m *cached.Model, out layerwise.Output) error) {
	var o options
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.model, "model", "", "model that 'nodemask train --save-model' wrote")
	flags.StringVarP(&o.output, "output", "o", "", "folder for the output, nodes-00000-of-00008.csv and so on")
	flags.IntVar(&o.shards, "shards", 8, "files that a step writes; a worker holds one for each processor in memory")
	_, _ = c.MarkFlagRequired("model"), c.MarkFlagRequired("output")
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error {
		if o.shards < 1 {
			return misusef("--shards %d: expected 1 or more", o.shards)
		}
		m, err := cached.LoadModel(o.model)
		if err != nil {
			return err
		}
		return do(o, m, layerwise.Output{Folder: absolute(o.output)})
	}
}

func newEmbedCommand() *cobra.Command {
	var data, work, layer string
	c := &cobra.Command{
		Use:   "embed",
		Short: "Compute every node of a graph, layer by layer",
		Long: `Compute every node of a graph, layer by layer.

The graph is nodes.csv and edges.csv in a folder, or shards nodes-….csv and edges-….csv:
nodes have an id, a label, which may be missing, and features; edges have a source and a target. A row of the output is
what 'nodemask predict --all' writes: id, class if it is known, predicted class, its probability, and the numbers of a layer.

--work keeps what each step has written: started again after it was cut off, the command goes on behind the last step
that was done.`,
		Example: "  nodemask-beam embed --model m.safetensors --data graph --work work --output out",
	}
	newCommand(c, func(o options, m *cached.Model, out layerwise.Output) (err error) {
		if layer != "logits" {
			if out.Layer, err = strconv.Atoi(layer); err != nil || out.Layer < 1 || out.Layer > m.Settings.Layers {
				return misusef("--layer %s: expected logits, or 1 to %d", layer, m.Settings.Layers)
			}
		}
		in, err := layerwise.Find(data)
		if err != nil {
			return misusef("--data %w", err)
		}
		counts, err := layerwise.Embed(c.Context(), m, in, out,
			layerwise.Options{Work: absolute(work), Shards: o.shards, Progress: progress(c.ErrOrStderr())})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.ErrOrStderr(), "%d nodes, %d edges\n", counts.Nodes, counts.Edges)
		return err
	})
	c.Flags().StringVar(&data, "data", "", "folder of the graph")
	c.Flags().StringVar(&work, "work", "", "folder for what is between steps")
	c.Flags().StringVar(&layer, "layer", "logits", "whose output: logits, or a number from 1 on")
	_, _ = c.MarkFlagRequired("data"), c.MarkFlagRequired("work")
	return c
}

func progress(w io.Writer) func(string, bool) {
	begin := time.Now()
	return func(step string, before bool) {
		if before {
			fmt.Fprintf(w, "%s: done before\n", step)
		} else {
			fmt.Fprintf(w, "%s: %.1f s\n", step, time.Since(begin).Seconds())
		}
		begin = time.Now()
	}
}

func newPredictCommand() *cobra.Command {
	var nodes, edges string
	c := &cobra.Command{
		Use:   "predict",
		Short: "Predict nodes that arrive after training, from a model saved with its cache",
		Long: `Predict nodes that arrive after training, from a model that 'nodemask train --save-cache' saved with its cache.

Files are those of 'nodemask predict', CSV, one each or several by a pattern. A row of the output has the
id, the predicted class, its probability, how many train nodes ("neighbours") and new nodes ("arrivals") it was computed
from, and the logits. What is between steps lies in the output's folder, and is removed.`,
		Example: "  nodemask-beam predict --model m.safetensors --nodes 'new-nodes-*.csv' " +
			"--edges 'new-edges-*.csv' --output out",
	}
	newCommand(c, func(o options, m *cached.Model, out layerwise.Output) (err error) {
		a := layerwise.Arrivals{Cache: absolute(o.model)}
		if a.Nodes, err = layerwise.Expand(nodes); err != nil {
			return misusef("--nodes %w", err)
		}
		if a.Edges, err = layerwise.Expand(edges); err != nil {
			return misusef("--edges %w", err)
		}
		return layerwise.Predict(c.Context(), m, a, out, layerwise.Options{Shards: o.shards})
	})
	c.Flags().StringVar(&nodes, "nodes", "", "files of the new nodes: a name, or a pattern in quotes")
	c.Flags().StringVar(&edges, "edges", "", "files of their edges")
	_, _ = c.MarkFlagRequired("nodes"), c.MarkFlagRequired("edges")
	return c
}

func absolute(path string) string {
	whole, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return whole
}
