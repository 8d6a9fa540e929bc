// The part of XLA's foreign function interface (FFI) that is used here, as it lies in memory. XLA's own headers are partly C++, and
// not on every machine. Structs that may grow with XLA's versions begin with their size.

#ifndef NODEMASK_FFI_H
#define NODEMASK_FFI_H

#include <stddef.h>
#include <stdint.h>

// One of the extensions of a PJRT plugin's interface, or of what a handler is called with, which are a list.
typedef struct pjrt_extension {
	size_t size;
	int type;
	struct pjrt_extension *next;
} pjrt_extension;

enum { PJRT_EXTENSION_FFI = 5 };

typedef struct pjrt_api {
	size_t size;
	pjrt_extension *extensions;
	struct {
		size_t size;
		pjrt_extension *extensions;
		int major, minor;
	} version;
	void *error_destroy, *error_message; // functions, cast to their own types where they are called
} pjrt_api;

typedef struct pjrt_error_message {
	size_t size;
	void *extensions;
	const void *error;
	const char *text; // result
	size_t length;
} pjrt_error_message;

typedef struct pjrt_error_destroy {
	size_t size;
	void *extensions;
	void *error;
} pjrt_error_destroy;

typedef struct pjrt_ffi_register {
	size_t size;
	const char *name;
	size_t name_length;
	void *handler;
	const char *platform;
	size_t platform_length;
	int traits;
} pjrt_ffi_register;

typedef struct pjrt_ffi_extension {
	pjrt_extension base;
	void *register_type, *add_user_data;
	void *(*register_handler)(pjrt_ffi_register *); // an error, or NULL
} pjrt_ffi_extension;

// Constants in what a handler is called with.
enum { FFI_METADATA = 1, FFI_EXECUTE = 3, FFI_F32 = 11, FFI_S32 = 4, FFI_U32 = 8, FFI_INVALID_ARGUMENT = 3 };

typedef struct ffi_version {
	size_t size;
	void *extensions;
	int major, minor;
} ffi_version;

typedef struct ffi_metadata_extension {
	pjrt_extension base;
	struct {
		size_t size;
		ffi_version version;
		uint32_t traits;
	} *metadata;
} ffi_metadata_extension;

typedef struct ffi_error_create {
	size_t size;
	void *extensions;
	const char *message;
	int code;
} ffi_error_create;

typedef struct ffi_schedule {
	size_t size;
	void *extensions;
	void *context;
	void (*task)(void *);
	void *data;
} ffi_schedule;

typedef struct ffi_num_threads {
	size_t size;
	void *extensions;
	void *context;
	int64_t *threads; // result
} ffi_num_threads;

typedef struct ffi_api {
	size_t size;
	void *extensions;
	ffi_version version;
	void *internal;
	void *(*error_create)(ffi_error_create *);
	void *error_get_message;
	void (*error_destroy)(void *);
	void *handler_register, *stream_get, *type_register, *context_get, *state_set, *state_get, *memory_allocate, *memory_free;
	void *(*schedule)(ffi_schedule *);
	void *(*num_threads)(ffi_num_threads *);
} ffi_api;

typedef struct ffi_buffer {
	size_t size;
	void *extensions;
	int type;
	void *data;
	int64_t rank;
	int64_t *dimensions;
} ffi_buffer;

typedef struct ffi_buffers {
	size_t size;
	void *extensions;
	int64_t count;
	int *types;
	ffi_buffer **buffers;
} ffi_buffers;

typedef struct ffi_frame {
	size_t size;
	pjrt_extension *extensions;
	const ffi_api *api;
	void *context;
	int stage;
	ffi_buffers arguments, results;
} ffi_frame;

#endif
