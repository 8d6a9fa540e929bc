// Loops over the rows of a sparse matrix. Row r of it has the entries offsets[r] … offsets[r+1]-1, entry i stands in
// columns[i]. Dense matrices are stored row by row. Each function fills rows from … to-1 of its results, and a row's
// result does not depend on which others are computed with it, or by which thread.

#ifndef NODEMASK_KERNELS_H
#define NODEMASK_KERNELS_H

#include <stddef.h>
#include <stdint.h>

// y[r] = Σ over the entries i of row r of weight(i)·h[columns[i]], h [·, width]. Each of an entry's weights multiplies a head's share of
// the width, in order: weights [entries, heads], at row positions[i]. Without positions an entry's weights are in row i; without
// weights all are 1. Rows of h that are not heard count as zero, unread; sums where wanted is 0 are zero. Without heard and wanted there are
// none such. With root [rows, width], and bias [width], it is y[r] = (root[r] + Σ) + bias. With draw, weights are multiplied by scale, or dropped, as numbers are by drop: then entry i has one, in
// row i, and positions[i] is its number for the hash.
typedef struct times_args {
	const int32_t *offsets, *columns, *positions;
	const float *h, *weights, *wanted, *root, *bias;
	const uint32_t *heard; // a bit for each row of h
	const uint32_t *draw;  // two keys and a bound
	float scale;
	int64_t width, heads, entries;
	int64_t block; // rows of h to read at a time, so that they stay in the cache; columns must ascend then; 0: all
	float *y;
} times_args;

// y[r] = Σ, or the greatest, of e[positions[i]] over the entries of row r: e [entries, width]. Rows without entries get 0, or lowest.
typedef struct reduce_args {
	const int32_t *offsets, *positions;
	const float *e;
	int64_t width;
	float *y;
} reduce_args;

// y[i] = the inner products of each head's share of x[r] and h[columns[i]], for each entry i of row r: y [entries, heads].
typedef struct agreement_args {
	const int32_t *offsets, *columns;
	const float *x, *h;
	int64_t width, heads;
	float *y;
} agreement_args;

// Attention: with scores e [entries, heads], given, or LeakyReLU(source[columns[i]] + target[r]) with that slope below zero,
//
//	alpha[i] = exp(e[i]) / Σ over row r of exp(e),   kept[i] = alpha[i]·keep[i],   y[r] = Σ of kept[i]·h[columns[i]]
//
// and the gradients, with g that towards y:
//
//	d[i] = kept[i]·⟨g[r], h[columns[i]]⟩ - alpha[i]·Σ over row r of kept·⟨g[r], h⟩,  towards the scores before LeakyReLU
//	target_gradient[r] = Σ over row r of d
//
// The gradients towards h and source are sums over the transposed matrix: times and total. Rows of h that are not heard are zero and left
// unread; their entries have scores all the same. Of rows where wanted is 0, y, d and target_gradient are zero, and alpha and kept are not filled.
typedef struct attention_args {
	const int32_t *offsets, *columns;
	const float *e, *source, *target, *keep; // e or source and target; keep may be missing
	const uint32_t *heard; // a bit for each row of h; may be missing, as wanted
	const float *wanted, *bias; // bias [width], which may be missing, is added to y where it is wanted
	float slope;
	const float *h;
	int64_t width, heads;
	float *alpha, *kept, *y; // kept is missing where keep is
	// backward
	const float *alpha_in, *kept_in, *g;
	float *d, *target_gradient; // the latter may be missing
} attention_args;

// y[i] = x[i]·scale where number i is kept, and 0 where it is dropped or gate[i] < 0; without x, scale or 0. It is dropped if a hash of i and two keys
// is below a bound. Numbers come in chunks of NM_CHUNK, which from and to count. As for the hash, they are numbered from first on. Rows of so many
// numbers where wanted, which may be missing, is 0 are set to zero.
typedef struct drop_args {
	const float *x, *wanted, *gate;
	uint32_t first;
	uint32_t keys[2], bound;
	float scale;
	int64_t size, width;
	float *y;
} drop_args;

// Inner products of each head's share of x [rows, width] with two rows of numbers a and b [width]:
//
//	y[r] = ⟨x[r], a⟩,  z[r] = ⟨x[r], b⟩,  each [rows, heads]
//
// and, from the gradients v and w towards y and z, those towards x, a and b. The latter two are left as sums over parts of the rows,
// [parts, width]; from and to count parts.
typedef struct score_args {
	const float *x, *a, *b;
	int64_t width, heads;
	float *y, *z;
	// backward
	const float *v, *w;
	int64_t rows, parts;
	float *x_gradient, *a_gradients, *b_gradients;
} score_args;

// y[part] = Σ x[r]ᵀ·v[r] over the rows r of a part, in their order: x [rows, width], v [rows, out], y [parts·width, out]. from and to count
// blocks of NM_OUTER columns of x, those of a part after the other. Rows where wanted, which may be missing, is 0 are left unread: v is zero there.
typedef struct outer_args {
	const float *x, *v, *wanted;
	int64_t rows, width, out, parts;
	float *y;
} outer_args;

// ELU: y[i] = x[i] where that is above zero, else exp(x[i]) - 1. With v, the gradient towards y, it is the gradient towards x: y[i] = v[i]
// where x[i] is above zero, else v[i]·exp(x[i]). Numbers come in chunks.
typedef struct elu_args {
	const float *x, *v; // v is missing forward
	int64_t size;
	float *y;
} elu_args;

enum { NM_CHUNK = 1024, NM_OUTER = 64 };

typedef void kernel(const void *args, int64_t from, int64_t to);

typedef struct kernels {
	kernel *times, *times_blocked, *total, *highest, *agreement, *attend, *attend_backward, *drop, *score, *score_backward, *elu, *outer;
} kernels;

// nm_kernels returns the fastest set for this processor.
const kernels *nm_kernels(void);

// nm_register registers the kernels with a PJRT plugin, given its interface, as functions for custom calls. It returns 1, or 0 and
// why the plugin refuses in problem, which has room for size characters.
int nm_register(const void *plugin, char *problem, size_t size);

// nm_keep_memory has glibc's allocator keep the memory that it gets, in the whole process, unless the user decided.
void nm_keep_memory(void);

#endif
