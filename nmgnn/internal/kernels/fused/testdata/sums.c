// Times what a sum over the neighbours in a large graph could be made of, each alone, beside what the memory allows: rows of 64 numbers, two
// threads. From the project's folder (docs/PERFORMANCE.md has the results):
//
//	cc -O3 -w -pthread -o /tmp/sums nmgnn/internal/kernels/fused/testdata/sums.c && /tmp/sums [NODES DEGREE]
//
// It needs AVX2 and Linux. "any order" has entries anywhere; "communities" has 41 blocks of nodes that lie side by side, and four of five
// entries inside one: a stochastic block model whose nodes were put in order.

#define _GNU_SOURCE
#include "../kernels.c"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

#define AVX2 __attribute__((target("avx2,fma")))
#define ROW static inline __attribute__((always_inline)) AVX2
enum { WIDTH = 64, BYTES = 4 * WIDTH };

static uint64_t state = 88172645463325252ull;
static uint64_t drawn(uint64_t below) {
	state ^= state << 13, state ^= state >> 7, state ^= state << 17;
	return (state >> 20) % below;
}

static void *memory(size_t size, int large) {
	const size_t page = 2 << 20;
	char *p = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		exit(fprintf(stderr, "no memory for %zu MB\n", size >> 20) > 0);
	p = (char *)(((uintptr_t)p + page - 1) & ~(page - 1));
	madvise(p, size, large ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return memset(p, 1, size);
}

// Two threads share the work; the least processor's time of a thread in four runs, in ms: other programs on the machine change it less than
// the clock.
typedef struct job { kernel *run; const void *args; int64_t rows, block; _Atomic int64_t next, ns; } job;
static void *work_on(void *p) {
	job *j = p;
	struct timespec a, b;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	for (int64_t from; (from = atomic_fetch_add(&j->next, j->block)) < j->rows;)
		j->run(j->args, from, from + j->block < j->rows ? from + j->block : j->rows);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	atomic_fetch_add(&j->ns, (b.tv_sec - a.tv_sec) * 1000000000ll + b.tv_nsec - a.tv_nsec);
	return NULL;
}
static double timed(kernel *run, const void *args, int64_t rows, int64_t blocks) {
	double least = 1e30;
	for (int i = 0; i < 4; i++) {
		job j = {run, args, rows, rows / blocks + 1};
		pthread_t other;
		pthread_create(&other, NULL, work_on, &j);
		work_on(&j);
		pthread_join(other, NULL);
		least = j.ns / 2e6 < least ? j.ns / 2e6 : least;
	}
	return least;
}

// One row's entries, added to y: float32, the same with rows asked for eight entries ahead, and rows stored as bfloat16.
#define EACH _Pragma("GCC unroll 8") for (int k = 0; k < 8; k++)
#define SUM(name, ahead, number, value)                                                                                \
	ROW void name(const times_args *a, int64_t i, int64_t to, float *y) {                                              \
		v8 s[8];                                                                                                       \
		EACH s[k] = load_avx2(y + 8 * k);                                                                              \
		for (; i < to; i++) {                                                                                          \
			if (ahead)                                                                                                 \
				soon_avx2(a->h + (int64_t)a->columns[i + 8] * WIDTH, BYTES);                                           \
			const number *h = (const number *)a->h + (int64_t)a->columns[i] * WIDTH;                                   \
			EACH s[k] += value;                                                                                        \
		}                                                                                                              \
		EACH store_avx2(y + 8 * k, s[k]);                                                                              \
	}
SUM(plain, 0, float, load_avx2(h + 8 * k))
SUM(entries_ahead, 1, float, load_avx2(h + 8 * k))
SUM(halved, 0, uint16_t, (v8)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(h + 8 * k))), 16))

// All rows, block by block of h, with visits asked for so many rows ahead.
#define WALK(name, row, ahead)                                                                                         \
	static AVX2 void name(const void *args, int64_t from, int64_t to) {                                                \
		const times_args *a = args;                                                                                    \
		int32_t *next = malloc((to - from) * sizeof *next);                                                            \
		memcpy(next, a->offsets + from, (to - from) * sizeof *next);                                                   \
		memset(a->y + from * WIDTH, 0, (to - from) * BYTES);                                                           \
		int64_t left = a->offsets[to] - a->offsets[from];                                                              \
		for (int64_t end = a->block ? a->block : INT32_MAX; left > 0; end += a->block)                                 \
			for (int64_t r = from; r < to; r++) {                                                                      \
				if (ahead && r + ahead < to) {                                                                         \
					soon_avx2(a->columns + next[r + ahead - from], 256);                                               \
					soon_avx2(a->y + (r + ahead) * WIDTH, BYTES);                                                      \
				}                                                                                                      \
				int64_t i = next[r - from], j = first_from_avx2(a->columns, i, a->offsets[r + 1], end);                \
				row(a, i, j, a->y + r * WIDTH);                                                                        \
				next[r - from] = (int32_t)j;                                                                           \
				left -= j - i;                                                                                         \
			}                                                                                                          \
		free(next);                                                                                                    \
	}
WALK(walk, plain, 0)
WALK(walk_ahead, plain, 8)
WALK(walk_entries, entries_ahead, 0)
WALK(walk_halved, halved, 8)

