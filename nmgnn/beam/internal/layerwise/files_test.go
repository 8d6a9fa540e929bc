package layerwise_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/beam/internal/layerwise"
)

func TestAnyChangedByteBetweenStepsNamesItsFile(t *testing.T) {
	_, in, g := odd(t)
	m, work := testCases()[0].model(t, g), t.TempDir()
	run := func() error {
		_, err := layerwise.Embed(t.Context(), m, in, layerwise.Output{Folder: t.TempDir()},
			layerwise.Options{Work: work, Shards: 1})
		return err
	}
	require.NoError(t, run())
	const rows = "rows-00000-of-00001.shard"
	for step, name := range map[string]string{"graph": "near-00000-of-00001.shard", "layer1": rows} {
		path := filepath.Join(work, step, name)
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		next := filepath.Join(work, "layer2")
		if step == "graph" {
			next = filepath.Join(work, "layer1")
		}
		require.NoError(t, os.RemoveAll(filepath.Join(work, "layer2")))
		require.NoError(t, os.RemoveAll(next))
		for _, at := range []int{0, len(whole) / 3, len(whole) / 2, len(whole) - 5, len(whole) - 1} {
			changed := bytes.Clone(whole)
			changed[at] ^= 4
			require.NoError(t, os.WriteFile(path, changed, 0o644))
			err := run()
			require.ErrorContains(t, err, name+": the file is damaged", "byte %d", at)
			require.ErrorContains(t, err, "delete the folder and run the command again")
		}
		for _, size := range []int{0, 3, len(whole) - 1} {
			require.NoError(t, os.WriteFile(path, whole[:size], 0o644))
			require.ErrorContains(t, run(), name+": the file is damaged", "%d bytes", size)
		}
		require.NoError(t, os.WriteFile(path, whole, 0o644))
		require.NoError(t, run())
	}
}
