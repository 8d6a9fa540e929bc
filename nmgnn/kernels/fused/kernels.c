//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

#include "kernels.h"

#include <stdlib.h>
#include <string.h>

#define LOWEST -1e30f // the maximum over nothing

typedef float v8 __attribute__((vector_size(32)));
typedef float v8u __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t i8 __attribute__((vector_size(32)));
typedef uint32_t u8 __attribute__((vector_size(32)));

#define FN(name) name##_base
#define TARGET
#define WIDE 0
#include "loops.h"
#undef FN
#undef TARGET
#undef WIDE

// With CGO_CFLAGS=-DNODEMASK_PLAIN, tests run the set for processors without these instructions.
#if defined(__x86_64__) && !defined(NODEMASK_PLAIN)
#include <immintrin.h>
#define FN(name) name##_avx2
#define TARGET __attribute__((target("avx2,fma")))
#define WIDE 1
#include "loops.h"
#endif

const kernels *nm_kernels(void) {
#if defined(__x86_64__) && !defined(NODEMASK_PLAIN)
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return &set_avx2;
#endif
	return &set_base;
}
