package datasets

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type host struct {
	*httptest.Server
	requests atomic.Int32
}

func serve(t *testing.T, files http.Handler) *host {
	h := &host{}
	h.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.requests.Add(1)
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	return h
}

// only answers every request with b.
func only(b []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(b) })
}

func requireOneLine(t *testing.T, err error, says ...string) {
	t.Helper()
	require.Error(t, err)
	for _, s := range says {
		require.ErrorContains(t, err, s)
	}
	require.NotContains(t, err.Error(), "\n")
}

func TestFetchUnpacksAnArchiveAndRecordsChecksums(t *testing.T) {
	graph, data := ringGraph().Zip(zip.Deflate), ringData().Zip(zip.Store)
	h := serve(t, only(zipped(zip.Deflate, map[string][]byte{"reddit/reddit_graph.npz": graph,
		"reddit/reddit_data.npz": data, "../evil": []byte("x")})))
	dir := filepath.Join(t.TempDir(), "made-up")
	info := Info{Name: "made-up", Files: []File{{Name: "reddit_data.npz"}, {Name: "reddit_graph.npz"}},
		Archive: &File{Name: "reddit.zip", URL: h.URL + "/reddit.zip"}}
	run := func() error { return fetchInto(t.Context(), dir, info, FetchOptions{Client: h.Client()}) }
	require.NoError(t, run())
	_, err := openReddit(t.Context(), dir)
	require.NoError(t, err)
	checks, err := Location{Info: info, Dir: dir}.Verify(t.Context())
	require.NoError(t, err)
	require.Len(t, checks, 2)
	sum := sha256.Sum256(data)
	assert.Equal(t, hex.EncodeToString(sum[:]), checks[0].Want)
	assert.Equal(t, "as fetched", checks[0].Origin)
	assert.False(t, checks[0].Bad() || checks[1].Bad())
	assert.NoFileExists(t, filepath.Join(dir, "reddit.zip"))
	assert.NoFileExists(t, filepath.Join(dir, "..", "evil"))
	require.NoError(t, run())
	assert.EqualValues(t, 1, h.requests.Load(), "fetched once")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "reddit_graph.npz"), []byte("damaged"), 0o666))
	checks, err = Location{Info: info, Dir: dir}.Verify(t.Context())
	require.NoError(t, err)
	assert.True(t, checks[1].Bad())
	require.NoError(t, run())
	assert.EqualValues(t, 2, h.requests.Load(), "fetched again")
}

func TestFetchRefusesNamesItCannotFetch(t *testing.T) {
	for _, name := range []string{"nope", "sbm", "cora:x=1"} {
		_, err := Fetch(t.Context(), name, FetchOptions{Dir: t.TempDir()})
		var misuse *NameError
		require.ErrorAs(t, err, &misuse, name)
	}
}

func TestFetchFromAMirrorChecksPublishedSums(t *testing.T) {
	h := serve(t, http.FileServer(http.Dir(planetoidDir(t))))
	dir := t.TempDir()
	folder, err := Fetch(t.Context(), "citeseer", FetchOptions{Dir: dir, Client: h.Client(), Mirror: h.URL + "/"})
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "citeseer"), folder)
	at, err := Locate("citeseer", OpenOptions{Dir: dir})
	require.NoError(t, err)
	checks, err := at.Verify(t.Context())
	require.NoError(t, err)
	require.Len(t, checks, 6)
	for _, c := range checks {
		assert.False(t, c.Bad(), c.Name)
	}
}
