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
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"nodemask/datasets/internal/numpy/numpytest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var content = bytes.Repeat([]byte("node masking "), 100_000) // 1.3 MB

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// host serves content at any path, with faults.
type host struct {
	*httptest.Server
	requests atomic.Int32
	ranges   []string // the Range header of each request
}

// serve starts a host that gives the answers in turn, the last one from then on.
func serve(t *testing.T, answers ...http.HandlerFunc) *host {
	h := &host{}
	h.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(h.requests.Add(1))
		h.ranges = append(h.ranges, r.Header.Get("Range"))
		answers[min(n, len(answers))-1](w, r)
	}))
	h.Config.ErrorLog = log.New(io.Discard, "", 0) // some tests want refused handshakes
	h.StartTLS()
	t.Cleanup(h.Close)
	return h
}

// whole answers properly, ranges included.
func whole(tag string, b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if tag != "" {
			w.Header().Set("ETag", tag)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
	}
}

// halfway stops half-way.
func halfway(tag string, b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", tag)
		w.Header().Set("Content-Length", fmt.Sprint(len(b)))
		w.Write(b[:len(b)/2])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// stuck sends a little, then nothing.
func stuck(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", `"1"`)
	w.Write(content[:1000])
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(code) }
}

// fetching is one file to get, with options that do not wait, and what they reported.
type fetching struct {
	dir    string
	source Source
	o      Options
	notes  []string
	waits  []time.Duration
}

func newFetching(t *testing.T, h *host) *fetching {
	f := &fetching{dir: t.TempDir(), source: Source{URL: h.URL + "/a.bin",
		Size: int64(len(content)), SHA256: sumOf(content)}}
	f.o = Options{
		Client: h.Client(),
		wait:   func(ctx context.Context, d time.Duration) error { f.waits = append(f.waits, d); return ctx.Err() },
		Note:   func(line string) { f.notes = append(f.notes, line) },
	}
	return f
}

func (f *fetching) path() string { return filepath.Join(f.dir, "a.bin") }

func (f *fetching) run(ctx context.Context) error { return New(f.o).Get(ctx, f.path(), f.source) }

// left returns the files next to the one fetched.
func (f *fetching) left(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(f.dir)
	require.NoError(t, err)
	for _, e := range entries {
		if e.Name() != "a.bin" {
			names = append(names, e.Name())
		}
	}
	return names
}

// requireFetched requires the whole file and nothing else.
func (f *fetching) requireFetched(t *testing.T) {
	t.Helper()
	require.NoError(t, f.run(t.Context()))
	got, err := os.ReadFile(f.path())
	require.NoError(t, err)
	require.True(t, bytes.Equal(content, got), "the file is not what the server has")
	require.Empty(t, f.left(t), "left behind")
}

func (f *fetching) requireNothing(t *testing.T) {
	t.Helper()
	_, err := os.Stat(f.path())
	require.ErrorIs(t, err, os.ErrNotExist, "nothing may be under the final name")
}

func requireOneLine(t *testing.T, err error, says ...string) {
	t.Helper()
	require.Error(t, err)
	for _, s := range says {
		require.ErrorContains(t, err, s)
	}
	require.NotContains(t, err.Error(), "\n")
}

func TestFetchDownloadsOnceAndThenKeepsTheFile(t *testing.T) {
	h := serve(t, whole(`"1"`, content))
	f := newFetching(t, h)
	var done, total int64
	f.o.Progress = func(_ string, d, n int64) { done, total = d, n }
	f.requireFetched(t)
	assert.Equal(t, int64(len(content)), done)
	assert.Equal(t, int64(len(content)), total)
	require.NoError(t, f.run(t.Context()))
	assert.EqualValues(t, 1, h.requests.Load())
	assert.Equal(t, []string{"a.bin: already there, SHA-256 matches"}, f.notes)
}

func TestFetchReplacesAFileWhoseChecksumIsWrong(t *testing.T) {
	f := newFetching(t, serve(t, whole(`"1"`, content)))
	require.NoError(t, os.WriteFile(f.path(), []byte("old"), 0o666))
	f.requireFetched(t)
}

