package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/spf13/cobra"

	"nodemask/datasets"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/train"
	"nodemask/stats"
)

func (f *predictFlags) predictAll(c *cobra.Command) error {
	if err := checkEnding(f.output, ".csv"); err != nil {
		return err
	}
	if err := checkWritable("output", f.output); err != nil {
		return err
	}
	m, g, err := openModelAndGraph(c.Context(), c.ErrOrStderr(), f.model, f.data, f.dataDir)
	if err != nil {
		return err
	}
	if _, err := layerOf(f.layer, m.Settings.Layers, m.Settings.Layers); err != nil {
		return err
	}
	b, err := openBackend(c.ErrOrStderr(), f.backend)
	if err != nil {
		return err
	}
	if err := (train.Experiment{Graph: g, Parameters: m.Settings}).CheckInference(b); err != nil {
		return err
	}
	var all []infer.Representation
	err = unlessInterrupted(c.Context(), func() (err error) {
		all, err = m.Network().Represent(b, g.Edges, g.Features, infer.Options{})
		return err
	})
	if err != nil {
		return err
	}
	layer, err := layerOf(f.layer, m.Settings.Layers, len(all))
	if err != nil {
		return err
	}
	h := all[layer]
	mad, err := stats.MAD(c.Context(), h.Values, h.Rows, h.Width)
	if err != nil {
		return err
	}
	if err := writeTable(c, embedded(g, m.Classes, all[len(all)-1], h), f.output); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.ErrOrStderr(), "%d nodes, %d numbers each, MAD %.4f\n", h.Rows, h.Width, mad)
	return err
}

func openModelAndGraph(ctx context.Context, notes io.Writer, model, data, dataDir string) (*cached.Model,
	*datasets.Graph, error) {
	m, err := cached.LoadModel(model)
	if err != nil {
		return nil, nil, fileError("model", model, err)
	}
	g, err := openGraph(ctx, notes, data, dataDir)
	if err != nil {
		return nil, nil, err
	}
	if g.Features.Width != m.Features {
		return nil, nil, misusef("--data %s: %d features a node: expected %d, as the model was trained with (on %s)",
			data, g.Features.Width, m.Features, m.Data)
	}
	g.Features, err = match(m, g.FeatureNames, g.Features, data, notes)
	if m.FeatureNames != nil {
		g.FeatureNames = m.FeatureNames
	}
	return m, g, err
}

func layerOf(text string, layers, outputs int) (int, error) {
	switch text {
	case "logits":
		return outputs - 1, nil
	case "hidden":
		return max(outputs-2, 0), nil // index of the last hidden output, else of the logits
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > layers {
		return 0, misusef("--layer %s: expected hidden, logits, or 1 to %d", text, layers)
	}
	return n - 1, nil
}

// embedded yields the header, then a row per node. It reuses one slice for all rows: copy a row to keep it.
func embedded(g *datasets.Graph, classes []string, logits, h infer.Representation) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		row := []string{"id", "class", "predicted", "probability"}
		for k := range h.Width {
			row = append(row, fmt.Sprintf("h%d", k))
		}
		if !yield(row) {
			return
		}
		short := func(x float32) string { return strconv.FormatFloat(float64(x), 'g', -1, 32) }
		p := logits.Softmax()
		for v, class := range logits.Classes() {
			row[0], row[1] = strconv.Itoa(v), ""
			if g.NodeIDs != nil {
				row[0] = g.NodeIDs[v]
			}
			if g.Labels != nil && g.Labels[v] != datasets.Unlabelled {
				row[1] = g.Classes[g.Labels[v]]
			}
			row[2], row[3] = classes[class], short(p.Row(v)[class])
			for k, x := range h.Row(v) {
				row[4+k] = short(x)
			}
			if !yield(row) {
				return
			}
		}
	}
}
