package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTreeWritesAnInteractivePageWithTheWholeOfCora(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tree.html")
	out, _ := succeeds(t, "tree", "--data", "cora", "--root", "0", "--keep-rate", "0.8", "--format", "html",
		"-o", file)
	assert.Empty(t, out)
	page := fileText(t, file)
	assert.Contains(t, page, `"nodes":2708,"entries":10556,`)
	assert.Contains(t, page, `"keepRate":0.8,"seed":"1"`)
	assert.Contains(t, page, `"classes":["Case_Based",`)
	assert.Less(t, len(page), 200_000)
}

func TestTreeRefusesInteractivePagesThatCannotBe(t *testing.T) {
	refuses(t, []string{"tree", "--data", "cora", "--root", "0", "--format", "html"}, map[string][]string{
		"--cached and --format html":                        {"--cached"},
		"--hops 11: expected at most 10 with --format html": {"--hops", "11"},
	})
}
