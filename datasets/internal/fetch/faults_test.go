package fetch

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nodemask/internal/faults"
)

func init() { faults.Pin() }

func TestMain(m *testing.M) {
	faults.Main(m, map[string]func(string) error{"get": getOne, "archive": getArchive})
}

var small = content[:60_000] // a few reads long

var packed = zipOf(map[string][]byte{"in/a.bin": []byte("a"), "in/b.bin": []byte("b")})

// local answers first once, then always then.
func local(first, then http.HandlerFunc) (*httptest.Server, Options) {
	var requests atomic.Int32
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			first(w, r)
			return
		}
		then(w, r)
	}))
	return s, Options{Client: s.Client(), wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
}

// getOne fetches from a server that stops half-way, then goes on.
func getOne(folder string) error {
	return locked(folder, halfway(`"1"`, small), small, func(f *Fetcher, url string) error {
		return f.Get(context.Background(), filepath.Join(folder, "a.bin"),
			Source{URL: url + "/a.bin", Size: int64(len(small)), SHA256: sumOf(small)})
	})
}

func getArchive(folder string) error {
	return locked(folder, status(503), packed, func(f *Fetcher, url string) error {
		return f.GetArchive(context.Background(), filepath.Join(folder, "both.zip"), Source{URL: url + "/both.zip"},
			[]string{"a.bin", "b.bin"})
	})
}

// locked fetches into a folder from a server whose first answer differs.
func locked(folder string, first http.HandlerFunc, file []byte, get func(f *Fetcher, url string) error) (err error) {
	s, o := local(first, whole(`"1"`, file))
	defer s.Close()
	unlock, err := Lock(folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	return get(New(o), s.URL)
}

// requireOneOf requires an existing file to be whole; if must is set, it must exist.
func requireOneOf(t *testing.T, file string, must bool, want []byte) {
	t.Helper()
	got, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) && !must {
		return
	}
	require.NoError(t, err)
	require.True(t, bytes.Equal(got, want), "%s has %d bytes", file, len(got))
}

func TestWhateverFailsNoHalfDownloadHasTheFilesName(t *testing.T) {
	faults.Each(t, faults.Test{
		Step:    "get",
		Prepare: func(*testing.T, string) {},
		Holds: func(t *testing.T, folder string, finished bool) {
			requireOneOf(t, filepath.Join(folder, "a.bin"), finished, small)
		},
		GoesOn: func(t *testing.T, folder string) {
			require.NoError(t, getOne(folder))
			requireOneOf(t, filepath.Join(folder, "a.bin"), true, small)
			require.Equal(t, []string{".lock", "a.bin"}, faults.Left(t, folder))
		},
	})
}

func TestWhateverFailsWhatAnArchiveHoldsIsUnpackedWhole(t *testing.T) {
	faults.Each(t, faults.Test{
		Step:    "archive",
		Prepare: func(*testing.T, string) {},
		Holds: func(t *testing.T, folder string, finished bool) {
			requireOneOf(t, filepath.Join(folder, "a.bin"), finished, []byte("a"))
			requireOneOf(t, filepath.Join(folder, "b.bin"), finished, []byte("b"))
			if finished {
				require.Len(t, Recorded(folder), 2)
			}
		},
		GoesOn: func(t *testing.T, folder string) {
			require.NoError(t, getArchive(folder))
			requireOneOf(t, filepath.Join(folder, "a.bin"), true, []byte("a"))
			requireOneOf(t, filepath.Join(folder, "b.bin"), true, []byte("b"))
			require.Equal(t, []string{".lock", "SHA256SUMS", "a.bin", "b.bin"}, faults.Left(t, folder))
		},
	})
}
