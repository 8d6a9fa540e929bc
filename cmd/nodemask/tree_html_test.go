package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTreeWritesAnInteractivePageWithTheWholeOfCora(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tree.html")
	code, out, stderr := nodemask(t, "tree", "--data", "cora", "--root", "0", "--keep-rate", "0.8", "--format", "html",
		"-o", file)
	require.Zero(t, code, stderr)
	assert.Empty(t, out)
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(page), `"nodes":2708,"entries":10556,`)
	assert.Contains(t, string(page), `"keepRate":0.8,"seed":"1"`)
	assert.Contains(t, string(page), `"classes":["Case_Based",`)
	assert.Less(t, len(page), 200_000)
}

func TestTreeRefusesInteractivePagesThatCannotBe(t *testing.T) {
	for expected, args := range map[string][]string{
		"--cached and --format html":                        {"--cached"},
		"--hops 11: expected at most 10 with --format html": {"--hops", "11"},
	} {
		code, _, stderr := nodemask(t, append([]string{"tree", "--data", "cora", "--root", "0", "--format", "html"},
			args...)...)
		assert.Equal(t, 2, code)
		assert.Contains(t, stderr, expected)
	}
}
