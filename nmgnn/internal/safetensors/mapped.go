package safetensors

import (
	"fmt"
	"os"
	"unsafe"
)

// Array is a slice of numbers in native byte order. It is mapped from a file, so it may exceed memory. Where files
// cannot be mapped, it is in memory.
type Array[T Number] struct {
	Values []T
	file   *os.File
	bytes  []byte
}

// NewArray returns an array of n zeros, in a file in $TMPDIR whose name NewArray removes at once. It reserves disk
// space, so a full disk is an error here, not later.
func NewArray[T Number](n int) (_ *Array[T], err error) {
	var zero T
	size := int64(n) * int64(unsafe.Sizeof(zero))
	if n < 0 || size/int64(unsafe.Sizeof(zero)) != int64(n) {
		return nil, fmt.Errorf("%d numbers are more than a file can hold", n)
	}
	if size == 0 {
		return &Array[T]{}, nil
	}
	a := &Array[T]{}
	if a.file, err = os.CreateTemp("", "nodemask-*"); err != nil {
		return nil, err
	}
	path := a.file.Name()
	defer func() {
		if err != nil {
			_ = a.file.Close()
			_ = os.Remove(path)
		}
	}()
	// Without disk space, writing to the mapping would crash the program.
	if err := allocate(a.file, size); err != nil {
		return nil, fmt.Errorf("%s: no room for %d bytes of cached numbers: free the disk or name another folder: %w",
			path, size, err)
	}
	if a.bytes, err = mapFile(a.file, size, true); err != nil {
		return nil, err
	}
	_ = os.Remove(path) // some systems cannot remove open files: these stay until the folder's next clean-up
	a.Values = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(a.bytes))), n)
	return a, nil
}

func mapWhole(f *os.File, size int64) ([]byte, func() error, error) {
	if size == 0 { // empty files cannot be mapped
		return nil, func() error { return nil }, nil
	}
	data, err := mapFile(f, size, false)
	if err != nil {
		return nil, nil, err
	}
	return data, func() error { return unmap(data) }, nil
}

// Close frees the memory and makes the values unreadable. A nil array may be closed.
func (a *Array[T]) Close() error {
	if a == nil || a.file == nil {
		return nil
	}
	err := unmap(a.bytes)
	if other := a.file.Close(); err == nil {
		err = other
	}
	*a = Array[T]{}
	return err
}