func TestFetchContinuesOrStartsAnewUntilTheFileIsWhole(t *testing.T) {
	anotherRange := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Range", "bytes 0-9/1300000")
		w.WriteHeader(http.StatusPartialContent)
		w.Write(content[:10])
	}
	const rest = "bytes=650000-"
	for name, c := range map[string]struct {
		answers []http.HandlerFunc
		ranges  []string // that are asked for
	}{
		"half-way":      {[]http.HandlerFunc{halfway(`"1"`, content), whole(`"1"`, content)}, []string{"", rest}},
		"new version":   {[]http.HandlerFunc{halfway(`"old"`, content), whole(`"new"`, content)}, []string{"", rest}},
		"no strong tag": {[]http.HandlerFunc{halfway(`W/"1"`, content), whole("", content)}, []string{"", ""}},
		"another range": {[]http.HandlerFunc{halfway(`"1"`, content), anotherRange, whole(`"1"`, content)},
			[]string{"", rest, ""}},
		"too many requests": {[]http.HandlerFunc{status(http.StatusTooManyRequests), whole(`"1"`, content)},
			[]string{"", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			h := serve(t, c.answers...)
			f := newFetching(t, h)
			f.requireFetched(t)
			assert.Equal(t, c.ranges, h.ranges)
			assert.Len(t, f.waits, len(c.ranges)-1)
		})
	}
}

func TestTheNextFetchContinuesWhatTheLastLeft(t *testing.T) {
	h := serve(t, halfway(`"1"`, content), whole(`"1"`, content))
	f := newFetching(t, h)
	f.o.retries = -1
	requireOneLine(t, f.run(t.Context()), "a.bin", "the server stopped after 650000 of 1300000 bytes")
	f.requireNothing(t)
	f.requireFetched(t)
	assert.Equal(t, "bytes=650000-", h.ranges[1])
}

func TestFetchRetriesServerErrorsThenGivesUp(t *testing.T) {
	h := serve(t, status(503))
	f := newFetching(t, h)
	requireOneLine(t, f.run(t.Context()), "a.bin: "+h.URL+"/a.bin: the server answered", "503")
	assert.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}, f.waits)
	f.requireNothing(t)
}

func TestFetchDoesNotRepeatWhatCannotHelp(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"404":          {status(404), "the server answered \"404 Not Found\""},
		"403":          {status(403), "403"},
		"another size": {whole("", content[:1000]), "the server offers 1000 bytes: expected 1300000"},
		"to plain http": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/a", http.StatusFound)
		}, "redirect to http://127.0.0.1:1/a refused: expected an address that starts with https://"},
		"more than it has": {func(w http.ResponseWriter,
			r *http.Request) {
			w.(http.Flusher).Flush()
			w.Write(append(content,
				'!'))
		}, "the server sends more than the 1300000 bytes expected"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFetching(t, serve(t, c.answer))
			requireOneLine(t, f.run(t.Context()), c.says)
			assert.Empty(t, f.waits)
			f.requireNothing(t)
		})
	}
}

func TestFetchRefusesPlainHTTPAndUntrustedCertificates(t *testing.T) {
	h := serve(t, whole("", content))
	f := newFetching(t, h)
	f.source.URL = strings.Replace(h.URL, "https", "http", 1) + "/a.bin"
	requireOneLine(t, f.run(t.Context()), "expected an address that starts with https://")
	f = newFetching(t, h)
	f.o.Client = nil // it rejects the test server's certificate
	requireOneLine(t, f.run(t.Context()), "certificate")
	assert.Empty(t, f.waits)
	assert.Zero(t, h.requests.Load())
}

func TestFetchKeepsNothingWhoseChecksumIsWrong(t *testing.T) {
	wrong := bytes.Replace(content, []byte("node"), []byte("n0de"), 1)
	h := serve(t, whole(`"1"`, wrong))
	f := newFetching(t, h)
	requireOneLine(t, f.run(t.Context()), "SHA-256 of what the server sent is "+sumOf(wrong)+": expected "+sumOf(content))
	f.requireNothing(t)
	assert.EqualValues(t, 2, h.requests.Load(), "one clean try more")
	assert.Empty(t, f.left(t))
}

func TestFetchStatesUnpublishedChecksums(t *testing.T) {
	f := newFetching(t, serve(t, whole("", content)))
	f.source.SHA256 = ""
	f.requireFetched(t)
	assert.Contains(t, f.notes[0], sumOf(content))
}

