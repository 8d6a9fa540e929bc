package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"nodemask/datasets"
	"nodemask/nmgnn/cached"
)

func newPredictCommand() *cobra.Command {
	var model, cache, nodes, edges, backendID string
	var apart bool
	c := &cobra.Command{
		Use:   "predict",
		Short: "Predict nodes that arrive after training, from a saved model and its cache",
		Long: `Predict nodes that arrive after training, from a saved model and its cache, one line of JSON a node.

A new node is computed from its own features, from what the cache keeps of the train nodes next to it, and from the new
nodes next to it as they are computed; the graph is not needed any more. With --apart each new node is computed as if it
arrived alone: edges among new nodes are left out. Both files are CSV with a header: nodes have an id and the features
that the model was trained with, in their order or under the names that they had in nodes.csv; edges have a source and a
target, ids in either order. Each line of JSON has the id, the class and its probability, and how many train nodes
("neighbours") and new nodes ("arrivals") it was computed from.

The cache may be larger than memory: it is read through once at the start, and then where new nodes need it.`,
		Example: "  nodemask train --data cora --train 50 --keep-rate 0.5 --save-model cora.safetensors --save-cache " +
			"cora-cache.safetensors\n  nodemask predict --model cora.safetensors --cache cora-cache.safetensors --nodes " +
			"new-nodes.csv --edges new-edges.csv",
	}
	flags := c.Flags()
	addSavedModel(flags, &model)
	flags.StringVar(&cache, "cache", "", "cache that 'nodemask train --save-cache' wrote in the same run")
	flags.StringVar(&nodes, "nodes", "", "CSV file of the new nodes")
	flags.StringVar(&edges, "edges", "", "CSV file of their edges")
	flags.BoolVar(&apart, "apart", false, "leave out edges among new nodes")
	addBackend(flags, &backendID, "")
	c.RunE = func(c *cobra.Command, _ []string) error {
		for _, name := range []string{"model", "cache", "nodes", "edges"} {
			if !flags.Changed(name) {
				return misusef("--%s is missing: expected a file", name)
			}
		}
		return predict(c, model, cache, nodes, edges, backendID, apart)
	}
	return c
}

func predict(c *cobra.Command, modelFile, cacheFile, nodesFile, edgesFile, backendID string, apart bool) error {
	m, err := cached.LoadModel(modelFile)
	if err != nil {
		return fileError("model", modelFile, err)
	}
	kept, err := cached.LoadCache(cacheFile, m)
	if err != nil {
		return fileError("cache", cacheFile, err)
	}
	defer kept.Close()
	b, err := openBackend(c.ErrOrStderr(), backendID)
	if err != nil {
		return err
	}
	p, err := cached.NewPredictor(b, m, kept)
	if err != nil {
		return err
	}
	defer p.Close()
	header := cached.Header(nodesFile)
	if header != nil {
		if err := m.Lacks(header, nodesFile); err != nil {
			return err
		}
	}
	newcomers, err := datasets.ReadNewcomers(c.Context(), nodesFile, edgesFile, m.Features, p.Known)
	if err != nil {
		return fileError("nodes", nodesFile, fileError("edges", edgesFile, err))
	}
	names := cached.FeatureNames(header, m.Features)
	if newcomers.Features, err = match(m, names, newcomers.Features, nodesFile, c.ErrOrStderr()); err != nil {
		return err
	}
	if apart {
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
	if newcomers.Ignored > 0 {
		among := ""
		if apart {
			among = "among new nodes, "
		}
		fmt.Fprintf(c.ErrOrStderr(), "%d edges left out: %samong nodes that the model knew, or of a node with itself\n",
			newcomers.Ignored, among)
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s in %.2f s\n", newcomers, time.Since(begin).Seconds())
	return nil
}
