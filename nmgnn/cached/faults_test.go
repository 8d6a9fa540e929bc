package cached_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/internal/faults"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
)

func init() { faults.Pin() }

func TestMain(m *testing.M) {
	faults.Main(m, map[string]func(string) error{
		"save": func(folder string) error { return saveSeed(folder, 2) },
		"both": func(folder string) error { return saveBoth(folder, 2) },
	})
}

func saveSeed(folder string, seed uint64) error {
	m, err := seededModel(seed)
	if err != nil {
		return err
	}
	return m.Save(filepath.Join(folder, "model.safetensors"))
}

func seededModel(seed uint64) (*cached.Model, error) {
	settings, err := hyper.Preset("standard")
	if err != nil {
		return nil, err
	}
	values := make([]float32, 100_000)
	for i := range values {
		values[i] = float32(seed)
	}
	return &cached.Model{Settings: settings, Classes: []string{"a", "b"}, Features: 3, Data: "none", Seed: seed,
		Weights: []infer.Weight{{Path: "/" + gomlx.ModelScope + "/layer0/weights", Dimensions: []int{len(values)},
			Values: values}}}, nil
}

// saveBoth also saves a cache of one node with this many neighbours.
func saveBoth(folder string, seed uint64) error {
	m, err := seededModel(seed)
	if err != nil {
		return err
	}
	c := &cached.Cache{IDs: []string{"a"}, Degrees: []int32{int32(seed)}, Features: datasets.Features{Rows: 1, Width: 3,
		Dense: make([]float32, 3)}}
	for range m.Settings.Layers - 1 {
		c.Hidden = append(c.Hidden, infer.Representation{Rows: 1, Width: m.Settings.Hidden, Values: make([]float32,
			m.Settings.Hidden)})
	}
	return m.SaveBoth(filepath.Join(folder, "model.safetensors"), c, filepath.Join(folder, "cache.safetensors"))
}

func requirePair(t *testing.T, folder string, seeds ...uint64) {
	t.Helper()
	requireSeed(t, folder, seeds...)
	m, err := cached.LoadModel(filepath.Join(folder, "model.safetensors"))
	require.NoError(t, err)
	c, err := cached.LoadCache(filepath.Join(folder, "cache.safetensors"), m)
	require.NoError(t, err)
	require.Equal(t, []int32{int32(m.Seed)}, c.Degrees)
	require.NoError(t, c.Close())
}

func requireSeed(t *testing.T, folder string, seeds ...uint64) {
	t.Helper()
	m, err := cached.LoadModel(filepath.Join(folder, "model.safetensors"))
	require.NoError(t, err)
	require.Contains(t, seeds, m.Seed)
	require.Equal(t, float32(m.Seed), m.Weights[0].Values[99_999])
}

func TestWhateverFailsASavedModelIsTheOldOneOrTheNewOne(t *testing.T) {
	faults.Each(t, faults.Test{
		Step:    "save",
		Prepare: func(t *testing.T, folder string) { require.NoError(t, saveSeed(folder, 1)) },
		Holds: func(t *testing.T, folder string, finished bool) {
			if finished {
				requireSeed(t, folder, 2)
			} else {
				requireSeed(t, folder, 1, 2)
			}
		},
		GoesOn: func(t *testing.T, folder string) {
			require.NoError(t, saveSeed(folder, 2))
			requireSeed(t, folder, 2)
			require.Equal(t, []string{"model.safetensors"}, faults.Left(t, folder))
		},
	})
}

func TestWhateverFailsThereIsTheOldPairOrTheNewOne(t *testing.T) {
	for name, before := range map[string]func(t *testing.T, folder string){
		"a pair": func(t *testing.T, folder string) { require.NoError(t, saveBoth(folder, 1)) },
		"a pair whose save was killed": func(t *testing.T, folder string) {
			require.NoError(t, saveBoth(folder, 1))
			killedBetween(t, folder, 3)
		},
	} {
		t.Run(name, func(t *testing.T) {
			faults.Each(t, faults.Test{
				Step:    "both",
				Prepare: before,
				Holds: func(t *testing.T, folder string, finished bool) {
					if finished {
						requirePair(t, folder, 2)
					} else {
						requirePair(t, folder, 1, 2)
					}
				},
				GoesOn: func(t *testing.T, folder string) {
					require.NoError(t, saveBoth(folder, 2))
					requirePair(t, folder, 2)
					require.Equal(t, []string{"cache.safetensors", "model.safetensors"}, faults.Left(t, folder))
				},
			})
		})
	}
}

// killedBetween simulates a kill between SaveBoth's two renames.
func killedBetween(t *testing.T, folder string, seed uint64) {
	t.Helper()
	model, cache, old := filepath.Join(folder, "model.safetensors"), filepath.Join(folder, "cache.safetensors"),
		filepath.Join(folder, ".cache.safetensors.old")
	fresh := t.TempDir()
	require.NoError(t, saveBoth(fresh, seed))
	require.FileExists(t, model)
	if _, err := os.Stat(old); err != nil {
		require.NoError(t, os.Rename(cache, old))
	}
	require.NoError(t, os.Rename(filepath.Join(fresh, "cache.safetensors"), cache))
}

func TestAPairSurvivesKilledSaves(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, saveBoth(folder, 1))
	for seed := range uint64(3) {
		killedBetween(t, folder, seed+5)
		requirePair(t, folder, 1)
	}
	// An error after the kill keeps the pair, too.
	model := filepath.Join(folder, "model.safetensors")
	require.NoError(t, saveBoth(folder, 2))
	requirePair(t, folder, 2)
	require.Equal(t, []string{"cache.safetensors", "model.safetensors"}, faults.Left(t, folder))
	m, err := seededModel(2)
	require.NoError(t, err)
	require.NoError(t, os.Rename(model, model+".away"))
	require.NoError(t, os.MkdirAll(filepath.Join(model, "in the way"), 0o700)) // so that no file can replace it
	require.Error(t, saveBoth(folder, 3))
	c, err := cached.LoadCache(filepath.Join(folder, "cache.safetensors"), m)
	require.NoError(t, err, "the old cache is back")
	require.NoError(t, c.Close())
}
