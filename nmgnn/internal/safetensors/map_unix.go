//go:build unix

package safetensors

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapped returns the bytes of a file of some size as memory that the system fills when it is read, and what gives it back.
func mapped(f *os.File, size int64) ([]byte, func() error, error) {
	if size == 0 { // which cannot be mapped
		return nil, func() error { return nil }, nil
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, &os.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	return data, func() error { return unix.Munmap(data) }, nil
}
