package datasets

import (
	"context"
	"errors"
)

// The three functions below join Open to the Planetoid reader, the embedded graphs and the generators.

func readPlanetoid(ctx context.Context, dir string, name string) (*Graph, error) {
	return nil, errors.New("planetoid files cannot be read yet")
}

func openEmbedded(name string) (*Graph, error) {
	if name == "cora" {
		return Cora()
	}
	return nil, errors.New(name + " is not embedded yet")
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
