package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nodemask/datasets"
	"nodemask/internal/wholefile"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/onnx"
	"nodemask/paper/record"
)

type predictFlags struct {
	model, nodes, edges, backend string
	apart, skipUnknown, all      bool
	data, dataDir, layer, output string // used with --all
}

func newPredictCommand() *cobra.Command {
	var f predictFlags
	c := &cobra.Command{
		Use:   "predict",
		Short: "Predict nodes that arrive after training, or with --all every node of a graph",
		Long: `Predict nodes that arrive after training, from a saved model with its cache, one line of JSON a node.

A new node is computed from its own features, from what the cache keeps of the train nodes next to it, and from the new
nodes next to it as they are computed; the graph is not needed any more. With --apart each new node is computed as if it
arrived alone: edges among new nodes are left out. Both files are CSV with a header: nodes have an id and the features
that the model was trained with, in their order or under the names that they had in nodes.csv; edges have a source and a
target, ids in either order. Each line of JSON has the id, the class and its probability, and how many train nodes
("neighbours") and new nodes ("arrivals") it was computed from. The cache may be larger than memory.

With --all a table has every node of a graph: its id, its class if that is known, the class that the model predicts, the
probability that it gives it, and the numbers of its representation in a layer, h0, h1 and so on. Nothing is masked. The
graph may be another than the one that the model was trained on, if its nodes have as many features. What is said has
MAD, the mean cosine distance of representations: the lower, the smoother.`,
		Example: `  nodemask train --data cora --train 50 --keep-rate 0.5 --save-model cora.model --save-cache
  nodemask predict --model cora.model --nodes new-nodes.csv --edges new-edges.csv
  nodemask predict --model cora.model --all --data cora --output cora.csv
  nodemask predict --model cora.model --all --data my-graph --layer logits > nodes.csv`,
	}
	flags := c.Flags()
	addSavedModel(flags, &f.model)
	flags.StringVar(&f.nodes, "nodes", "", "CSV file of the new nodes")
	flags.StringVar(&f.edges, "edges", "", "CSV file of their edges")
	flags.BoolVar(&f.apart, "apart", false, "leave out edges among new nodes")
	flags.BoolVar(&f.skipUnknown, "skip-unknown-edges", false, "leave out edges to nodes that are neither new nor train "+
		"nodes, and say how many")
	flags.BoolVar(&f.all, "all", false, "predict every node of --data, with representations, instead of new nodes")
	addData(flags, &f.data, &f.dataDir)
	flags.StringVar(&f.layer, "layer", "hidden",
		"whose output: hidden (the last one before the logits), logits, or a number from 1 on")
	addTableOutput(flags, &f.output)
	addBackend(flags, &f.backend, "")
	_ = c.MarkFlagRequired("model")
	c.MarkFlagsOneRequired("all", "nodes")
	c.MarkFlagsRequiredTogether("nodes", "edges")
	for _, flag := range []string{"nodes", "apart", "skip-unknown-edges"} {
		c.MarkFlagsMutuallyExclusive("all", flag)
	}
	for _, flag := range []string{"data", "data-dir", "layer", "output"} {
		c.MarkFlagsMutuallyExclusive("nodes", flag)
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		if f.all {
			return f.predictAll(c)
		}
		return f.run(c)
	}
	return c
}

func (f *predictFlags) run(c *cobra.Command) error {
	m, err := cached.LoadModel(f.model)
	if err != nil {
		return fileError("model", f.model, err)
	}
	kept, err := cached.LoadCache(f.model, m)
	if err != nil {
		return fileError("model", f.model, err)
	}
	defer kept.Close()
	b, err := openBackend(c.ErrOrStderr(), f.backend)
	if err != nil {
		return err
	}
	p, err := cached.NewPredictor(b, m, kept)
	if err != nil {
		return err
	}
	defer p.Close()
	columns := datasets.FeatureColumns(c.Context(), f.nodes)
	if columns != nil {
		if err := m.Lacks(columns, f.nodes); err != nil {
			return err
		}
	}
	newcomers, err := datasets.ReadNewcomers(c.Context(), f.nodes, f.edges,
		datasets.NewcomersOptions{Width: m.Features, Known: p.Known, SkipUnknownEdges: f.skipUnknown})
	if err != nil {
		return fileError("nodes", f.nodes, fileError("edges", f.edges, err))
	}
	if newcomers.Features, err = match(m, columns, newcomers.Features, f.nodes, c.ErrOrStderr()); err != nil {
		return err
	}
	if f.apart {
		newcomers = newcomers.Apart()
	}
	out := bufio.NewWriter(c.OutOrStdout())
	lines := json.NewEncoder(plainJSON{out})
	begin := time.Now()
	if err := p.Predict(c.Context(), newcomers, func(p cached.Prediction) error { return lines.Encode(p) }); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the predictions: %w", err)
	}
	if newcomers.Skipped > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "%d edges skipped: they name nodes that are neither new nor train nodes\n",
			newcomers.Skipped)
	}
	if newcomers.Ignored > 0 {
		among := ""
		if f.apart {
			among = "among new nodes, "
		}
		fmt.Fprintf(c.ErrOrStderr(), "%d edges left out: %samong nodes that the model knew, or of a node with itself\n",
			newcomers.Ignored, among)
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s in %.2f s\n", newcomers, time.Since(begin).Seconds())
	return nil
}

func newExportCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "export MODEL",
		Short: "Write a saved model as an ONNX file, for other programs and languages to run",
		Long: `Write a saved model as an ONNX file, for other programs and languages to run: ONNX Runtime and others.

MODEL is a file that 'nodemask train --save-model' wrote. The ONNX file computes logits [nodes, classes] of any graph,
from features x [nodes, features] and edge_index [2, edges]: sources above, targets below, an undirected edge in both
directions. Nothing is masked or dropped. Features go in as the data set has them: if the model was trained on rows
divided by their sums, the file divides them. Class names and settings are in its metadata. docs/ONNX.md has an
example.`,
		Example: `  nodemask train --data cora --setting transductive --train 50 --keep-rate 0.5 --save-model cora.model
  nodemask export cora.model -o cora.onnx`,
		Args: cobra.ExactArgs(1),
	}
	addOutput(c.Flags(), &output, "", "the ONNX file (default: the model's name with .onnx)")
	c.RunE = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("output") && output == "" {
			return misusef("--output is empty: expected a file")
		}
		said, err := exportModel(args[0], output)
		if err != nil {
			return err
		}
		return say(c.ErrOrStderr(), "wrote %s", said)
	}
	return c
}

func exportModel(model, output string) (said string, err error) {
	m, err := cached.LoadModel(model)
	if err != nil {
		return "", fileError("", model, err)
	}
	if output == "" {
		output = strings.TrimSuffix(model, filepath.Ext(model)) + ".onnx"
	}
	if wholefile.Replaces(output, model) != "" {
		return "", misusef("--output %s: this is the model itself: expected another file", output)
	}
	if err := checkWritable("output", output); err != nil {
		return "", err
	}
	if err := onnx.Save(output, m, record.Version()); err != nil {
		return "", err
	}
	info, err := os.Stat(output)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: %s, %d features, %d classes, %d kB", output, hyper.Title(m.Settings.Model), m.Features,
		len(m.Classes), (info.Size()+999)/1000), nil
}
