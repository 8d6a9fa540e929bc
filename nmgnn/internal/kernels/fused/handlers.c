//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <malloc.h>
#include <sys/mman.h>
#endif

#include "ffi.h"
#include "kernels.h"

// Rows are computed in blocks, by any thread that is free: the one that XLA calls, and others of its own.
typedef struct work {
	kernel *run;
	const void *args;
	int64_t rows, block;
	_Atomic int64_t next, done; // rows taken, rows finished
	_Atomic int users;          // the last one frees this struct
} work;

static void take(work *w) {
	for (;;) {
		int64_t from = atomic_fetch_add(&w->next, w->block);
		if (from >= w->rows)
			return;
		int64_t to = from + w->block < w->rows ? from + w->block : w->rows;
		w->run(w->args, from, to);
		atomic_fetch_add(&w->done, to - from);
	}
}

static void leave(work *w) {
	if (atomic_fetch_sub(&w->users, 1) == 1)
		free(w);
}

static void help(void *data) {
	take(data);
	leave(data);
}

// XLA's memory for what large programs compute in between is new at each call, and the system clears a page of it whenever one is touched for
// the first time. With large pages that is 512 times less often, and rows that are read in any order are found faster.
static void large_pages(void *p, int64_t size) {
#ifdef MADV_HUGEPAGE
	enum { PAGE = 2 << 20 };
	uintptr_t from = ((uintptr_t)p + PAGE - 1) / PAGE * PAGE, to = ((uintptr_t)p + size) / PAGE * PAGE;
	if (to >= from + 4 * PAGE)
		madvise((void *)from, to - from, MADV_HUGEPAGE); // small pages will do where there are no others
#endif
	(void)p, (void)size;
}

static void for_rows(const ffi_frame *frame, kernel *run, const void *args, int64_t rows, int64_t numbers, int blocks) {
	int64_t threads = 1;
	ffi_num_threads ask = {sizeof ask, NULL, frame->context, &threads};
	void *error = frame->api->num_threads(&ask);
	if (error)
		frame->api->error_destroy(error);
	// Waking another thread costs some microseconds, in which one computes some ten thousand numbers.
	work *w = error || threads < 2 || rows < 2 || numbers < 50000 ? NULL : malloc(sizeof *w);
	if (!w) {
		run(args, 0, rows);
		return;
	}
	int64_t block = rows / (threads * blocks);
	*w = (work){.run = run, .args = args, .rows = rows, .block = block < 1 ? 1 : block, .users = 1};
	for (int64_t i = 1; i < threads; i++) {
		atomic_fetch_add(&w->users, 1);
		ffi_schedule schedule = {sizeof schedule, NULL, frame->context, help, w};
		if ((error = frame->api->schedule(&schedule))) {
			frame->api->error_destroy(error);
			leave(w);
		}
	}
	take(w);
	// Other threads may still compute blocks that they took, for which args must stay. Those that come later find none left.
	for (int spins = 0; atomic_load(&w->done) < rows; spins++)
		if (spins > 200)
			sched_yield();
	leave(w);
}

enum {
	BLOCK = 256 << 10, // bytes: a part of the cache that is a core's own
	MOST = 4 << 20,    // bytes: a part of what the cores share
	VISIT = 32,        // entries of a row that make it worth a visit; a quarter of them will do
};

static void *fail(const ffi_frame *frame, const char *message) {
	ffi_error_create create = {sizeof create, NULL, message, FFI_INVALID_ARGUMENT};
	return frame->api->error_create(&create);
}

// Those of a matrix; -1 for what is none, which no matrix has.
static int64_t rows(const ffi_buffer *b) { return b->rank == 2 ? b->dimensions[0] : -1; }
static int64_t columns(const ffi_buffer *b) { return b->rank == 2 ? b->dimensions[1] : -1; }

// is returns whether b is a matrix of a type and shape; rows or columns below 0 stand for any number, but 0 columns.
static int is(const ffi_buffer *b, int type, int64_t r, int64_t c) {
	return b->type == type && b->rank == 2 && (r < 0 || rows(b) == r) && (c < 0 || columns(b) == c) && columns(b) > 0;
}

