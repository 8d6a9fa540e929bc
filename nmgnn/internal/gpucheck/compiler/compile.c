// compile PLUGIN TARGET.txtpb PROGRAM.mlir: compiles a StableHLO program for a GPU that is not there, and prints "peak BYTES alias BYTES".
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pjrt_c_api.h"

static const PJRT_Api* api;

// must ends the program with an error's message, if there is one.
static void must(const char* what, PJRT_Error* error) {
  if (!error) return;
  PJRT_Error_Message_Args m = {.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE, .error = error};
  api->PJRT_Error_Message(&m);
  fprintf(stderr, "%s: %.*s\n", what, (int)m.message_size, m.message);
  exit(1);
}

static char* contents(const char* path, size_t* size) {
  FILE* f = fopen(path, "rb");
  if (!f || fseek(f, 0, SEEK_END)) {
    perror(path);
    exit(1);
  }
  *size = ftell(f);
  rewind(f);
  char* text = malloc(*size + 1);
  if (!text || fread(text, 1, *size, f) != *size) {
    perror(path);
    exit(1);
  }
  text[*size] = 0;
  fclose(f);
  return text;
}

#define NEW(T) {.struct_size = T##_STRUCT_SIZE}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: compile PLUGIN TARGET.txtpb PROGRAM.mlir\n");
    return 2;
  }
  void* plugin = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL);
  const PJRT_Api* (*get)(void) = plugin ? (const PJRT_Api* (*)(void))dlsym(plugin, "GetPjrtApi") : NULL;
  if (!get) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  api = get();
  PJRT_Plugin_Initialize_Args init = NEW(PJRT_Plugin_Initialize_Args);
  must("initializing the plugin", api->PJRT_Plugin_Initialize(&init));
  size_t size;
  char* target = contents(argv[2], &size);
  PJRT_NamedValue options[2] = {NEW(PJRT_NamedValue), NEW(PJRT_NamedValue)};
  options[0].name = "target_config", options[0].string_value = target, options[0].value_size = size;
  options[1].name = "topology", options[1].string_value = "1x1x1", options[1].value_size = 5;
  for (int i = 0; i < 2; i++) options[i].name_size = strlen(options[i].name), options[i].type = PJRT_NamedValue_kString;
  PJRT_TopologyDescription_Create_Args topology = NEW(PJRT_TopologyDescription_Create_Args);
  topology.topology_name = "", topology.create_options = options, topology.num_options = 2;
  must("describing the GPU", api->PJRT_TopologyDescription_Create(&topology));
  PJRT_Program program = NEW(PJRT_Program);
  program.code = contents(argv[3], &program.code_size);
  program.format = "mlir", program.format_size = 4;
  // CompileOptionsProto: executable_build_options {device_ordinal: -1, num_replicas: 1, num_partitions: 1}, compile_portable_executable.
  static const unsigned char compile_options[] = {0x1a, 15, 0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x20, 1, 0x28, 1, 0x20, 1};
  PJRT_Compile_Args compile = NEW(PJRT_Compile_Args);
  compile.topology = topology.topology, compile.program = &program;
  compile.compile_options = (const char*)compile_options, compile.compile_options_size = sizeof compile_options;
  must("compiling", api->PJRT_Compile(&compile));
  PJRT_Executable_GetCompiledMemoryStats_Args memory = NEW(PJRT_Executable_GetCompiledMemoryStats_Args);
  memory.executable = compile.executable;
  must("asking for its memory", api->PJRT_Executable_GetCompiledMemoryStats(&memory));
  printf("\npeak %ld alias %ld\n", (long)memory.peak_memory_in_bytes, (long)memory.alias_size_in_bytes);
  return 0;
}
