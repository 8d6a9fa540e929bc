package cached_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/internal/faults"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
)

func init() { faults.Pin() }

func TestMain(m *testing.M) {
	faults.Main(m, map[string]func(string) error{"save": func(folder string) error { return saveSeed(folder, 2) }})
}

// saveSeed saves a model whose seed and weights are that number.
func saveSeed(folder string, seed uint64) error {
	settings, err := hyper.Preset("standard")
	if err != nil {
		return err
	}
	values := make([]float32, 100_000)
	for i := range values {
		values[i] = float32(seed)
	}
	m := cached.Model{Settings: settings, Classes: []string{"a", "b"}, Features: 3, Data: "none", Seed: seed,
		Weights: []infer.Weight{{Path: "/" + infer.ModelScope + "/layer0/weights", Dimensions: []int{len(values)}, Values: values}}}
	return m.Save(filepath.Join(folder, "model.safetensors"))
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
