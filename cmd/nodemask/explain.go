package main

import (
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/nmgnn/explain"
)

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
	usual, _ := explain.Options{}.Complete()
	addSavedModel(flags, &f.model)
	addData(flags, &f.data, &f.dataDir)
	flags.StringSliceVar(&f.nodes, "node", nil, "node to explain, by its id, or else its number from 0; several with --json, "+
		"separated by commas")
	flags.StringVar(&f.class, "class", "",
		"class whose logit is explained, by its name or number (default: the predicted one)")
	flags.IntVar(&f.masks, "masks", usual.Masks,
		"most masks to compute for the shares: at least 16 for each branch where not all can be computed")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the random orders where not all masks are computed")
	flags.IntVar(&f.limit, "limit", usual.Limit, "largest tree to explain, in tree nodes")
	flags.BoolVar(&f.json, "json", false, "print all of it, a line of JSON a node")
	addOutput(flags, &f.output, "", "page or picture to write, too, .html or .svg")
	addBackend(flags, &f.backend, "go")
	_, _ = c.MarkFlagRequired("model"), c.MarkFlagRequired("node")
	c.MarkFlagsMutuallyExclusive("json", "output")
	c.RunE = f.run
	return c
}

func (f *explainFlags) misuse() error {
	if len(f.nodes) > 1 && !f.json {
		return misusef("--node: %d nodes: expected one, or --json", len(f.nodes))
	}
	if _, err := (explain.Options{Masks: f.masks, Limit: f.limit}).Complete(); err != nil {
		return misuse{err}
	}
	return checkEnding(f.output, ".html", ".svg")
}

func (f *explainFlags) run(c *cobra.Command, _ []string) error {
	if err := f.misuse(); err != nil {
		return err
	}
	if err := checkWritable("output", f.output); err != nil {
		return err
	}
	ctx, notes := c.Context(), c.ErrOrStderr()
	m, g, err := openModelAndGraph(ctx, notes, f.model, f.data, f.dataDir)
	if err != nil {
		return err
	}
	o := explain.Options{Masks: f.masks, Seed: f.seed, Limit: f.limit}
	if f.class != "" {
		class := slices.Index(m.Classes, f.class)
		if number, err := strconv.Atoi(f.class); class < 0 && err == nil && number >= 0 && number < len(m.Classes) {
			class = number
		}
		if class < 0 {
			return misusef("--class %s: expected one of %q, or a number from 0 to %d", f.class, m.Classes, len(m.Classes)-1)
		}
		o.Class = &class
	}
	var roots []int32
	for _, id := range f.nodes {
		root, err := nodeOf(notes, "--node", id, f.data, g)
		if err != nil {
			return err
		}
		roots = append(roots, root)
	}
	b, err := openBackend(notes, f.backend)
	if err != nil {
		return err
	}
	for _, root := range roots {
		e, err := explain.Node(ctx, b, m.Network(), g, root, o)
		if err != nil {
			return err
		}
		if err := f.write(c.OutOrStdout(), explain.View{Explanation: e, Graph: g, Model: m}); err != nil {
			return err
		}
	}
	return nil
}

func (f *explainFlags) write(w io.Writer, v explain.View) error {
	if f.json {
		return v.WriteJSON(plainJSON{w})
	}
	text, err := v.Text()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	switch strings.ToLower(filepath.Ext(f.output)) {
	case ".svg":
		return writeFile(f.output, v.WriteSVG)
	case ".html":
		return writeFile(f.output, v.WriteHTML)
	}
	return nil
}