// metadata answers the question that XLA asks each handler when it is registered, and returns whether this call was that question,
// or one that needs no answer.
static int metadata(const ffi_frame *frame, void **error) {
	*error = NULL;
	for (pjrt_extension *e = frame->extensions; e; e = e->next) {
		if (e->type != FFI_METADATA)
			continue;
		const ffi_version *v = &frame->api->version;
		if (v->major != 0 || v->minor < 3 || v->minor > 4)
			*error = fail(frame, "nodemask: unknown version of XLA's foreign function interface (known: 0.3 and 0.4)");
		ffi_metadata_extension *m = (ffi_metadata_extension *)e;
		m->metadata->version.major = v->major;
		m->metadata->version.minor = v->minor;
		return 1;
	}
	return frame->stage != FFI_EXECUTE;
}

#define HANDLER(name, least, most, out)                                                                                \
	static void *run_##name(const ffi_frame *frame, int64_t n, ffi_buffer **x, ffi_buffer **y);                        \
	void *nm_##name(void *called) {                                                                                    \
		const ffi_frame *frame = called;                                                                               \
		void *error;                                                                                                   \
		if (metadata(frame, &error))                                                                                   \
			return error;                                                                                              \
		int64_t n = frame->arguments.count;                                                                            \
		if (n < (least) || n > (most) || frame->results.count != (out))                                                  \
			return fail(frame, "nodemask " #name ": unexpected number of arguments or results");                       \
		return run_##name(frame, n, frame->arguments.buffers, frame->results.buffers);                                 \
	}                                                                                                                  \
	static void *run_##name(const ffi_frame *frame, int64_t n, ffi_buffer **x, ffi_buffer **y)

