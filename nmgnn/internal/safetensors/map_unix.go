//go:build unix

package safetensors

import (
	"os"

	"golang.org/x/sys/unix"
)

func openMap(f *os.File, size int64) ([]byte, error) {
	return mapFile(f, size, unix.PROT_READ|unix.PROT_WRITE)
}

func viewMap(f *os.File, size int64) ([]byte, error) { return mapFile(f, size, unix.PROT_READ) }

func mapFile(f *os.File, size int64, protection int) ([]byte, error) {
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), protection, unix.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	return data, nil
}

func unmap(data []byte) error { return unix.Munmap(data) }
