package datasets

import (
	"context"
	"errors"
	"os"
	"strings"
)

// The functions below join Open to the Planetoid reader, the embedded graphs and the generators.

func openPlanetoid(ctx context.Context, dir, name string) (*Graph, error) {
	g, err := ReadPlanetoid(ctx, os.DirFS(dir), name)
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
	if strings.HasPrefix(name, "reddit-like") {
		p, err := readParameters(name, redditLikeParameters())
		if err != nil {
			return nil, err
		}
		return RedditLike(p["scale"], uint64(p["seed"]))
	}
	p, err := readParameters(name, sbmParameters())
	if err != nil {
		return nil, err
	}
	return SBM(SBMOptions{Nodes: int(p["nodes"]), Classes: int(p["classes"]), MeanDegree: p["degree"], Seed: uint64(p["seed"])})
}
