package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/cached"
)

func TestACacheIsSavedBeforeItsModelAndAnotherModelDoesNotTakeIt(t *testing.T) {
	dir := smallGraph(t)
	model, cache := filepath.Join(dir, "model.safetensors"), filepath.Join(dir, "cache.safetensors")
	train := func(seed string) (order []string) {
		_, errs := succeeds(t, quickTrain(dir, "--seed", seed, "--save-model", model, "--save-cache", cache)...)
		for line := range strings.Lines(errs) {
			if strings.HasPrefix(line, "saved the ") {
				order = append(order, strings.Fields(line)[2])
			}
		}
		return order
	}
	require.Equal(t, []string{"cache", "model"}, train("1"))
	before := fileText(t, model)
	require.Equal(t, []string{"cache", "model"}, train("100"))
	require.NoError(t, os.WriteFile(model, []byte(before), 0o666)) // as if the second run had ended between the two
	m, err := cached.LoadModel(model)
	require.NoError(t, err)
	_, err = cached.LoadCache(cache, m)
	require.ErrorContains(t, err, cache+": the cache of model ")
	require.ErrorContains(t, err,
		", not of this one ("+m.Fingerprint()+"): save both from the same training run, and to the end")
}