// Rows read in random order, and one after the other.
typedef struct reads { const float *h; const int32_t *at; float sink; } reads;
static AVX2 void read_random(const void *args, int64_t from, int64_t to) {
	const reads *r = args;
	v8 s[8] = {0};
	for (int64_t i = from; i < to; i++)
		EACH s[k] += load_avx2(r->h + (int64_t)r->at[i] * WIDTH + 8 * k);
	((reads *)r)->sink += s[0][0] + s[1][1] + s[2][2] + s[3][3] + s[4][4] + s[5][5] + s[6][6] + s[7][7];
}
static AVX2 void read_along(const void *args, int64_t from, int64_t to) {
	const reads *r = args;
	v8 s[8] = {0};
	for (int64_t i = from; i < to; i++)
		EACH s[k] += load_avx2(r->h + i * WIDTH + 8 * k);
	((reads *)r)->sink += s[0][0] + s[1][1] + s[2][2] + s[3][3] + s[4][4] + s[5][5] + s[6][6] + s[7][7];
}

int main(int argc, char **argv) {
	int64_t nodes = argc > 2 ? atoll(argv[1]) : 232965, degree = argc > 2 ? atoll(argv[2]) : 492, most = nodes * (degree + degree / 4);
	enum { READS = 20000000 };
	mallopt(M_MMAP_THRESHOLD, 1 << 30); // as handlers.c has it
	mallopt(M_TRIM_THRESHOLD, INT32_MAX);
	mallopt(M_TOP_PAD, 64 << 20);
	int32_t *at = memory(READS * 4, 0), *offsets = memory((nodes + 1) * 4, 0), *columns = memory((most + 8) * 4, 0);
	static const int64_t sizes[] = {1 << 20, 4 << 20, 16 << 20, 60 << 20, 1 << 30};
	for (int i = 0; i < 5; i++) {
		int64_t rows = sizes[i] / BYTES;
		reads r = {memory(sizes[i], 0), at};
		for (int64_t k = 0; k < READS; k++)
			at[k] = drawn(rows);
		double random = timed(read_random, &r, READS, 64), along = timed(read_along, &r, rows, 64);
		printf("memory of %4ld MB: random rows %.2f ns each, %.0f GB/s; along %.0f GB/s\n", sizes[i] >> 20, random * 1e6 / READS,
		       READS * (double)BYTES / random / 1e6, sizes[i] / along / 1e6);
		munmap((void *)r.h, sizes[i]);
	}
	float *h = memory(nodes * BYTES, 0), *large = memory(nodes * BYTES, 1), *y = memory(nodes * BYTES, 0), *some = memory(nodes * 4, 0);
	uint32_t *heard = memset(memory(nodes / 8 + 4, 0), 0, nodes / 8 + 4);
	for (int64_t v = 0; v < nodes; v++) {
		some[v] = drawn(2);
		heard[v / 32] |= (uint32_t)some[v] << v % 32;
	}
	for (int order = 0; order < 2; order++) {
		int64_t n = 0;
		for (int64_t v = 0; v < nodes; v++) {
			offsets[v] = n;
			int64_t first = v * 41 / nodes * nodes / 41, last = first + nodes / 41, outside = 2 * nodes / degree, inside = outside;
			if (order)
				outside *= 5, inside = 2 * nodes / 41 * 5 / (degree * 4);
			for (int64_t c = drawn(outside); c < nodes && n < most; c += 1 + drawn((c >= first && c < last ? inside : outside) - 1))
				columns[n++] = c;
		}
		offsets[nodes] = n;
		memset(columns + n, 0, 8 * 4);
		printf("%s, %ld entries:\n", order ? "communities" : "any order", n);
		const kernels *k = nm_kernels();
		int64_t fits = (4 << 20) / BYTES;
		const struct { const char *name; kernel *run; const float *h; const uint32_t *heard; const float *wanted; int64_t block, blocks; } ways[] = {
			{"row after row", walk, h, 0, 0, 0, 32},
			{"the same, large pages", walk, large, 0, 0, 0, 32},
			{"the same, rows asked for 8 entries ahead", walk_entries, h, 0, 0, 0, 32},
			{"blocks of 16 entries a visit (as before)", walk, h, 0, 0, 16 * nodes / degree, 4},
			{"blocks of 4 MB", walk, h, 0, 0, fits, 8},
			{"blocks of 16 MB", walk, h, 0, 0, 4 * fits, 8},
			{"blocks of 4 MB, visits asked for ahead", walk_ahead, h, 0, 0, fits, 8},
			{"the same, large pages", walk_ahead, large, 0, 0, fits, 8},
			{"the same, bfloat16", walk_halved, h, 0, 0, 2 * fits, 8},
			{"as built", k->times_blocked, h, 0, 0, fits, 8},
			{"as built, half of the nodes heard", k->times_blocked, h, heard, 0, 2 * fits, 16},
			{"as built, half of the rows wanted", k->times_blocked, h, 0, some, fits, 8},
		};
		for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
			times_args a = {.offsets = offsets, .columns = columns, .h = ways[i].h, .heard = ways[i].heard, .wanted = ways[i].wanted, .width = WIDTH,
			                .heads = 1, .block = ways[i].block, .y = y};
			double ms = timed(ways[i].run, &a, nodes, ways[i].blocks);
			printf("  %-45s %6.0f ms  %.2f ns an entry\n", ways[i].name, ms, ms * 1e6 / n);
			fflush(stdout);
		}
	}
}