#define EXPECT(name, condition)                                                                                        \
	if (!(condition))                                                                                                  \
	return fail(frame, "nodemask " #name ": unexpected types or shapes; this does not hold: " #condition)

// bits makes a bit for each row of heard, whether it is not 0, and counts them. Where heard is missing, so are they, and all count. The caller
// frees them. It returns 0 if there is no memory.
static int bits(const ffi_buffer *heard, int64_t all, const uint32_t **made, int64_t *count) {
	*made = NULL;
	*count = all;
	if (!heard)
		return 1;
	uint32_t *b = calloc((size_t)all / 32 + 1, sizeof *b);
	const float *x = heard->data;
	*count = 0;
	for (int64_t i = 0; b && i < all; i += 32) {
		uint32_t word = 0;
		for (int k = 0; k < 32 && k < all - i; k++)
			word |= (uint32_t)(x[i + k] != 0) << k;
		b[i / 32] = word;
		*count += __builtin_popcount(word);
	}
	*made = b;
	return b != NULL;
}

static void *no_memory(const ffi_frame *frame) { return fail(frame, "nodemask: there is no memory left for what is masked"); }

// taken is the next input if a bit of which is set, else NULL. Such inputs come first.
enum { HEARD = 1, WANTED = 2, DROPPED = 4, SCORES = 8, KEEP = 16, ROOT = 32, BIAS = 64, GATE = 128 };
static const ffi_buffer *taken(int which, int bit, int64_t *n, ffi_buffer ***x) {
	if (!(which & bit))
		return NULL;
	--*n;
	return *(*x)++;
}

// is_each returns whether b is missing, or a column of so many numbers.
static int is_each(const ffi_buffer *b, int64_t rows) { return !b || is(b, FFI_F32, rows, 1); }
static const float *data(const ffi_buffer *b) { return b ? b->data : NULL; }

// which [1, 1] (, heard [·, 1]) (, wanted [rows, 1]) (, root [rows, width]) (, bias [1, width]) (, keys and bound [1, 3], scale [1, 1]), offsets
// [rows+1, 1], columns [entries, 1], h [·, width] (, weights [entries, heads] (, positions [entries, 1])) → [rows, width]
HANDLER(times, 4, 12, 1) {
	EXPECT(times, is(x[0], FFI_S32, 1, 1));
	int which = *(int32_t *)(*x++)->data;
	n--;
	const ffi_buffer *heard = taken(which, HEARD, &n, &x), *wanted = taken(which, WANTED, &n, &x);
	const ffi_buffer *root = taken(which, ROOT, &n, &x), *bias = taken(which, BIAS, &n, &x);
	const ffi_buffer *draw = taken(which, DROPPED, &n, &x), *scale = taken(which, DROPPED, &n, &x);
	EXPECT(times, n >= 3 && n <= 5);
	int64_t m = rows(y[0]), entries = rows(x[1]), width = columns(y[0]), all = rows(x[2]), row = width * (int64_t)sizeof(float), some;
	EXPECT(times, is(y[0], FFI_F32, -1, -1) && is(x[0], FFI_S32, m + 1, 1) && is(x[1], FFI_S32, -1, 1) && is(x[2], FFI_F32, -1, width));
	EXPECT(times, n < 4 || (is(x[3], FFI_F32, entries, -1) && width % columns(x[3]) == 0));
	EXPECT(times, (n < 5 || is(x[4], FFI_S32, entries, 1)) && is_each(heard, all) && is_each(wanted, m));
	EXPECT(times, !draw || (is(draw, FFI_U32, 1, 3) && is(scale, FFI_F32, 1, 1) && n > 3 && is(x[3], FFI_F32, -1, 1)));
	EXPECT(times, (!root || is(root, FFI_F32, m, width)) && (!bias || (root && is(bias, FFI_F32, 1, width))));
	times_args a = {.offsets = x[0]->data, .columns = x[1]->data, .h = x[2]->data, .weights = n > 3 ? x[3]->data : NULL, .wanted = data(wanted),
	                .root = data(root), .bias = data(bias),
	                .positions = n > 4 ? x[4]->data : NULL, .draw = draw ? draw->data : NULL, .scale = draw ? *(float *)scale->data : 0,
	                .width = width, .heads = n > 3 ? columns(x[3]) : 1, .entries = entries, .y = y[0]->data};
	large_pages(a.y, m * width * (int64_t)sizeof *a.y);
	if (!bits(heard, all, &a.heard, &some))
		return no_memory(frame);
	// Rows of h that do not fit the cache of a core are read block by block, if enough entries fall into each: a visit to a row costs as
	// much as some entries. A block has a row at least: a single one may be wider than the cache.
	double apart = some ? (double)all / (double)some : 1; // what is not heard takes no room in the cache
	int64_t fits = (int64_t)(apart * (double)(BLOCK / row)), most = (int64_t)(apart * (double)(MOST / row));
	double read = (double)entries * (a.draw ? 1 - a.draw[2] / 4294967296.0 : 1);
	// A visit reads block·read/(rows·all) entries, if all rows and columns have as many, and of these the share that is heard.
	double worth = read > 0 && some ? VISIT * ((double)m / read) * apart * (double)all : (double)all;
	a.block = worth < (double)fits ? fits : worth < (double)most ? (int64_t)worth : most;
	if (a.block > 0 && all * row > 4 * BLOCK && worth <= 4 * (double)a.block) // what is taken of some rows is kept for a while: in pieces that a thread's heap has room for
		for_rows(frame, nm_kernels()->times_blocked, &a, m, entries * width, a.heard || a.draw ? 8 : 4);
	else
		for_rows(frame, nm_kernels()->times, &a, m, entries * width, 16);
	free((void *)a.heard);
	return NULL;
}

// offsets [rows+1, 1], columns [entries, 1], seen [rows, 1] (, heard [·, 1]) → [·, 1]: 1 for rows that are seen, and for columns of their entries
// that are heard, else 0. The matrix is square.
HANDLER(reach, 3, 4, 1) {
	int64_t m = rows(y[0]), count, read = 0;
	const ffi_buffer *given = n > 3 ? x[3] : NULL;
	EXPECT(reach, is(y[0], FFI_F32, -1, 1) && is(x[0], FFI_S32, m + 1, 1) && is(x[1], FFI_S32, -1, 1) && is(x[2], FFI_F32, m, 1) && is_each(given, m));
	const int32_t *offsets = x[0]->data, *columns = x[1]->data;
	int64_t words = m / 32 + 1;
	const uint32_t *seen = NULL, *heard = NULL;
	uint32_t *needed = bits(x[2], m, &seen, &count) && bits(given, m, &heard, &count) ? malloc(2 * words * sizeof *needed) : NULL, *may = needed + words;
	for (int64_t w = 0; needed && w < words; w++) {
		needed[w] = seen[w];
		may[w] = seen[w] | (heard ? heard[w] : w < m / 32 ? ~0u : (1u << m % 32) - 1);
	}
	for (int64_t w = 0; needed && w < words; w++) {
		for (uint32_t left = seen[w]; left; left &= left - 1) {
			int64_t r = 32 * w + __builtin_ctz(left);
			read += offsets[r + 1] - offsets[r];
			for (int64_t i = offsets[r]; i < offsets[r + 1]; i++)
				needed[columns[i] >> 5] |= may[columns[i] >> 5] & 1u << (columns[i] & 31);
		}
		if (read > m && !memcmp(needed, may, words * sizeof *may))
			break; // all that may be needed is
		read = read > m ? 0 : read;
	}
	for (int64_t r = 0; needed && r < m; r++)
		((float *)y[0]->data)[r] = (float)(needed[r >> 5] >> (r & 31) & 1);
	free((void *)seen);
	free((void *)heard);
	free(needed);
	return needed ? NULL : no_memory(frame);
}

static void *reduce(const ffi_frame *frame, kernel *run, int64_t n, ffi_buffer **x, ffi_buffer **y) {
	int64_t m = rows(y[0]), width = columns(y[0]);
	EXPECT(sum or maximum, is(y[0], FFI_F32, -1, -1) && is(x[0], FFI_S32, m + 1, 1) && is(x[1], FFI_F32, -1, width));
	EXPECT(sum or maximum, n < 3 || is(x[2], FFI_S32, rows(x[1]), 1));
	reduce_args a = {.offsets = x[0]->data, .e = x[1]->data, .positions = n > 2 ? x[2]->data : NULL, .width = width, .y = y[0]->data};
	for_rows(frame, run, &a, m, rows(x[1]) * width, 16);
	return NULL;
}

// offsets [rows+1, 1], e [entries, width] (, positions [entries, 1]) → [rows, width]
HANDLER(total, 2, 3, 1) { return reduce(frame, nm_kernels()->total, n, x, y); }
HANDLER(highest, 2, 3, 1) { return reduce(frame, nm_kernels()->highest, n, x, y); }

// offsets [rows+1, 1], columns [entries, 1], x [rows, width], h [·, width] → [entries, heads]
HANDLER(agreement, 4, 4, 1) {
	(void)n;
	int64_t m = rows(x[2]), width = columns(x[2]), heads = columns(y[0]);
	EXPECT(agreement, is(x[2], FFI_F32, -1, -1) && is(x[0], FFI_S32, m + 1, 1) && is(x[1], FFI_S32, -1, 1) && is(x[3], FFI_F32, -1, width));
	EXPECT(agreement, is(y[0], FFI_F32, rows(x[1]), -1) && width % heads == 0);
	agreement_args a = {.offsets = x[0]->data, .columns = x[1]->data, .x = x[2]->data, .h = x[3]->data, .width = width, .heads = heads, .y = y[0]->data};
	for_rows(frame, nm_kernels()->agreement, &a, m, rows(x[1]) * width, 16);
	return NULL;
}

// scores fills in what the scores are made from, x[0] e [entries, heads], or x[0] source, x[1] target [·, heads], x[2] slope [1, 1],
// and returns whether it has these shapes.
static int scores(attention_args *a, int64_t given, ffi_buffer **x, int64_t m, int64_t entries) {
	if (given == 1) {
		a->e = x[0]->data;
		return is(x[0], FFI_F32, entries, a->heads);
	}
	if (!is(x[0], FFI_F32, -1, a->heads) || !is(x[1], FFI_F32, m, a->heads) || !is(x[2], FFI_F32, 1, 1))
		return 0;
	a->source = x[0]->data;
	a->target = x[1]->data;
	a->slope = *(float *)x[2]->data;
	return 1;
}

static void *attention(const ffi_frame *frame, int back, int64_t n, ffi_buffer **x, ffi_buffer **y) {
	EXPECT(attention, is(x[0], FFI_S32, 1, 1));
	int which = *(int32_t *)(*x++)->data;
	n--;
	const ffi_buffer *heard = taken(which, HEARD, &n, &x), *wanted = taken(which, WANTED, &n, &x), *bias = taken(which, BIAS, &n, &x);
	int given = which & SCORES ? 1 : 3, keep = (which & KEEP) != 0, fixed = back ? 6 : 3;
	EXPECT(attention, n == fixed + given + keep && frame->results.count == (back ? 1 + (given == 3) : 2 + keep) && !(back && (keep || bias)));
	const ffi_buffer *alpha = back ? x[3] : y[1], *kept = back ? x[4] : keep ? y[2] : NULL, *sum = back ? x[5] : y[0];
	int64_t m = rows(sum), entries = rows(x[1]), some;
	attention_args a = {.offsets = x[0]->data, .columns = x[1]->data, .h = x[2]->data, .width = columns(sum), .heads = columns(alpha),
	                    .wanted = data(wanted), .bias = data(bias), .keep = keep ? x[fixed + given]->data : NULL};
	EXPECT(attention, is(sum, FFI_F32, -1, -1) && is(x[0], FFI_S32, m + 1, 1) && is(x[1], FFI_S32, -1, 1) && is(x[2], FFI_F32, -1, a.width));
	EXPECT(attention, is(alpha, FFI_F32, entries, -1) && a.width % a.heads == 0 && scores(&a, given, x + fixed, m, entries));
	EXPECT(attention, is_each(heard, rows(x[2])) && is_each(wanted, m) && (!bias || is(bias, FFI_F32, 1, a.width)));
	EXPECT(attention, (!kept || is(kept, FFI_F32, entries, a.heads)) && (!keep || is(x[fixed + given], FFI_F32, entries, a.heads)));
	if (back) {
		EXPECT(attention, is(y[0], FFI_F32, entries, a.heads) && (given == 1 || is(y[1], FFI_F32, m, a.heads)));
		a.alpha_in = data(alpha), a.kept_in = data(kept), a.g = data(sum), a.d = y[0]->data, a.target_gradient = given == 3 ? y[1]->data : NULL;
	} else {
		a.alpha = y[1]->data, a.kept = keep ? y[2]->data : NULL, a.y = y[0]->data;
	}
	if (!bits(heard, rows(x[2]), &a.heard, &some))
		return no_memory(frame);
	for_rows(frame, back ? nm_kernels()->attend_backward : nm_kernels()->attend, &a, m, entries * a.width, 16);
	free((void *)a.heard);
	return NULL;
}

// which [1, 1] (, heard [·, 1]) (, wanted [rows, 1]) (, bias [1, width]), offsets [rows+1, 1], columns [entries, 1], h [·, width], scores
// (, keep [entries, heads]) → y [rows, width], alpha (, kept) [entries, heads]
HANDLER(attend, 5, 11, frame->results.count) { return attention(frame, 0, n, x, y); }

// which [1, 1] (, heard [·, 1]) (, wanted [rows, 1]), offsets [rows+1, 1], columns [entries, 1], h [·, width], alpha, kept [entries, heads],
// g [rows, width], scores → d [entries, heads] (, towards the targets [rows, heads])
HANDLER(attend_backward, 8, 12, frame->results.count) { return attention(frame, 1, n, x, y); }

// which [1, 1] (, wanted [rows, 1]), (, gate [rows, columns]), keys, bound, first row [1, 4], scale [1, 1] (, x [·, columns], anything that is there
// before) → [rows, columns]
HANDLER(drop, 3, 7, 1) {
	EXPECT(drop, is(x[0], FFI_S32, 1, 1));
	int which = *(int32_t *)(*x++)->data;
	n--;
	const ffi_buffer *wanted = taken(which, WANTED, &n, &x), *gate = taken(which, GATE, &n, &x);
	EXPECT(drop, n >= 2 && is(x[0], FFI_U32, 1, 4) && is(x[1], FFI_F32, 1, 1) && is(y[0], FFI_F32, -1, -1));
	EXPECT(drop, (n < 3 || is(x[2], FFI_F32, -1, columns(y[0]))) && (!gate || is(gate, FFI_F32, rows(y[0]), columns(y[0]))));
	const uint32_t *draw = x[0]->data;
	int64_t first = draw[3];
	EXPECT(drop, (n < 3 || first + rows(y[0]) <= rows(x[2])) && (!wanted || is(wanted, FFI_F32, n < 3 ? rows(y[0]) : rows(x[2]), 1)));
	drop_args a = {.x = n > 2 ? (const float *)x[2]->data + first * columns(y[0]) : NULL, .wanted = wanted ? data(wanted) + first : NULL, .gate = data(gate),
	               .first = (uint32_t)(first * columns(y[0])), .keys = {draw[0], draw[1]}, .bound = draw[2], .scale = *(float *)x[1]->data,
	               .size = rows(y[0]) * columns(y[0]), .width = columns(y[0]), .y = y[0]->data};
	large_pages(a.y, a.size * (int64_t)sizeof *a.y);
	for_rows(frame, nm_kernels()->drop, &a, (a.size + NM_CHUNK - 1) / NM_CHUNK, a.size, 16);
	return NULL;
}

// x [rows, width], a, b [1, width] → y, z [rows, heads]
HANDLER(score, 3, 3, 2) {
	(void)n;
	score_args a = {.x = x[0]->data, .a = x[1]->data, .b = x[2]->data, .width = columns(x[0]), .heads = columns(y[0]), .y = y[0]->data, .z = y[1]->data};
	EXPECT(score, is(x[0], FFI_F32, -1, -1) && is(x[1], FFI_F32, 1, a.width) && is(x[2], FFI_F32, 1, a.width));
	EXPECT(score, is(y[0], FFI_F32, rows(x[0]), -1) && is(y[1], FFI_F32, rows(x[0]), a.heads) && a.width % a.heads == 0);
	for_rows(frame, nm_kernels()->score, &a, rows(x[0]), 2 * rows(x[0]) * a.width, 16);
	return NULL;
}

// x [rows, width], a, b [1, width], v, w [rows, heads] → towards x [rows, width], a and b [parts, width]
HANDLER(score_backward, 5, 5, 3) {
	(void)n;
	score_args a = {.x = x[0]->data, .a = x[1]->data, .b = x[2]->data, .v = x[3]->data, .w = x[4]->data, .rows = rows(x[0]), .width = columns(x[0]),
	                .heads = columns(x[3]), .parts = rows(y[1]), .x_gradient = y[0]->data, .a_gradients = y[1]->data, .b_gradients = y[2]->data};
	EXPECT(score, is(x[0], FFI_F32, -1, -1) && is(x[1], FFI_F32, 1, a.width) && is(x[2], FFI_F32, 1, a.width) && is(x[3], FFI_F32, a.rows, -1));
	EXPECT(score, is(x[4], FFI_F32, a.rows, a.heads) && is(y[0], FFI_F32, a.rows, a.width) && is(y[1], FFI_F32, -1, a.width));
	EXPECT(score, is(y[2], FFI_F32, a.parts, a.width) && a.width % a.heads == 0);
	for_rows(frame, nm_kernels()->score_backward, &a, a.parts, 3 * a.rows * a.width, 8);
	return NULL;
}

// x (, v) [rows, columns] → [rows, columns]
HANDLER(elu, 1, 2, 1) {
	EXPECT(elu, is(y[0], FFI_F32, -1, -1) && is(x[0], FFI_F32, rows(y[0]), columns(y[0])) && (n < 2 || is(x[1], FFI_F32, rows(y[0]), columns(y[0]))));
	elu_args a = {.x = x[0]->data, .v = n > 1 ? x[1]->data : NULL, .size = rows(y[0]) * columns(y[0]), .y = y[0]->data};
	for_rows(frame, nm_kernels()->elu, &a, (a.size + NM_CHUNK - 1) / NM_CHUNK, a.size, 16);
	return NULL;
}

// x [rows, width], v [rows, out] (, wanted [rows, 1]) → [parts·width, out]
HANDLER(outer, 2, 3, 1) {
	const ffi_buffer *wanted = n > 2 ? x[2] : NULL;
	outer_args a = {.x = x[0]->data, .v = x[1]->data, .wanted = data(wanted), .rows = rows(x[0]), .width = columns(x[0]), .out = columns(x[1]), .y = y[0]->data};
	EXPECT(outer, is_each(wanted, a.rows));
	EXPECT(outer, is(x[0], FFI_F32, -1, -1) && is(x[1], FFI_F32, a.rows, -1) && is(y[0], FFI_F32, -1, a.out) && rows(y[0]) % a.width == 0);
	a.parts = rows(y[0]) / a.width;
	for_rows(frame, nm_kernels()->outer, &a, a.parts * ((a.width + NM_OUTER - 1) / NM_OUTER), a.rows * a.width * a.out / 8, 8);
	return NULL;
}

static const struct {
	const char *name;
	void *(*handler)(void *);
} handlers[] = {
	{"nodemask_times", nm_times},
	{"nodemask_reach", nm_reach},
	{"nodemask_total", nm_total},
	{"nodemask_highest", nm_highest},
	{"nodemask_agreement", nm_agreement},
	{"nodemask_attend", nm_attend},
	{"nodemask_attend_backward", nm_attend_backward},
	{"nodemask_drop", nm_drop},
	{"nodemask_score", nm_score},
	{"nodemask_score_backward", nm_score_backward},
	{"nodemask_elu", nm_elu},
	{"nodemask_outer", nm_outer},
};

// XLA frees a program's intermediate results when it ends, and allocates them anew when it is called again. Left alone, the
// allocator returns such blocks to the system, which hands them out again page by page, each cleared first: for GAT on PubMed that
// takes longer than everything else.
void nm_keep_memory(void) {
#ifdef __GLIBC__
	if (getenv("MALLOC_TRIM_THRESHOLD_") || getenv("MALLOC_MMAP_THRESHOLD_") || getenv("GLIBC_TUNABLES"))
		return; // the user decided
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, INT32_MAX);
	mallopt(M_TOP_PAD, 64 << 20); // as much as a thread's own heap has: it is not given back either
#endif
}

int nm_register(const void *plugin, char *problem, size_t size) {
	const pjrt_api *api = plugin;
	for (pjrt_extension *e = api->extensions; e; e = e->next) {
		pjrt_ffi_extension *ffi = (pjrt_ffi_extension *)e;
		if (e->type != PJRT_EXTENSION_FFI || e->size < sizeof *ffi)
			continue;
		for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++) {
			pjrt_ffi_register ask = {sizeof ask, handlers[i].name, strlen(handlers[i].name), (void *)handlers[i].handler, "Host", 4, 0};
			void *error = ffi->register_handler(&ask);
			if (!error)
				continue;
			pjrt_error_message message = {sizeof message, NULL, error, NULL, 0};
			((void (*)(pjrt_error_message *))api->error_message)(&message);
			size_t length = message.length < size ? message.length : size - 1;
			memcpy(problem, message.text, length);
			problem[length] = 0;
			pjrt_error_destroy destroy = {sizeof destroy, NULL, error};
			((void (*)(pjrt_error_destroy *))api->error_destroy)(&destroy);
			return 0;
		}
		return 1;
	}
	strncpy(problem, "the plugin does not support custom calls: it lacks PJRT's FFI extension", size - 1);
	problem[size - 1] = 0;
	return 0;
}
