//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

#include "kernels.h"

#include <stdlib.h>
#include <string.h>

#define LOWEST -1e30f // the maximum over nothing

typedef float v8 __attribute__((vector_size(32)));
typedef float v8u __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t i8 __attribute__((vector_size(32)));
typedef uint32_t u8 __attribute__((vector_size(32)));
typedef uint32_t u8u __attribute__((vector_size(32), aligned(4), may_alias));

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

// compressed[mask] is the places of the bits that are set in mask, in order, a byte each.
#define PLACE(m, k) ((uint64_t)((m) >> (k) & 1) * (k) << 8 * __builtin_popcount((m) & ((1 << (k)) - 1)))
#define PLACES(m) (PLACE(m, 0) | PLACE(m, 1) | PLACE(m, 2) | PLACE(m, 3) | PLACE(m, 4) | PLACE(m, 5) | PLACE(m, 6) | PLACE(m, 7))
#define PLACES4(m) PLACES(m), PLACES(m + 1), PLACES(m + 2), PLACES(m + 3)
#define PLACES16(m) PLACES4(m), PLACES4(m + 4), PLACES4(m + 8), PLACES4(m + 12)
#define PLACES64(m) PLACES16(m), PLACES16(m + 16), PLACES16(m + 32), PLACES16(m + 48)
static const uint64_t compressed[256] = {PLACES64(0), PLACES64(64), PLACES64(128), PLACES64(192)};

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
