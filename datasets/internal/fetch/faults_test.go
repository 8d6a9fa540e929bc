package fetch

import (
	"bytes"
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
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

func getOne(folder string) error {
	return from(small, func(f *Fetcher, url string) error {
		return f.Get(context.Background(), filepath.Join(folder, "a.bin"),
			Source{URL: url + "/a.bin", Size: int64(len(small)), SHA256: sumOf(small)})
	})
}

func getArchive(folder string) error {
	return from(packed, func(f *Fetcher, url string) error {
		return f.GetArchive(context.Background(), filepath.Join(folder, "both.zip"), Source{URL: url + "/both.zip"},
			[]string{"a.bin", "b.bin"})
	})
}

func from(file []byte, get func(f *Fetcher, url string) error) error {
	s := httptest.NewTLSServer(whole(file))
	defer s.Close()
	return get(New(Options{Client: s.Client(), pause: time.Microsecond}), s.URL)
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
			require.Equal(t, []string{"a.bin"}, faults.Left(t, folder))
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
			require.Equal(t, []string{"SHA256SUMS", "a.bin", "b.bin"}, faults.Left(t, folder))
		},
	})
}
