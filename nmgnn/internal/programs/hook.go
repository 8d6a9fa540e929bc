//go:build cgo && linux

package programs

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

// kept is what the plugin's programs are kept in, and by.
type kept struct {
	folder  *Folder
	context []byte
}

var (
	// A plugin is loaded once in a process, and so is its table of functions, which C calls without any context.
	current atomic.Pointer[kept]
	install sync.Mutex

	loaded, compiled atomic.Int64
)

// Keep has a plugin, a file that is loaded already, take its programs from a folder, and put there what it compiles.
// context is all that a program depends on besides its text and its options: the plugin itself, the environment that
// XLA reads, the processor. It holds for every client of the plugin in this process. An error says why programs are
// compiled each time.
func Keep(plugin string, folder *Folder, context []byte) error {
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

// Counts returns how many programs this process has loaded, and how many it has compiled, while they were kept.
func Counts() (fromDisk, fromSource int64) { return loaded.Load(), compiled.Load() }

// nodemaskFindProgram writes a program's key, and returns the size of the kept program, whose bytes C frees.
//
//export nodemaskFindProgram
func nodemaskFindProgram(code unsafe.Pointer, codeSize C.size_t, format unsafe.Pointer, formatSize C.size_t,
	options unsafe.Pointer, optionsSize C.size_t, key *C.char, found *unsafe.Pointer) C.size_t {
	k := current.Load()
	if k == nil {
		return 0
	}
	bytesAt := func(p unsafe.Pointer, size C.size_t) []byte { return unsafe.Slice((*byte)(p), int(size)) }
	// XLA divides work by the cores that the compiling thread may use.
	var cores unix.CPUSet
	_ = unix.SchedGetaffinity(0, &cores)
	name := Key(k.context, []byte{byte(min(cores.Count(), 255))}, bytesAt(format, formatSize),
		bytesAt(options, optionsSize), bytesAt(code, codeSize))
	copy(unsafe.Slice((*byte)(unsafe.Pointer(key)), len(name)+1), name+"\x00")
	program, ok := k.folder.Load(name)
	if !ok {
		compiled.Add(1)
		return 0
	}
	loaded.Add(1)
	*found = C.CBytes(program)
	return C.size_t(len(program))
}

// nodemaskKeepProgram keeps what was compiled. What cannot be written is compiled again by the next process.
//
//export nodemaskKeepProgram
func nodemaskKeepProgram(key *C.char, program unsafe.Pointer, size C.size_t) {
	if k := current.Load(); k != nil && size <= longest {
		_ = k.folder.Save(C.GoString(key), unsafe.Slice((*byte)(program), int(size)))
	}
}
