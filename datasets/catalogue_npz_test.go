package datasets

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/internal/checkout"
)

func TestGraphsOfOneFileAreFetchedAndHeldToWhatIsPublished(t *testing.T) {
	project, err := checkout.Root()
	require.NoError(t, err)
	shared := filepath.Join(project, "..", "shared", "datasets", "graphs")
	if _, err := os.Stat(shared); err != nil {
		t.Skipf("skipped: %v", err)
	}
	h := serve(t, http.FileServer(http.Dir(shared)))
	dir := t.TempDir()
	for _, name := range []string{"tolokers", "squirrel-filtered", "actor", "minesweeper"} {
		_, err := Fetch(t.Context(), name, FetchOptions{Dir: dir, Client: h.Client(), Mirror: h.URL})
		require.NoError(t, err, name)
		g, err := Open(t.Context(), name+":mask=3", OpenOptions{Dir: dir})
		require.NoError(t, err, name)
		assert.Equal(t, name, g.Name)
		assert.Len(t, g.OwnSplits, 1)
	}
	_, err = Open(t.Context(), "actor:k=1", OpenOptions{Dir: dir})
	require.ErrorContains(t, err, "expected label=NAME or mask=k behind the path")
}

func TestADownloadIsHeldToTheIdOfGit(t *testing.T) {
	h := serve(t, only([]byte("hello\n")))
	info := Info{Name: "made-up", Files: []File{{Name: "a.npz", URL: h.URL + "/a.npz",
		Git: "ce013625030ba8dba906f756967f9e9ca394464a"}}} // printf 'hello\n' | git hash-object --stdin
	dir := t.TempDir()
	require.NoError(t, fetchInto(t.Context(), dir, info, FetchOptions{Client: h.Client()}))
	checks, err := Location{Info: info, Dir: dir}.Verify(t.Context())
	require.NoError(t, err)
	assert.False(t, checks[0].Bad())
	assert.Equal(t, "published as git's object", checks[0].Origin)
	info.Files[0].Git = "0000000000000000000000000000000000000000"
	checks, err = Location{Info: info, Dir: dir}.Verify(t.Context())
	require.NoError(t, err)
	assert.True(t, checks[0].Bad())
	err = fetchInto(t.Context(), t.TempDir(), info, FetchOptions{Client: h.Client()})
	require.ErrorContains(t, err, "expected that of git's object 0000")
}
