// The part of PJRT's C interface that keeping programs takes, as it lies in memory (interface 0.115, whose structs only
// grow at their ends). go-xla has the whole header, but not where this package could include it.

#ifndef NODEMASK_PROGRAMS_PJRT_H
#define NODEMASK_PROGRAMS_PJRT_H

#include <stddef.h>

typedef struct pjrt_program {
	size_t size;
	void *extensions;
	char *code;
	size_t code_size;
	const char *format;
	size_t format_size;
} pjrt_program;

typedef struct pjrt_compile {
	size_t size;
	void *extensions;
	void *client;
	const pjrt_program *program;
	const char *options;
	size_t options_size;
	void *executable; // result
} pjrt_compile;

typedef struct pjrt_get_executable {
	size_t size;
	void *extensions;
	void *loaded;
	void *executable; // result
} pjrt_get_executable;

typedef struct pjrt_serialize {
	size_t size;
	void *extensions;
	const void *executable;
	const char *bytes; // these four are results
	size_t bytes_size;
	void *serialized;
	void (*free)(void *serialized);
} pjrt_serialize;

typedef struct pjrt_load {
	size_t size;
	void *extensions;
	void *client;
	const char *bytes;
	size_t bytes_size;
	void *executable; // result
	const char *options;
	size_t options_size;
} pjrt_load;

typedef struct pjrt_destroy { // of an executable, and of an error
	size_t size;
	void *extensions;
	void *what;
} pjrt_destroy;

typedef void *(*pjrt_function)(void *arguments); // returns an error, or NULL

typedef struct pjrt_api {
	size_t size;
	void *extensions;
	struct {
		size_t size;
		void *extensions;
		int major, minor;
	} version;
	pjrt_function functions[];
} pjrt_api;

// Places of functions in the interface.
enum {
	ERROR_DESTROY = 0,
	CLIENT_COMPILE = 20,
	EXECUTABLE_DESTROY = 40,
	EXECUTABLE_SERIALIZE = 49,
	LOADED_GET_EXECUTABLE = 51,
	DESERIALIZE_AND_LOAD = 56,
};

// nm_keep_programs has a plugin that is loaded already ask for programs before it compiles them. It returns NULL, or why
// that cannot be.
const char *nm_keep_programs(const char *plugin);

#endif