func TestFetchStopsWhenTheContextIsDoneAndKeepsThePart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	h := serve(t, stuck, whole(`"1"`, content))
	f := newFetching(t, h)
	f.o.Progress = func(_ string, done, _ int64) {
		if done > 0 {
			cancel()
		}
	}
	err := f.run(ctx)
	requireOneLine(t, err, "a.bin: stopped: context canceled")
	require.ErrorIs(t, err, context.Canceled)
	f.requireNothing(t)
	f.o.Progress = nil
	f.requireFetched(t)
	assert.Equal(t, "bytes=1000-", h.ranges[1])
}

func TestFetchTriesAgainWhenTheServerFallsSilent(t *testing.T) {
	f := newFetching(t, serve(t, stuck, whole(`"1"`, content)))
	f.o.silence = 300 * time.Millisecond
	f.requireFetched(t)
	assert.Contains(t, f.notes[0], "the server sent nothing for 300ms: trying again")
}

// fullDisk takes a few bytes.
type fullDisk struct {
	part
	room int
}

func (d *fullDisk) Write(b []byte) (int, error) {
	if len(b) > d.room {
		n, _ := d.part.Write(b[:d.room])
		d.room -= n
		return n, &os.PathError{Op: "write", Path: "a.bin", Err: syscall.ENOSPC}
	}
	d.room -= len(b)
	return d.part.Write(b)
}

func TestFetchContinuesAfterAFullDisk(t *testing.T) {
	h := serve(t, whole(`"1"`, content))
	f := newFetching(t, h)
	f.o.open = func(path string) (part, error) {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		return &fullDisk{part: file, room: 300_000}, err
	}
	err := f.run(t.Context())
	requireOneLine(t, err, "the disk of "+f.dir+" is full: make room and run the same command; what arrived is kept (")
	require.ErrorIs(t, err, syscall.ENOSPC)
	f.requireNothing(t)
	assert.Empty(t, f.waits, "waiting makes no room")
	f.o.open = nil
	f.requireFetched(t)
	assert.Equal(t, "bytes=300000-", h.ranges[1])
}

func TestFetchSaysBeforehandThatThereIsNoRoom(t *testing.T) {
	err := enoughRoom(t.TempDir(), 1<<60)
	if err == nil {
		t.Skip("this system does not say how much room a disk has")
	}
	requireOneLine(t, err, "bytes free, and 1152921504606846976 more are needed")
}

func TestAFolderThatCannotBeMadeIsAskedForElsewhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	_, err := Lock(filepath.Join(file, "data"))
	requireOneLine(t, err, "no folder for data can be made", file, "NODEMASK_DATA")
}

func TestALockedFolderLocksOthersOut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	unlock, err := Lock(dir)
	require.NoError(t, err)
	_, err = Lock(dir)
	requireOneLine(t, err, dir+": another fetch into this folder is running")
	require.NoError(t, unlock())
	unlock, err = Lock(dir)
	require.NoError(t, err)
	require.NoError(t, unlock())
}

func TestALockThatIsAPipeIsNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, ".lock"), 0o600))
	unlock, err := Lock(dir)
	require.NoError(t, err)
	require.NoError(t, unlock())
}

func zipOf(files map[string][]byte) []byte { return numpytest.Zip(zip.Store, files) }

func TestGetArchiveUnpacksRecordsAndRemoves(t *testing.T) {
	h := serve(t, whole(`"1"`, zipOf(map[string][]byte{"in/a.bin": []byte("a"), "in/b.bin": []byte("b"),
		"../evil": []byte("x")})))
	f := newFetching(t, h)
	require.NoError(t, New(f.o).GetArchive(t.Context(), filepath.Join(f.dir, "both.zip"), Source{URL: h.URL},
		[]string{"b.bin", "a.bin"}))
	assert.Equal(t, []string{"SHA256SUMS", "b.bin"}, f.left(t))
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
		h := serve(t, whole("", b))
		f := newFetching(t, h)
		err := New(f.o).GetArchive(t.Context(), filepath.Join(f.dir, "both.zip"), Source{URL: h.URL}, []string{"a.bin"})
		requireOneLine(t, err, says)
		f.requireNothing(t)
	}
}
