//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

#include "kernels.h"

#include <stdlib.h>
#include <string.h>

#define LOWEST -1e30f // the maximum over nothing

typedef float v8 __attribute__((vector_size(32)));
typedef float v8u __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t i8 __attribute__((vector_size(32)));

#define EIGHT 0, 1, 2, 3, 4, 5, 6, 7
#define FN(name) name##_base
#define TARGET
#define WIDE 0
#define LANES 8
#define OUTER 2
#define NUMBERS EIGHT
#include "loops.h"

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
#define LANES 8
#define OUTER 2
#define NUMBERS EIGHT
#include "loops.h"

#define FN(name) name##_avx512
#define TARGET __attribute__((target("avx2,fma,avx512f,avx512vl,avx512dq,prefer-vector-width=256")))
#define WIDE 2
#define LANES 16
#define OUTER 4
#define NUMBERS EIGHT, 8, 9, 10, 11, 12, 13, 14, 15
#include "loops.h"
#endif

static const kernels *fastest(void) {
#if defined(__x86_64__) && !defined(NODEMASK_PLAIN)
#define HAVE(name) __builtin_cpu_supports(name)
	const char *asked = getenv("NODEMASK_AVX512");
	if (HAVE("avx2") && HAVE("fma"))
		return HAVE("avx512f") && HAVE("avx512vl") && HAVE("avx512dq") && !(asked && !strcmp(asked, "off")) ? &set_avx512 : &set_avx2;
#endif
	return &set_base;
}

const kernels *nm_kernels(void) {
	static const kernels *_Atomic chosen;
	if (!chosen)
		chosen = fastest();
	return chosen;
}
