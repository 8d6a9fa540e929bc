package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
)

// drawName draws letters of every kind, paths that leave folders, or long names.
func drawName(t *rapid.T, label string) string {
	return rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[a-cA-C_.-]{1,4}`),
		rapid.StringMatching(`[a-c_./\\:]{0,4}`),
		rapid.StringMatching(`(\.\./){0,3}[\x00-\x1f\x7f]{0,3}[a-z]{0,3}(/\.\.){0,2}`),
		rapid.StringMatching(`[a-b/]{300}`),
	).Draw(t, label)
}

// disguised draws a name that differs only in details that file names often lose.
func disguised(t *rapid.T, name string) string {
	return rapid.SampledFrom([]string{strings.ToUpper(name), strings.ToLower(name), "." + name,
		strings.TrimLeft(name, "."),
		strings.ReplaceAll(name, "/", "_"), strings.ReplaceAll(name, "_", "/"), "../" + name, name + "/",
		name + name}).Draw(t, "disguise")
}

func TestRecordsOfAnyDataHaveTheirFile(t *testing.T) {
	parent := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		outer, err := os.MkdirTemp(parent, "")
		require.NoError(t, err)
		folder := filepath.Join(outer, "results")
		first := drawName(t, "first")
		second := disguised(t, first)
		model := rapid.SampledFrom(hyper.Models()).Draw(t, "model")
		want := map[string]Record{}
		for i, data := range []string{first, second} {
			r := testRecord(NewCell(data, model, datasets.Inductive, 10), uint64(i+1), 80)
			want[data] = r // the second record of a name is its second trial
			require.NoError(t, Open(folder).Add(r))
		}
		beside, err := os.ReadDir(outer)
		require.NoError(t, err)
		require.Len(t, beside, 1, "nothing is written beside the folder")
		files, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Len(t, files, len(want), "a file for each name")
		lower := map[string]bool{}
		for _, file := range files {
			require.True(t, file.Type().IsRegular())
			require.Regexp(t, `^[a-z0-9_-][a-z0-9._-]{0,150}\.jsonl$`, file.Name(), "a name that any file system takes")
			require.False(t, lower[strings.ToLower(file.Name())])
			lower[strings.ToLower(file.Name())] = true
		}
		loaded := recordsOf(t, Open(folder))
		found := map[string]Record{}
		for _, r := range loaded {
			found[r.Data] = r
		}
		require.Equal(t, want, found)
		for data, r := range want {
			require.True(t, has(t, Open(folder), r.CellOf(), r.Seed, "go"), data)
		}
	})
}
