// The roof of this machine, which docs/PERFORMANCE.md compares with: multiply-adds of one thread, and what two threads read from memory. The
// most of ten runs. From the project's folder:
//
//	cc -O3 -fno-tree-slp-vectorize -march=native -w -pthread -o /tmp/roof nmgnn/internal/kernels/fused/testdata/roof.c && /tmp/roof

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef float v8 __attribute__((vector_size(32)));
typedef float v16 __attribute__((vector_size(64)));
static volatile float sink;

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

#define MULTIPLY_ADDS(name, v)                                                                                         \
	static double name(void) {                                                                                         \
		enum { TIMES = 4000000, SUMS = 12 };                                                                           \
		v s[SUMS], x = sink - (v){0}, y = x + 0.5f;                                                                  \
		for (int k = 0; k < SUMS; k++)                                                                                 \
			s[k] = (float)k - (v){0};                                                                                        \
		double begin = now();                                                                                          \
		for (int i = 0; i < TIMES; i++)                                                                                \
			_Pragma("GCC unroll 12") for (int k = 0; k < SUMS; k++) s[k] = s[k] * x + y;                               \
		double rate = 2e-9 * TIMES * SUMS * (sizeof(v) / sizeof(float)) / (now() - begin);                             \
		for (int k = 0; k < SUMS; k++)                                                                                 \
			sink += s[k][0];                                                                                           \
		return rate;                                                                                                   \
	}
MULTIPLY_ADDS(eight, v8)
MULTIPLY_ADDS(sixteen, v16)

static size_t half;
static void *reading(void *p) {
	v16 s[4] = {0};
	const v16 *x = p;
	for (size_t i = 0; i < half / sizeof *x; i += 4)
		for (int k = 0; k < 4; k++)
			s[k] += x[i + k];
	sink += s[0][0] + s[1][0] + s[2][0] + s[3][0];
	return NULL;
}

static double reads(size_t bytes) {
	half = bytes / 2;
	char *x = aligned_alloc(64, bytes);
	memset(x, 0, bytes);
	double begin = now();
	pthread_t other;
	int times = (256 << 20) / bytes;
	for (int i = 0; i < times; i++) {
		pthread_create(&other, NULL, reading, x);
		reading(x + half);
		pthread_join(other, NULL);
	}
	double rate = 1e-9 * times * bytes / (now() - begin);
	free(x);
	return rate;
}

int main(void) {
	double best[4] = {0};
	for (int i = 0; i < 10; i++) {
		double got[] = {eight(), sixteen(), reads(16 << 20), reads(256 << 20)};
		for (int k = 0; k < 4; k++)
			best[k] = got[k] > best[k] ? got[k] : best[k];
	}
	printf("GFLOP/s a core: %.0f with eight lanes, %.0f with sixteen; GB/s of two threads: %.0f of 16 MB, %.0f of 256 MB\n", best[0], best[1],
		best[2], best[3]);
}
