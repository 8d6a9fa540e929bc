package datasets

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// planetoidDir is the folder of real Planetoid files, which are not in the repository.
func planetoidDir(t testing.TB) string {
	for _, dir := range []string{os.Getenv("NODEMASK_TEST_DATA"), filepath.Join("..", "..", "shared", "datasets")} {
		if dir == "" {
			continue
		}
		for _, sub := range []string{"planetoid", ""} {
			if _, err := os.Stat(filepath.Join(dir, sub, "ind.cora.tx")); err == nil {
				return filepath.Join(dir, sub)
			}
		}
	}
	t.Skip("no Planetoid files: set NODEMASK_TEST_DATA to the folder that holds planetoid/ind.cora.tx and so on")
	return ""
}

// cachedIn makes dir the user's cache folder, and returns the data sets' folder in it.
func cachedIn(t testing.TB, dir string) string {
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("HOME", dir)
	t.Setenv("LocalAppData", dir)
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	return filepath.Join(cache, "nodemask")
}

// nowhere looks for data only in dir.
func nowhere(t testing.TB, dir string) OpenOptions {
	cachedIn(t, t.TempDir())
	t.Setenv("NODEMASK_DATA", "")
	return OpenOptions{Dir: dir}
}

func TestCatalogueIsComplete(t *testing.T) {
	names := map[string]bool{}
	for _, info := range Catalogue() {
		assert.False(t, names[info.Name])
		names[info.Name] = true
		assert.NotEmpty(t, info.Description)
		assert.NotEmpty(t, info.Licence)
		if info.generated() {
			continue
		}
		assert.NotZero(t, info.Nodes*info.Features*info.Classes*int(info.Edges), info.Name)
		files := info.Files
		if info.Archive != nil {
			files = []File{*info.Archive}
		}
		for _, f := range files {
			u, err := url.Parse(f.URL)
			require.NoError(t, err)
			assert.Equal(t, "https", u.Scheme)
			assert.Equal(t, f.Name, filepath.Base(u.Path))
			if info.Archive == nil {
				known := len(f.SHA256) == 64 && f.Size > 0 || len(f.Git) == 40
				assert.True(t, known || info.Name == "chameleon-filtered", "of which nothing but counts is known here: %s", f.Name)
			}
		}
	}
	assert.Len(t, names, 17)
}

func TestParametersInANameReplaceDefaults(t *testing.T) {
	for name, want := range map[string]SBMOptions{
		"sbm":                        {1000, 5, 8, 0.8, 16, 1, 1},
		"sbm:":                       {1000, 5, 8, 0.8, 16, 1, 1},
		"sbm:nodes=200, degree=2.5":  {200, 5, 2.5, 0.8, 16, 1, 1},
		"sbm:seed=0,classes=2":       {1000, 2, 8, 0.8, 16, 1, 0},
		"sbm:features=3,homophily=1": {1000, 5, 8, 1, 3, 1, 1},
	} {
		o, err := sbmOptions(name)
		require.NoError(t, err)
		assert.Equal(t, want, o, name)
	}
}

func TestParametersThatCannotBeAreMisuse(t *testing.T) {
	for name, says := range map[string]string{
		"sbm:size=3": `"size=3": expected name=value with one of nodes, classes, degree, homophily, features and seed`,
		"sbm:nodes":  `"nodes": expected`, "sbm:nodes=2.5": `"nodes=2.5"`, "sbm:nodes=0": `"nodes=0"`, "sbm:,": `"": expected`,
		"sbm:nodes=1": "1 nodes: expected 2 to", "sbm:degree=NaN": "a degree of NaN", "sbm:nodes=1e300": `"nodes=1e300"`,
		"sbm:seed=-1": `"seed=-1"`,
	} {
		_, err := sbmOptions(name)
		var misuse *NameError
		require.ErrorAs(t, err, &misuse, name)
		requireOneLine(t, err, says)
	}
}

