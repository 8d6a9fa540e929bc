package layerwise_test

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/beam/internal/layerwise"
)

func TestShardsOfTheInputAreAllThere(t *testing.T) {
	const head = "source,target\n"
	for name, x := range map[string]struct {
		files map[string]string
		want  string
	}{
		"whole": {map[string]string{"edges-00000-of-00002.csv": head + "a,b\n",
			"edges-00001-of-00002.csv": head + "b,c\n"}, ""},
		"names without sets": {map[string]string{"edges-1.csv": head + "a,b\n", "edges-2.csv": head + "a,b\n"}, ""},
		"empty shards": {map[string]string{"edges-0-of-3.csv": head, "edges-1-of-3.csv": head,
			"edges-2-of-3.csv": head + "a,b\n"}, ""},
		"a lone one": {map[string]string{"edges-00000-of-00003.csv": head},
			"edges.csv: shard 1 of 3 is missing: 1 are there"},
		"the first missing": {map[string]string{"edges-1-of-2.csv": head}, "edges.csv: shard 0 of 2 is missing"},
		"beyond":            {map[string]string{"edges-3-of-3.csv": head}, "edges-3-of-3.csv: shard 3 of 3: expected 0 to 2 of 3"},
		"two sets": {map[string]string{"edges-0-of-1.csv": head, "edges-0-of-2.csv": head,
			"edges-1-of-2.csv": head}, "edges-0-of-2.csv: shard 0 of 2: expected 0 to 0 of 1"},
		"two names": {map[string]string{"edges-0-of-1.csv": head, "edges-00-of-1.csv": head}, "the same shard as"},
	} {
		folder := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(folder, "nodes.csv"), []byte("id,x\na,1\nb,2\nc,3\n"), 0o600))
		for file, content := range x.files {
			require.NoError(t, os.WriteFile(filepath.Join(folder, file), []byte(content), 0o600))
		}
		in, err := layerwise.Find(folder)
		if x.want == "" {
			require.NoError(t, err, name)
			require.Len(t, in.Edges, len(x.files), name)
			continue
		}
		require.ErrorContains(t, err, x.want, name)
		require.ErrorContains(t, err, folder, name)
		_, err = layerwise.Expand(filepath.Join(folder, "edges-*"))
		require.ErrorContains(t, err, x.want, "%s, by a pattern", name)
	}
}

func TestAShardLostOrExchangedBetweenStepsIsNamed(t *testing.T) {
	_, in, g := odd(t)
	m, work := testCases()[0].Model(t, g.Features.Width), t.TempDir()
	run := func() error {
		return embed(t, m, in, layerwise.Output{Layer: 1}, layerwise.Options{Work: work, Shards: 3})
	}
	require.NoError(t, run())
	for _, step := range []string{"graph", "layer1", "layer2"} {
		kinds := []string{"rows"}
		if step == "graph" {
			kinds = append(kinds, "near")
		}
		for _, kind := range kinds {
			path := filepath.Join(work, step, kind+"-00001-of-00003.shard")
			whole, err := os.ReadFile(path)
			require.NoError(t, err)
			other, err := os.ReadFile(filepath.Join(work, step, kind+"-00002-of-00003.shard"))
			require.NoError(t, err)
			for _, later := range []bool{true, false} {
				if later && step != "layer2" {
					require.NoError(t, os.RemoveAll(filepath.Join(work, "layer2")))
				}
				require.NoError(t, os.Remove(path))
				require.ErrorContains(t, run(), path+": no such file", "%s, a step after it: %t", step, later)
				require.NoError(t, os.WriteFile(path, other, 0o600))
				require.ErrorContains(t, run(), path+": the file is damaged, or another was copied over it",
					"%s, a step after it: %t", step, later)
				require.NoError(t, os.WriteFile(path, whole, 0o600))
				require.NoError(t, run())
			}
		}
	}
}

func TestAnyChangedByteBetweenStepsNamesItsFile(t *testing.T) {
	_, in, g := odd(t)
	m, work := testCases()[0].Model(t, g.Features.Width), t.TempDir()
	run := func() error { return embed(t, m, in, layerwise.Output{}, layerwise.Options{Work: work, Shards: 1}) }
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

func TestOutputNeverReplacesShardsOfTheInput(t *testing.T) {
	folder := oddFiles(t)
	m := testCases()[0].Model(t, readGraph(t, folder).Features.Width)
	nodes, err := os.ReadFile(filepath.Join(folder, "nodes.csv"))
	require.NoError(t, err)
	require.NoError(t, os.Rename(filepath.Join(folder, "nodes.csv"), filepath.Join(folder, "nodes-00000-of-00001.csv")))
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(folder, link))
	in := find(t, folder)
	for _, out := range []string{folder, link} {
		err = embed(t, m, in, layerwise.Output{Folder: out}, layerwise.Options{Shards: 1})
		require.ErrorContains(t, err, "nodes-00000-of-00001.csv, which is read: expected another folder")
	}
	left, err := os.ReadFile(filepath.Join(folder, "nodes-00000-of-00001.csv"))
	require.NoError(t, err)
	require.Equal(t, nodes, left)
}

func TestShardsThatArePipesAreNotWaitedFor(t *testing.T) {
	folder := oddFiles(t)
	for _, name := range []string{"a-0-of-2.csv", "a-1-of-2.csv"} {
		require.NoError(t, syscall.Mkfifo(filepath.Join(folder, name), 0o600))
	}
	_, err := layerwise.Expand(filepath.Join(folder, "a-*.csv"))
	require.ErrorContains(t, err, "a-0-of-2.csv: a folder, pipe or device: expected a file")
}

func TestFeaturesInAnotherOrderAreRefused(t *testing.T) {
	_, in, g := odd(t) // features a, b, c and d
	m := testCases()[0].Model(t, g.Features.Width)
	run := func() error { return embed(t, m, in, layerwise.Output{}, layerwise.Options{}) }
	m.FeatureNames = []string{"a", "b", "c", "d"}
	require.NoError(t, run())
	m.FeatureNames = []string{"b", "a", "c", "d"}
	require.ErrorContains(t, run(),
		"nodes.csv: its features are in another order than the model was trained on: expected [\"b\" \"a\"")
	m.FeatureNames = []string{"a", "b", "c", "e"}
	require.ErrorContains(t, run(), `nodes.csv: features that the model was trained on are missing: "e"`)
}
