package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"nodemask/nmgnn/cached"
)

func newConvertCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "convert OLD NEW",
		Short: "Convert a model or a cache that nodemask 0.3 or older saved to safetensors",
		Long: `Convert a model or a cache that nodemask 0.3 or older saved to safetensors, which all other commands read.

A model and its cache are converted one after the other, and still belong together. OLD stays as it is.`,
		Example: `  nodemask convert cora.model cora.safetensors
  nodemask convert cora.cache cora-cache.safetensors`,
		Args: misuseArgs(cobra.ExactArgs(2)),
	}
	c.RunE = func(c *cobra.Command, args []string) error { return convert(c, args[0], args[1]) }
	return c
}

func convert(c *cobra.Command, from, to string) error {
	if info, err := os.Stat(filepath.Dir(to)); err != nil || !info.IsDir() {
		return misusef("%s: there is no folder %s", to, filepath.Dir(to))
	}
	if samePlace(from, to) {
		return misusef("%s: OLD and NEW are the same file: expected another name", to)
	}
	kind, err := cached.Convert(from, to)
	var path *fs.PathError
	if errors.As(err, &path) && path.Path == from {
		return fmt.Errorf("%s: %w", from, path.Err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "converted the %s in %s to %s\n", kind, from, to)
	return nil
}
