package datasets

import (
	"context"
	"errors"
	"os"
)

// The functions below join Open to the Planetoid reader, the embedded graphs and the generators.

func readPlanetoid(ctx context.Context, dir string, name string) (*Graph, error) {
	g, err := ReadPlanetoid(ctx, os.DirFS(dir), name, PlanetoidOptions{})
	if err != nil {
		return nil, err
	}
	g.Source = dir
	return g, nil
}

func openEmbedded(name string) (*Graph, error) {
	switch name {
	case "cora":
		return Cora()
	case "pubmed":
		return PubMed()
	}
	return nil, errors.New(name + " is not embedded")
}

func generate(name string) (*Graph, error) {
	known := sbmParameters()
	if name[0] == 'r' {
		known = redditLikeParameters()
	}
	if _, err := readParameters(name, known); err != nil {
		return nil, err
	}
	return nil, errors.New(name + ": no generator yet")
}
