//go:build cgo && linux && amd64

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEachKernelHasBoundsThatCanBeRead(t *testing.T) {
	bounds, err := readBounds("bounds.tsv")
	require.NoError(t, err)
	g, err := open("cora")
	require.NoError(t, err)
	for _, k := range kernelsOf(g) {
		for _, gpu := range []string{"h100", "a100"} {
			require.Contains(t, bounds, "cora "+k.name+" alone "+gpu)
		}
	}
}
