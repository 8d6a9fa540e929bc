//go:build cgo && linux

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pjrt.h"

#include "_cgo_export.h"

static pjrt_api *api;
static pjrt_function compile; // the plugin's own

static void destroy(int function, void *what) {
	pjrt_destroy arguments = {sizeof arguments, NULL, what};
	api->functions[function](&arguments);
}

static void keep(char *key, void *loaded) {
	pjrt_get_executable get = {sizeof get, NULL, loaded, NULL};
	void *error = api->functions[LOADED_GET_EXECUTABLE](&get);
	if (error) {
		destroy(ERROR_DESTROY, error);
		return;
	}
	pjrt_serialize serialize = {sizeof serialize, NULL, get.executable, NULL, 0, NULL, NULL};
	error = api->functions[EXECUTABLE_SERIALIZE](&serialize);
	if (error)
		destroy(ERROR_DESTROY, error);
	else {
		nodemaskKeepProgram(key, (void *)serialize.bytes, serialize.bytes_size);
		serialize.free(serialize.serialized);
	}
	destroy(EXECUTABLE_DESTROY, get.executable);
}

// load_or_compile takes the place of PJRT_Client_Compile.
static void *load_or_compile(void *arguments) {
	pjrt_compile *a = arguments;
	char key[65] = "";
	void *bytes = NULL;
	size_t size = nodemaskFindProgram(a->program->code, a->program->code_size, (void *)a->program->format,
		a->program->format_size, (void *)a->options, a->options_size, key, &bytes);
	if (bytes) {
		pjrt_load load = {sizeof load, NULL, a->client, bytes, size, NULL, NULL, 0};
		void *error = api->functions[DESERIALIZE_AND_LOAD](&load);
		free(bytes);
		if (!error) {
			a->executable = load.executable;
			return NULL;
		}
		destroy(ERROR_DESTROY, error);
	}
	void *error = compile(a);
	if (!error && key[0])
		keep(key, a->executable);
	return error;
}

const char *nm_keep_programs(const char *plugin) {
	void *library = dlopen(plugin, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
	const void *(*get)(void) = library ? (const void *(*)(void))dlsym(library, "GetPjrtApi") : NULL;
	if (!get)
		return "the plugin is not loaded";
	pjrt_api *found = (pjrt_api *)get();
	if (found == api)
		return NULL;
	if (api)
		return "another plugin keeps them";
	if (found->version.major != 0 || found->size < offsetof(pjrt_api, functions) + (DESERIALIZE_AND_LOAD + 1) * sizeof(pjrt_function))
		return "the plugin has another interface";
	pjrt_function *place = &found->functions[CLIENT_COMPILE];
	if (!*place || !found->functions[EXECUTABLE_SERIALIZE] || !found->functions[DESERIALIZE_AND_LOAD])
		return "the plugin does not serialise programs";
	uintptr_t page = sysconf(_SC_PAGESIZE), first = (uintptr_t)place & ~(page - 1);
	if (mprotect((void *)first, (uintptr_t)(place + 1) - first, PROT_READ | PROT_WRITE))
		return "the plugin's table of functions cannot be changed";
	api = found;
	compile = *place;
	__atomic_store_n(place, load_or_compile, __ATOMIC_RELEASE);
	return NULL;
}
