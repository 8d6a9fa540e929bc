package record

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
)

// leasesFolder is where a store keeps its leases, one locked file for each.
const leasesFolder = ".running"

// leaseTries is how often a lease is tried while others take and give back theirs.
const leaseTries = 1000

// Lease is the right to run a cell's trials, which one job of one process holds. The operating system takes it back
// when the process ends, even if killed, so nobody waits for a dead one.
type Lease struct{ file *os.File }

// Lease returns the right to run a cell's trials on a backend, or nil if somebody else has it.
func (s *Store) Lease(key, backend string) (*Lease, error) {
	if err := os.MkdirAll(s.folder, 0o777); err != nil {
		return nil, err
	}
	folder := filepath.Join(s.folder, leasesFolder)
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %s", backend, key)
	path := filepath.Join(folder, fmt.Sprintf("%016x", h.Sum64()))
	for tries := 1; ; tries++ {
		if err := os.Mkdir(folder, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if errors.Is(err, fs.ErrNotExist) && tries < leaseTries { // the folder went with the last lease
			continue
		}
		if err != nil {
			return nil, err
		}
		got, err := tryLock(f)
		if err != nil || !got {
			return nil, errors.Join(err, f.Close())
		}
		// Whoever had it before has removed the file: then this lock is on a file that others no longer find.
		// Some file systems do not even tell of it.
		ours, err := f.Stat()
		if err != nil && tries >= leaseTries {
			return nil, errors.Join(err, f.Close())
		}
		if there, missing := os.Stat(path); err == nil && missing == nil && os.SameFile(ours, there) {
			return &Lease{f}, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

// Release gives the cell back. If somebody has removed the folder meanwhile, there is nothing to remove: a file that is
// there now is another's.
func (l *Lease) Release() error {
	path := l.file.Name()
	ours, err := l.file.Stat()
	if there, missing := os.Stat(path); err == nil && missing == nil && os.SameFile(ours, there) {
		if err = os.Remove(path); err == nil {
			_ = os.Remove(filepath.Dir(path)) // unless others have leases there
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, l.file.Close())
}