func TestLocateLooksInFlagEnvironmentAndCache(t *testing.T) {
	flag, env, cache := t.TempDir(), t.TempDir(), cachedIn(t, t.TempDir())
	t.Setenv("NODEMASK_DATA", env)
	o := OpenOptions{Dir: flag}
	_, err := Locate("reddit", o)
	var missing *NotFoundError
	require.ErrorAs(t, err, &missing)
	assert.Equal(t, []string{flag, env, cache}, missing.Folders)
	requireOneLine(t, err, "run 'nodemask data fetch reddit'")
	at, err := Locate("cora", o)
	require.NoError(t, err)
	assert.Equal(t, "embedded", at.String())
	for _, dir := range []string{cache, filepath.Join(env, "reddit"), flag} {
		require.NoError(t, os.MkdirAll(dir, 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "reddit_graph.npz"), nil, 0o666))
		at, err := Locate("reddit", o)
		require.NoError(t, err)
		assert.Equal(t, dir, at.Dir)
	}
}

func TestOpenTellsAnUnknownNameFromAMissingFile(t *testing.T) {
	_, err := Open(t.Context(), "coro", nowhere(t, ""))
	var name *NameError
	require.ErrorAs(t, err, &name)
	requireOneLine(t, err,
		`"coro": no such data set: expected a name that 'nodemask data list' shows, such as cora, or the path of`)
	for _, path := range []string{"coro.npz", "some/where"} {
		_, err = Open(t.Context(), path, nowhere(t, ""))
		var missing *NotFoundError
		require.ErrorAs(t, err, &missing, path)
	}
	_, err = Open(t.Context(), "cora:seed=1", nowhere(t, ""))
	require.ErrorAs(t, err, &name)
}

func TestStrayFilesDoNotReplaceEmbeddedGraphs(t *testing.T) {
	folder, cache := t.TempDir(), cachedIn(t, t.TempDir())
	t.Setenv("NODEMASK_DATA", folder)
	for _, name := range []string{"cora", "pubmed"} {
		info, err := lookup(name)
		require.NoError(t, err)
		for _, dir := range []string{folder, filepath.Join(folder, "planetoid"), filepath.Join(cache, name)} {
			require.NoError(t, os.MkdirAll(dir, 0o777))
			for _, f := range info.Files {
				require.NoError(t, os.WriteFile(filepath.Join(dir, f.Name), nil, 0o666))
			}
		}
		at, err := Locate(name, OpenOptions{})
		require.NoError(t, err)
		assert.Equal(t, "embedded", at.String())
		at, err = Locate(name, OpenOptions{Dir: folder})
		require.NoError(t, err)
		assert.Equal(t, folder, at.Dir)
	}
}

func TestOpenReadsAUsersOwnFiles(t *testing.T) {
	g, err := Open(t.Context(), writeNPZ(t, tiny(), "mine.npz"), nowhere(t, ""))
	require.NoError(t, err)
	assert.Equal(t, "mine", g.Name)
	_, err = Open(t.Context(), t.TempDir(), nowhere(t, ""))
	requireOneLine(t, err,
		"no graph in this folder: expected an .npz, .graphml, .json or .pt file, a folder with nodes.csv and edges.csv, or")
	dir := tinyFolder(t)
	g, err = Open(t.Context(), dir, nowhere(t, ""))
	require.NoError(t, err)
	assert.Equal(t, filepath.Base(dir), g.Name)
	assert.Equal(t, dir, g.Source)
}

func TestOpenHoldsCountsAgainstTheCatalogue(t *testing.T) {
	g, err := readMembers(t, tiny())
	require.NoError(t, err)
	info, err := lookup("cora")
	require.NoError(t, err)
	requireOneLine(t, info.check(g), "3 nodes: expected 2708")
	assert.NoError(t, Info{}.check(g))
}

func ExampleOpen() {
	_, err := Open(context.Background(), "coro", OpenOptions{})
	known, paths, _ := strings.Cut(err.Error(), ", or the path of ")
	fmt.Println(known)
	fmt.Println(paths)
	// Output:
	// "coro": no such data set: expected a name that 'nodemask data list' shows, such as cora
	// an .npz, .graphml, .json or .pt file, a folder with nodes.csv and edges.csv, or a folder with raw/edge.csv.gz
}
