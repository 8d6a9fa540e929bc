package record

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// leaseOf returns nil if another job has the lease.
func leaseOf(t *testing.T, s *Store, key, backend string) *Lease {
	t.Helper()
	lease, err := s.Lease(key, backend)
	require.NoError(t, err)
	return lease
}

func TestACellThatAnotherHasInHandIsLeasedOnce(t *testing.T) {
	store := Open(t.TempDir())
	first := leaseOf(t, store, "cell", "go")
	require.NotNil(t, first)
	second := leaseOf(t, store, "cell", "go")
	require.Nil(t, second)
	other := leaseOf(t, store, "cell", "xla:cpu")
	require.NotNil(t, other)
	require.NoError(t, first.Release())
	second = leaseOf(t, store, "cell", "go")
	require.NotNil(t, second)
	require.NoError(t, second.Release())
	require.NoError(t, other.Release())
	_, err := os.Stat(filepath.Join(store.folder, leasesFolder))
	require.ErrorIs(t, err, fs.ErrNotExist, "no leases are left")
}

func TestOneOfManyHasALeaseAtATime(t *testing.T) {
	folder := t.TempDir()
	var holders, had atomic.Int32
	var jobs sync.WaitGroup
	for range 8 {
		jobs.Go(func() {
			store := Open(folder) // as another process would
			for range 50 {
				lease, err := store.Lease("cell", "go")
				if err != nil {
					t.Error(err)
					return
				}
				if lease == nil {
					continue
				}
				had.Add(1)
				if holders.Add(1) != 1 {
					t.Error("two have it")
				}
				time.Sleep(100 * time.Microsecond) // others may take a file that is about to be removed
				holders.Add(-1)
				if err := lease.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	jobs.Wait()
	require.Positive(t, had.Load())
}
