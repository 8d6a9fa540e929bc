//go:build unix

package safetensors

import (
	"os"

	"golang.org/x/sys/unix"
)

func mapFile(f *os.File, size int64, writable bool) ([]byte, error) {
	protection := unix.PROT_READ
	if writable {
		protection |= unix.PROT_WRITE
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), protection, unix.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	return data, nil
}

func unmap(data []byte) error { return unix.Munmap(data) }
