//go:build !unix

package safetensors

import (
	"io"
	"os"
	"unsafe"
)

// open reads the file, as mapping is unavailable; flush writes it back.
func openMap(f *os.File, size int64) ([]byte, error) {
	words := make([]int64, (size+7)/8) // aligned for all numbers
	data := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
	if _, err := f.ReadAt(data, 0); err != nil && err != io.EOF {
		return nil, err
	}
	return data, nil
}

func viewMap(f *os.File, size int64) ([]byte, error) { return openMap(f, size) }

func release([]byte) {}

func flush(data []byte, f *os.File) error {
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	return f.Sync()
}

func unmap([]byte) error { return nil }

func allocate(f *os.File, size int64) error { return f.Truncate(size) }
