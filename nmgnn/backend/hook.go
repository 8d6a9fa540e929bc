//go:build cgo && linux

package backend

// #cgo CFLAGS: -O2 -Wall
// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "pjrt.h"
import "C"

import (
	"errors"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

type kept struct {
	folder  *programFolder
	context []byte
}

var (
	// current is global, since C calls Go without passing it.
	current atomic.Pointer[kept]
	install sync.Mutex
)

// hookPrograms makes a loaded plugin load compiled programs from a folder and save them there. context lists what
// programs depend on besides their text and options: plugin, XLA's environment variables and CPU.
func hookPrograms(plugin string, folder *programFolder, context []byte) error {
	install.Lock()
	defer install.Unlock()
	current.Store(&kept{folder, context})
	path := C.CString(plugin)
	defer C.free(unsafe.Pointer(path))
	if problem := C.nm_keep_programs(path); problem != nil {
		current.Store(nil)
		return errors.New(C.GoString(problem))
	}
	return nil
}

// nodemaskFindProgram computes a program's key and writes it to the buffer key. If the folder holds the program, found
// is set to point to a copy, which C must free, and the result is the copy's size in bytes. Otherwise the result is 0.
//
//export nodemaskFindProgram
func nodemaskFindProgram(code unsafe.Pointer, codeSize C.size_t, format unsafe.Pointer, formatSize C.size_t,
	options unsafe.Pointer, optionsSize C.size_t, key *C.char, found *unsafe.Pointer) C.size_t {
	k := current.Load()
	if k == nil {
		return 0
	}
	bytesAt := func(p unsafe.Pointer, size C.size_t) []byte { return unsafe.Slice((*byte)(p), int(size)) }
	// XLA splits work by the number of cores that the compiling thread may use, so keys include that number.
	var cores unix.CPUSet
	_ = unix.SchedGetaffinity(0, &cores)
	name := programKey(k.context, []byte{byte(min(cores.Count(), 255))}, bytesAt(format, formatSize),
		bytesAt(options, optionsSize), bytesAt(code, codeSize))
	copy(unsafe.Slice((*byte)(unsafe.Pointer(key)), len(name)+1), name+"\x00")
	program, ok := k.folder.load(name)
	if !ok {
		return 0
	}
	*found = C.CBytes(program)
	return C.size_t(len(program))
}

// nodemaskKeepProgram saves a compiled program; if that fails, the next process compiles it again.
//
//export nodemaskKeepProgram
func nodemaskKeepProgram(key *C.char, program unsafe.Pointer, size C.size_t) {
	if k := current.Load(); k != nil && size <= longest {
		_ = k.folder.save(C.GoString(key), unsafe.Slice((*byte)(program), int(size)))
	}
}
