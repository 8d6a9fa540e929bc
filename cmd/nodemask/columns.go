package main

import (
	"fmt"
	"io"
	"path/filepath"

	"nodemask/datasets"
	"nodemask/nmgnn/cached"
)

// graphFeatureNames returns the names of the features of a graph that --data names; nil if its format has none.
func graphFeatureNames(data, dataDir string, width int) []string {
	at, err := datasets.Locate(data, openOptions(dataDir))
	if err != nil || at.Path == "" {
		return nil
	}
	return cached.FeatureNames(cached.Header(filepath.Join(at.Path, "nodes.csv")), width)
}

// match puts features into the order in which a model was trained on them, and writes to notes if it was another.
func match(m *cached.Model, names []string, f datasets.Features, file string, notes io.Writer) (datasets.Features, error) {
	f, moved, err := m.Match(names, f, file)
	if moved && err == nil {
		_, err = fmt.Fprintf(notes,
			"%s: its features are in another order than the model was trained on: they are matched by name\n", file)
	}
	return f, err
}
