package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/aggtree"
	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/explain"
	"nodemask/plots"
)

// explainFlags are the flags of explain.
type explainFlags struct {
	model, data, dataDir, class, output, backend string
	nodes                                        []string
	masks, limit                                 int
	seed                                         uint64
	json                                         bool
}

func newExplainCommand() *cobra.Command {
	var f explainFlags
	c := &cobra.Command{
		Use:   "explain",
		Short: "Say why a saved model gives a node its class: what each branch of its aggregation tree adds",
		Long: `Say why a saved model gives a node its class: what each branch of its aggregation tree adds, and each feature.

A graph neural network sums over paths, and a branch of the tree is one: a neighbour that is reached on two ways is two
branches. Each is masked, as in training: its parent does not hear it. The share of a branch is its Shapley value, what
the logit gains by it on average over random masks of all others; shares and the logit of the node alone add up to the
logit. They are exact where at most --masks masks differ, and else estimated, with standard errors. Beside them stand
what the logit loses when this branch alone is masked, and gains when it alone is heard. What a feature of the node
changes is found by setting it to 0.

An output in .html or .svg has the tree: an edge's colour is the sign of its share, and its width the size.
docs/EXPLAIN.md says how good this is, and what others do.`,
		Example: `  nodemask train --data cora --train 50 --keep-rate 0.5 --save-model cora.safetensors
  nodemask explain --data cora --model cora.safetensors --node 17
  nodemask explain --data cora --model cora.safetensors --node 17 --class Theory -o why.html
  nodemask explain --data cora --model cora.safetensors --node 3,17 --json > why.jsonl`,
	}
	flags := c.Flags()
	addSavedModel(flags, &f.model)
	addData(flags, &f.data, &f.dataDir)
	flags.StringSliceVar(&f.nodes, "node", nil, "node to explain, by its number from 0 or its id; several with --json, "+
		"separated by commas")
	flags.StringVar(&f.class, "class", "", "class whose logit is explained, by its name or number (default: the predicted one)")
	flags.IntVar(&f.masks, "masks", explain.DefaultMasks, "masks to compute for the shares, at most")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the random orders where not all masks are computed")
	flags.IntVar(&f.limit, "limit", explain.DefaultLimit, "largest tree to explain, in tree nodes")
	flags.BoolVar(&f.json, "json", false, "print all of it, a line of JSON a node")
	addOutput(flags, &f.output, "", "page or picture to write, .html or .svg (default: text on the terminal)")
	addBackend(flags, &f.backend, "go")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := f.misuse(); err != nil {
			return err
		}
		return f.run(c)
	}
	return c
}

// misuse checks what can be checked without files.
func (f *explainFlags) misuse() error {
	format := strings.ToLower(filepath.Ext(f.output))
	switch {
	case f.model == "":
		return misusef("--model is missing: expected a file")
	case len(f.nodes) == 0:
		return misusef("--node is missing: expected a node")
	case len(f.nodes) > 1 && !f.json:
		return misusef("--node: %d nodes: expected one, or --json", len(f.nodes))
	case f.masks < 1:
		return misusef("--masks %d: expected at least 1", f.masks)
	case f.limit < 1:
		return misusef("--limit %d: expected a number of tree nodes", f.limit)
	case f.json && f.output != "":
		return misusef("--json and --output: expected one of them")
	case f.output != "" && format != ".html" && format != ".svg":
		return misusef("--output %s: expected a name that ends in .html or .svg", f.output)
	}
	return nil
}

func (f *explainFlags) run(c *cobra.Command) error {
	m, g, err := openModelAndGraph(c, f.model, f.data, f.dataDir)
	if err != nil {
		return err
	}
	b, err := openBackend(c.ErrOrStderr(), f.backend)
	if err != nil {
		return err
	}
	var roots []int32
	for _, id := range f.nodes {
		v, err := nodeOf("--node", id, f.data, g)
		if err != nil {
			return err
		}
		roots = append(roots, v)
	}
	out := bufio.NewWriter(c.OutOrStdout())
	for _, root := range roots {
		view, err := f.view(c, b, m, g, root)
		if err != nil {
			return err
		}
		switch {
		case f.json:
			err = view.WriteJSON(plainJSON{out})
		case strings.EqualFold(filepath.Ext(f.output), ".svg"):
			return writeFile(f.output, view.WriteSVG)
		case f.output != "":
			return writeFile(f.output, func(w io.Writer) error { return view.WriteHTML(w) })
		default:
			var text string
			text, err = view.Text(plots.FormatText)
			fmt.Fprint(out, text)
		}
		if err := errors.Join(err, out.Flush()); err != nil {
			return err
		}
	}
	return nil
}

// view explains one node.
func (f *explainFlags) view(c *cobra.Command, b *backend.Backend, m *cached.Model, g *datasets.Graph,
	root int32) (explain.View, error) {
	o := explain.Options{Masks: f.masks, Seed: f.seed, Limit: f.limit}
	if f.class != "" {
		class := slices.Index(m.Classes, f.class)
		if number, err := strconv.Atoi(f.class); class < 0 && err == nil && number >= 0 && number < len(m.Classes) {
			class = number
		} else if class < 0 {
			return explain.View{}, misusef("--class %s: expected one of %q, or its number", f.class, m.Classes)
		}
		o.Class = &class
	}
	e, err := explain.Node(c.Context(), b, m.Network(), g, root, o)
	var tooLarge *aggtree.TooLargeError
	if errors.As(err, &tooLarge) {
		return explain.View{}, fmt.Errorf("the aggregation tree of node %d has %s nodes, but the limit is %d: raise --limit",
			root, atLeast(tooLarge.Counts.Total), tooLarge.Limit)
	}
	return explain.View{Explanation: e, Graph: g, Model: m,
		Features: graphFeatureNames(f.data, f.dataDir, m.Features)}, err
}
