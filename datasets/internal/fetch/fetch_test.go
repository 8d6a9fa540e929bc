package fetch

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/internal/faults"
)

var content = bytes.Repeat([]byte("node masking "), 100_000) // 1.3 MB

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// serve starts a host that gives the answers in turn, the last one from then on; requests counts them.
func serve(t testing.TB, answers ...http.HandlerFunc) (h *httptest.Server, requests *atomic.Int32) {
	requests = new(atomic.Int32)
	h = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers[min(int(requests.Add(1)), len(answers))-1](w, r)
	}))
	h.Config.ErrorLog = log.New(io.Discard, "", 0) // some tests want refused handshakes
	h.StartTLS()
	t.Cleanup(h.Close)
	return h, requests
}

func whole(b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(b) }
}

// halfway stops half-way.
func halfway(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	_, _ = w.Write(content[:len(content)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// stuck sends a little, then nothing.
func stuck(w http.ResponseWriter, r *http.Request) {
	_, _ = w.Write(content[:1000])
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(code) }
}

// fetching is one file to get, with options that hardly wait, and what they reported.
type fetching struct {
	dir    string
	source Source
	o      Options
	notes  []string
}

func newFetching(t *testing.T, h *httptest.Server) *fetching {
	f := &fetching{dir: t.TempDir(), source: Source{URL: h.URL + "/a.bin",
		Size: int64(len(content)), SHA256: sumOf(content)}}
	f.o = Options{Client: h.Client(), pause: time.Microsecond, Note: func(line string) { f.notes = append(f.notes, line) }}
	return f
}

func (f *fetching) path() string { return filepath.Join(f.dir, "a.bin") }

func (f *fetching) run(ctx context.Context) error { return New(f.o).Get(ctx, f.path(), f.source) }

// requireFetched requires the whole file and nothing else.
func (f *fetching) requireFetched(t *testing.T) {
	t.Helper()
	require.NoError(t, f.run(t.Context()))
	got, err := os.ReadFile(f.path())
	require.NoError(t, err)
	require.True(t, bytes.Equal(content, got), "the file is not what the server has")
	require.Equal(t, []string{"a.bin"}, faults.Left(t, f.dir))
}

func (f *fetching) requireNothing(t *testing.T) {
	t.Helper()
	require.Empty(t, faults.Left(t, f.dir))
}

func requireOneLine(t *testing.T, err error, says ...string) {
	t.Helper()
	require.Error(t, err)
	for _, s := range says {
		require.ErrorContains(t, err, s)
	}
	require.NotContains(t, err.Error(), "\n")
}

func TestAFileIsDownloadedOnce(t *testing.T) {
	h, requests := serve(t, whole(content))
	f := newFetching(t, h)
	var done, total int64
	f.o.Progress = func(_ string, d, n int64) { done, total = d, n }
	require.NoError(t, os.WriteFile(f.path(), []byte("old"), 0o666))
	f.requireFetched(t)
	assert.Equal(t, [2]int64{int64(len(content)), int64(len(content))}, [2]int64{done, max(total, done)})
	require.NoError(t, f.run(t.Context()))
	assert.EqualValues(t, 1, requests.Load())
	assert.Equal(t, []string{"a.bin: there, but its SHA-256 does not match: fetching it again",
		"a.bin: already there, SHA-256 " + sumOf(content)}, f.notes)
	f = newFetching(t, h)
	f.source.SHA256 = ""
	f.requireFetched(t)
	assert.Equal(t, []string{"a.bin: 1300000 bytes, SHA-256 " + sumOf(content) + " (none is published to hold it against)"},
		f.notes)
}

func TestWhatMayPassIsTriedAgain(t *testing.T) {
	for says, first := range map[string]http.HandlerFunc{
		"the server stopped after 650000 of 1300000 bytes": halfway,
		"the server answered \"429 Too Many Requests\"":    status(http.StatusTooManyRequests),
		"the server sent nothing for 300ms":                stuck,
	} {
		h, requests := serve(t, first, whole(content))
		f := newFetching(t, h)
		f.o.silence = 300 * time.Millisecond
		f.requireFetched(t)
		assert.EqualValues(t, 2, requests.Load())
		assert.Contains(t, f.notes[0], says)
		assert.Contains(t, f.notes[0], ": trying again in 1µs (1 of 4)")
	}
	h, requests := serve(t, status(503))
	f := newFetching(t, h)
	requireOneLine(t, f.run(t.Context()), "a.bin: "+h.URL+"/a.bin: the server answered", "503")
	assert.EqualValues(t, 5, requests.Load())
	f.requireNothing(t)
}

func TestWhatCannotHelpIsNotRepeated(t *testing.T) {
	for says, answer := range map[string]http.HandlerFunc{
		"the server answered \"404 Not Found\"": status(404),
		"403":                                   status(403),
		"the server offers 1000 bytes: expected 1300000": whole(content[:1000]),
		"redirect to http://127.0.0.1:1/a refused: expected an address that starts with https://": func(
			w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/a", http.StatusFound)
		},
		"the server sends more than the 1300000 bytes expected": func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).Flush()
			_, _ = w.Write(append(content, '!'))
		},
		"SHA-256 is " + sumOf(bytes.ToUpper(content)) + ": expected " + sumOf(content): whole(bytes.ToUpper(content)),
	} {
		h, requests := serve(t, answer)
		f := newFetching(t, h)
		requireOneLine(t, f.run(t.Context()), says)
		assert.EqualValues(t, 1, requests.Load(), says)
		f.requireNothing(t)
	}
}

