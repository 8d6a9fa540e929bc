//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package fused

// #cgo CFLAGS: -O3 -Wall -Wno-psabi
// #cgo linux LDFLAGS: -ldl
// #include <dlfcn.h>
// #include <stdlib.h>
// #include "handlers.h"
//
// static int register_with(const char *path, char *problem, size_t size) {
//	void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
//	const void *(*api)(void) = library ? (const void *(*)(void))dlsym(library, "GetPjrtApi") : NULL;
//	if (api)
//		return nm_register(api(), problem, size);
//	const char *message = dlerror();
//	size_t i = 0;
//	for (; message && message[i] && i + 1 < size; i++)
//		problem[i] = message[i];
//	problem[i] = 0;
//	return 0;
// }
import "C"

import (
	"errors"
	"reflect"
	"sync"
	"unsafe"

	"github.com/gomlx/compute"
)

// A plugin keeps what is registered for as long as the process lives, and takes it once.
var registered sync.Map // path of a plugin → func() error

// Register has an XLA backend call the kernels where a program asks for them: plugin is its file, which must be one for CPUs. It
// may be called any number of times. The error says why the backend cannot.
func Register(b compute.Backend, plugin string) error {
	if statementsOf(reflect.Indirect(reflect.ValueOf(b.Builder("types").Main()))) == nil {
		return errors.New("fused: this version of go-xla keeps its statements elsewhere")
	}
	if err := checkGoMLX(); err != nil {
		return err
	}
	register, _ := registered.LoadOrStore(plugin, sync.OnceValue(func() error {
		path := C.CString(plugin)
		defer C.free(unsafe.Pointer(path))
		var problem [256]C.char
		if C.register_with(path, &problem[0], C.size_t(len(problem))) == 0 {
			return errors.New(C.GoString(&problem[0]))
		}
		return nil
	}))
	return register.(func() error)()
}
