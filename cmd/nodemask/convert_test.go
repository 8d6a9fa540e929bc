package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/cached"
)

func TestOldModelsAndCachesAreNamedByPredictAndReadOnceConverted(t *testing.T) {
	old := filepath.Join("..", "..", "nmgnn", "cached", "testdata", "old")
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	nodes, edges := file("nodes.csv", "id,a,b,c,d\nnew,1,0,1,0\n"), file("edges.csv", "source,target\n")
	predict := func(model, cache string) (int, string, string) {
		return nodemask(t, "predict", "--backend", "go", "--model", model, "--cache", cache, "--nodes", nodes, "--edges", edges)
	}
	oldModel, oldCache := filepath.Join(old, "gatv2.model"), filepath.Join(old, "gatv2.cache")
	model, cache := filepath.Join(dir, "model.safetensors"), filepath.Join(dir, "cache.safetensors")
	code, _, errs := predict(oldModel, oldCache)
	require.Equal(t, 1, code)
	require.Equal(t, "nodemask: "+oldModel+": byte 0: nodemask 0.3 or older wrote this: run 'nodemask convert "+oldModel+" NEW.safetensors' once and name the new file\n", errs)

	code, out, errs := nodemask(t, "convert", oldModel, model)
	require.Zero(t, code, errs)
	require.Empty(t, out)
	require.Equal(t, "converted the model in "+oldModel+" to "+model+"\n", errs)
	code, _, errs = predict(model, oldCache)
	require.Equal(t, 1, code)
	require.Contains(t, errs, "run 'nodemask convert "+oldCache+" NEW.safetensors' once")
	code, _, errs = nodemask(t, "convert", oldCache, cache)
	require.Zero(t, code, errs)
	code, out, errs = predict(model, cache)
	require.Zero(t, code, errs)
	require.Contains(t, out, `"id":"new"`)

	for _, path := range []string{model, nodes} {
		code, _, errs = nodemask(t, "convert", path, filepath.Join(dir, "again"))
		require.Equal(t, 1, code)
		require.Contains(t, errs, path+": byte 0: this is not a file of nodemask 0.3 or older")
	}
	require.NoFileExists(t, filepath.Join(dir, "again"))
}

func TestACacheIsSavedBeforeItsModelAndAnotherModelDoesNotTakeIt(t *testing.T) {
	dir := smallGraph(t)
	model, cache := filepath.Join(dir, "model.safetensors"), filepath.Join(dir, "cache.safetensors")
	train := func(seed string) (order []string) {
		code, _, errs := nodemask(t, quickTrain(dir, "--seed", seed, "--save-model", model, "--save-cache", cache)...)
		require.Zero(t, code, errs)
		for line := range strings.Lines(errs) {
			if strings.HasPrefix(line, "saved the ") {
				order = append(order, strings.Fields(line)[2])
			}
		}
		return order
	}
	require.Equal(t, []string{"cache", "model"}, train("1"))
	before, err := os.ReadFile(model)
	require.NoError(t, err)
	require.Equal(t, []string{"cache", "model"}, train("100"))
	require.NoError(t, os.WriteFile(model, before, 0o666)) // as if the second run had ended between the two
	m, err := cached.LoadModel(model)
	require.NoError(t, err)
	_, err = cached.LoadCache(cache, m)
	require.ErrorContains(t, err, cache+": the cache of model ")
	require.ErrorContains(t, err, ", not of this one ("+m.Fingerprint()+"): save both from the same training run, and to the end")
}