func TestFetchRefusesPlainHTTPAndUntrustedCertificates(t *testing.T) {
	h, requests := serve(t, whole(content))
	f := newFetching(t, h)
	f.source.URL = strings.Replace(h.URL, "https", "http", 1) + "/a.bin"
	requireOneLine(t, f.run(t.Context()), "expected an address that starts with https://")
	f = newFetching(t, h)
	f.o.Client = nil // it rejects the test server's certificate
	requireOneLine(t, f.run(t.Context()), "certificate")
	assert.Zero(t, requests.Load())
}

func TestFetchStopsWhenTheContextIsDone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	h, _ := serve(t, stuck)
	f := newFetching(t, h)
	f.o.Progress = func(string, int64, int64) { cancel() }
	err := f.run(ctx)
	requireOneLine(t, err, "a.bin: stopped: context canceled")
	require.ErrorIs(t, err, context.Canceled)
	f.requireNothing(t)
}

func TestAFolderThatCannotBeMadeIsAskedForElsewhere(t *testing.T) {
	h, _ := serve(t, whole(content))
	f := newFetching(t, h)
	f.dir = filepath.Join(f.dir, "file", "folder")
	require.NoError(t, os.WriteFile(filepath.Dir(f.dir), nil, 0o666))
	requireOneLine(t, f.run(t.Context()), "no folder for data can be made", filepath.Dir(f.dir), "NODEMASK_DATA")
}

func zipOf(files map[string][]byte) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name})
		if err == nil {
			_, err = w.Write(files[name])
		}
		if err != nil {
			panic(err)
		}
	}
	_ = z.Close()
	return b.Bytes()
}

func TestGetArchiveUnpacksRecordsAndRemoves(t *testing.T) {
	h, _ := serve(t, whole(zipOf(map[string][]byte{"in/a.bin": []byte("a"), "in/b.bin": []byte("b"),
		"../evil": []byte("x")})))
	f := newFetching(t, h)
	require.NoError(t, New(f.o).GetArchive(t.Context(), filepath.Join(f.dir, "both.zip"), Source{URL: h.URL},
		[]string{"b.bin", "a.bin"}))
	assert.Equal(t, []string{"SHA256SUMS", "a.bin", "b.bin"}, faults.Left(t, f.dir))
	assert.Equal(t, map[string]string{"a.bin": sumOf([]byte("a")), "b.bin": sumOf([]byte("b"))}, Recorded(f.dir))
	assert.NoFileExists(t, filepath.Join(f.dir, "..", "evil"))
}

func TestGetArchiveRefusesDamageAndOtherArchives(t *testing.T) {
	good := zipOf(map[string][]byte{"a.bin": []byte("node masking")})
	for says, b := range map[string][]byte{
		"no a.bin in it":       zipOf(map[string][]byte{"x": []byte("y")}),
		"not a whole zip file": []byte("<html>"),
		"damaged: zip: checks": bytes.Replace(good, []byte("node"), []byte("n0de"), 1),
	} {
		h, _ := serve(t, whole(b))
		f := newFetching(t, h)
		err := New(f.o).GetArchive(t.Context(), filepath.Join(f.dir, "both.zip"), Source{URL: h.URL}, []string{"a.bin"})
		requireOneLine(t, err, says)
		require.Equal(t, []string{"both.zip"}, faults.Left(t, f.dir))
	}
}
