package datasets

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheClassesAreWhereTheUserSays(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
		return filepath.Join(dir, name)
	}
	file(csvNodesFile, "id,club,y\na,Hi,1\nb,Officer,2\n")
	file(csvEdgesFile, "source,target\na,b\n")
	json := file("g.json", `{"nodes":[{"id":"a","club":"Hi","y":1},{"id":"b","club":"Officer","y":2}],"links":[]}`)
	for _, path := range []string{dir, json} {
		g, err := Open(t.Context(), path+":label=club", OpenOptions{})
		require.NoError(t, err, path)
		require.Equal(t, []string{"Hi", "Officer"}, g.Classes)
		require.Empty(t, g.FeatureNames, "a second class is no feature")
		require.Contains(t, g.Notes[0], `"y": left out: the class is "club", and a second one would tell it`)
		_, err = Open(t.Context(), path+":label=team", OpenOptions{})
		require.ErrorContains(t, err, `"team"`)
	}
	for choice, says := range map[string]string{":label=": "expected label=NAME", ":mask=1": "of a .pt, .npz or .json file",
		":k=1": "expected label=NAME"} {
		_, err := Open(t.Context(), dir+choice, OpenOptions{})
		require.ErrorContains(t, err, says)
	}
	_, err := Open(t.Context(), filepath.Join("testdata", "formats", "ogb")+":label=y", OpenOptions{})
	require.ErrorContains(t, err, "nothing can be chosen in a folder of the Open Graph Benchmark")
	at, err := Locate(json+":label=club", OpenOptions{})
	require.NoError(t, err)
	require.Equal(t, json, at.Path, "commands keep from writing over it")
}
