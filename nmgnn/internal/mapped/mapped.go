// Package mapped keeps numbers in files that are mapped into memory: the system keeps in memory what fits there.
package mapped

import (
	"fmt"
	"os"
	"path/filepath"
	"unsafe"
)

// Number is what arrays are made of.
type Number interface {
	float32 | int32 | int64
}

// Array is a file of numbers as a slice, in the machine's order of bytes. It lies in memory where files cannot be
// mapped.
type Array[T Number] struct {
	Values []T
	file   *os.File
	bytes  []byte
}

// New returns an array of n zeros. With a name, its file is dir/name, and keeps what it held if it has the right size;
// without one it is removed from dir at once, so that nothing stays behind whatever ends the program. The room on the
// disk is taken now: a full disk is an error here, not later.
func New[T Number](dir, name string, n int) (_ *Array[T], err error) {
	var zero T
	size := int64(n) * int64(unsafe.Sizeof(zero))
	if n < 0 || size/int64(unsafe.Sizeof(zero)) != int64(n) {
		return nil, fmt.Errorf("%d numbers are more than a file can hold", n)
	}
	if size == 0 {
		return &Array[T]{}, nil
	}
	a := &Array[T]{}
	if name == "" {
		a.file, err = os.CreateTemp(dir, "nodemask-*")
	} else {
		a.file, err = os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o644)
	}
	if err != nil {
		return nil, err
	}
	path := a.file.Name()
	defer func() {
		if err != nil {
			_ = a.file.Close() // the error that matters is the other one
			_ = os.Remove(path)
		}
	}()
	if err := reserve(a.file, size); err != nil {
		return nil, fmt.Errorf("%s: no room for %d bytes of cached numbers: free the disk or name another folder: %w",
			path, size, err)
	}
	if a.bytes, err = open(a.file, size); err != nil {
		return nil, err
	}
	if name == "" {
		_ = os.Remove(path) // where an open file cannot be removed, it is removed by the next clean-up of the folder
	}
	a.Values = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(a.bytes))), n)
	return a, nil
}

// reserve makes the file as long as it has to be and has the disk keep the room: a write to a mapped file without room
// would end the program.
func reserve(f *os.File, size int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() != size {
		if err := f.Truncate(0); err != nil {
			return err
		}
	}
	return allocate(f, size)
}

// View returns the bytes of a file of some size as memory that the system fills when it is read, and what gives it
// back.
func View(f *os.File, size int64) ([]byte, func() error, error) {
	if size == 0 { // which cannot be mapped
		return nil, func() error { return nil }, nil
	}
	data, err := view(f, size)
	if err != nil {
		return nil, nil, err
	}
	return data, func() error { return unmap(data) }, nil
}

// Arrays below this size, in bytes, stay in memory: giving it back and taking it again, page by page, takes longer than
// using it.
const small = 16 << 20

// Release tells the system that what was read or written will not be needed soon: it may take the memory, and reads it
// again from the file. Nothing happens to small arrays.
func (a *Array[T]) Release() {
	if a != nil && len(a.bytes) >= small {
		release(a.bytes)
	}
}

// atOnce is how many numbers Copy copies before it gives memory back.
const atOnce = 1 << 22

// Copy copies numbers to the start of the array, and holds few of them in memory at a time. release does for them what
// [Array.Release] does for the array; nil: nothing.
func (a *Array[T]) Copy(from []T, release func()) {
	for at := 0; at < len(from); at += atOnce {
		copy(a.Values[at:], from[at:min(at+atOnce, len(from))])
		a.Release()
		if release != nil {
			release()
		}
	}
}

// Sync returns when all that was written is on the disk.
func (a *Array[T]) Sync() error {
	if len(a.bytes) == 0 {
		return nil
	}
	return flush(a.bytes, a.file)
}

// Close gives the memory back. Nothing may read the values any more. A nil array may be closed.
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
