//go:build !unix

package safetensors

import (
	"io"
	"os"
	"unsafe"
)

// mapFile reads the file into memory, as mapping is unavailable.
func mapFile(f *os.File, size int64, _ bool) ([]byte, error) {
	words := make([]int64, (size+7)/8) // []int64 is aligned for all types of numbers
	data := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
	if _, err := f.ReadAt(data, 0); err != nil && err != io.EOF {
		return nil, err
	}
	return data, nil
}

func unmap([]byte) error { return nil }

func allocate(f *os.File, size int64) error { return f.Truncate(size) }
