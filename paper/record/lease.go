package record

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
)

const leasesFolder = ".running"

const leaseTries = 1000

// Lease is the exclusive right to run a cell's trials. It ends with the process, even if killed.
type Lease struct{ file *os.File }

// Lease acquires the right to run a cell's trials on a backend; nil: another job holds it.
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
		if errors.Is(err, fs.ErrNotExist) && tries < leaseTries { // the last release removed the folder
			continue
		}
		if err != nil {
			return nil, err
		}
		got, err := tryLock(f)
		if err != nil || !got {
			return nil, errors.Join(err, f.Close())
		}
		// The previous holder may have removed the file, which hides this lock. Some file systems do not even report
		// that.
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

// Release gives the lease up. It keeps a file that replaced its own.
func (l *Lease) Release() error {
	path := l.file.Name()
	ours, err := l.file.Stat()
	if there, missing := os.Stat(path); err == nil && missing == nil && os.SameFile(ours, there) {
		if err = os.Remove(path); err == nil {
			_ = os.Remove(filepath.Dir(path)) // fails while other leases exist
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, l.file.Close())
}
