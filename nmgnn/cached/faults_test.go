package cached_test

import (
	"path/filepath"
	"slices"
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
	faults.Main(m, map[string]func(string) error{"save": func(folder string) error { return saveSeed(folder, 2) }})
}

// saveSeed saves a model, and a cache of one node with this many neighbours.
func saveSeed(folder string, seed uint64) error {
	settings, err := hyper.Preset("standard")
	if err != nil {
		return err
	}
	values := slices.Repeat([]float32{float32(seed)}, 100_000)
	m := &cached.Model{Settings: settings, Classes: []string{"a", "b"}, Features: 3, Data: "none", Seed: seed,
		Weights: []infer.Weight{{Path: "/" + gomlx.ModelScope + "/layer0/weights", Dimensions: []int{len(values)},
			Values: values}}}
	c := &cached.Cache{IDs: []string{"a"}, Degrees: []int32{int32(seed)}, Features: datasets.Features{Rows: 1, Width: 3,
		Dense: make([]float32, 3)}}
	for range m.Settings.Layers - 1 {
		c.Hidden = append(c.Hidden, infer.Representation{Rows: 1, Width: m.Settings.Hidden, Values: make([]float32,
			m.Settings.Hidden)})
	}
	return m.SaveWith(filepath.Join(folder, "model.safetensors"), c)
}

func requireSeed(t *testing.T, folder string, seeds ...uint64) {
	t.Helper()
	path := filepath.Join(folder, "model.safetensors")
	m, err := cached.LoadModel(path)
	require.NoError(t, err)
	require.Contains(t, seeds, m.Seed)
	require.Equal(t, float32(m.Seed), m.Weights[0].Values[99_999])
	c, err := cached.LoadCache(path, m)
	require.NoError(t, err)
	require.Equal(t, []int32{int32(m.Seed)}, c.Degrees)
	require.NoError(t, c.Close())
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
