//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package fused

// #cgo CFLAGS: -O3 -Wall -Wno-psabi
// #cgo linux LDFLAGS: -ldl
// #include <dlfcn.h>
// #include <stdlib.h>
// #include "kernels.h"
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
	"unsafe"
)

// KeepMemory makes glibc keep freed memory for reuse in the whole process, since XLA allocates intermediate results at
// each run. If an environment variable already configures glibc's memory, KeepMemory does nothing.
func KeepMemory() { C.nm_keep_memory() }

// registerHandlers needs the path of a plugin that is loaded already.
func registerHandlers(plugin string) error {
	path := C.CString(plugin)
	defer C.free(unsafe.Pointer(path))
	var problem [256]C.char
	if C.register_with(path, &problem[0], C.size_t(len(problem))) == 0 {
		return errors.New(C.GoString(&problem[0]))
	}
	return nil
}
