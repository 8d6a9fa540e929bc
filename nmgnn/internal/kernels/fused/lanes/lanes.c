//go:build ignore

// The loops of package fused, and some of GoMLX's, for a WebAssembly module that shares the memory of a Go program. build.sh makes
// lanes.wasm of this file. Each function computes what the Go loop of its name computes, adding in the same order, so that results are
// the same to the last bit; loops.go and operations.go are the ones to read.
//
// Nothing here may need memory of its own: no constants that are arrays, no arrays on the stack. Addresses in it are Go's.

#include <stdint.h>
#include <wasm_simd128.h>

#define EXPORT(name) __attribute__((export_name(#name))) void name
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("clang loop unroll(full)")

typedef v128_t v4;
typedef const float *floats;
typedef const int32_t *ints;

INLINE v4 load(floats p) { return wasm_v128_load(p); }
INLINE void store(float *p, v4 x) { wasm_v128_store(p, x); }
INLINE v4 splat(floats p) { return wasm_v128_load32_splat(p); }
INLINE v4 all(float x) { return wasm_f32x4_splat(x); }
INLINE v4 add(v4 a, v4 b) { return wasm_f32x4_add(a, b); }
INLINE v4 sub(v4 a, v4 b) { return wasm_f32x4_sub(a, b); }
INLINE v4 mul(v4 a, v4 b) { return wasm_f32x4_mul(a, b); }
INLINE v4 choose(v4 yes, v4 no, v4 mask) { return wasm_v128_bitselect(yes, no, mask); }
INLINE float lane(v4 x) { return wasm_f32x4_extract_lane(x, 0); }
INLINE float max1(float a, float b) { return lane(wasm_f32x4_max(all(a), all(b))); } // as Go's: NaN stays
INLINE int at(ints positions, int i) { return positions ? positions[i] : i; }

INLINE v4 exp4(v4 x) {
	x = wasm_f32x4_max(x, all(-87.0f));
	v4 shifted = add(mul(x, all(1.44269504f)), all(12582912.0f));
	v4 n = sub(shifted, all(12582912.0f));
	v4 r = add(sub(x, mul(n, all(0.693359375f))), mul(n, all(2.12194440e-4f)));
	v4 p = add(all(1.3981999507e-3f), mul(r, all(1.9875691500e-4f)));
	p = add(all(8.3334519073e-3f), mul(r, p));
	p = add(all(4.1665795894e-2f), mul(r, p));
	p = add(all(1.6666665459e-1f), mul(r, p));
	p = add(all(5.0000001201e-1f), mul(r, p));
	return mul(add(add(all(1), r), mul(mul(r, r), p)), wasm_i32x4_add(wasm_i32x4_shl(shifted, 23), wasm_i32x4_splat(0x3f800000)));
}

typedef struct {
	ints offsets, columns, positions;
	floats h, weights;
	int width, heads;
	float *y;
} times_args;

// Sets 4·n numbers of y, from number c on, to the sum of entries i … to-1.
#define TILE(n)                                                                                                        \
	INLINE void tile##n(const times_args *a, int i, int to, int c, float *y) {                                         \
		v4 s[n];                                                                                                       \
		int width = a->width, heads = a->heads, share = width / heads;                                                 \
		floats h = a->h + c, w = a->weights;                                                                           \
		ints columns = a->columns, positions = a->positions;                                                           \
		int fours = width == 64 && (heads == 1 || heads == 8) ? i : to; /* as Go's loops have it */                    \
		UNROLL for (int k = 0; k < n; k++) s[k] = all(0);                                                              \
		if (!w) {                                                                                                      \
			for (; i + 4 <= fours; i += 4) {                                                                           \
				floats h0 = h + columns[i] * width, h1 = h + columns[i + 1] * width, h2 = h + columns[i + 2] * width,  \
				       h3 = h + columns[i + 3] * width;                                                                \
				UNROLL for (int k = 0; k < n; k++) s[k] =                                                              \
				    add(s[k], add(add(load(h0 + 4 * k), load(h1 + 4 * k)), add(load(h2 + 4 * k), load(h3 + 4 * k)))); \
			}                                                                                                          \
			for (; i < to; i++) {                                                                                      \
				floats h0 = h + columns[i] * width;                                                                    \
				UNROLL for (int k = 0; k < n; k++) s[k] = add(s[k], load(h0 + 4 * k));                                 \
			}                                                                                                          \
		} else if (heads == 1) {                                                                                       \
			for (; i + 4 <= fours; i += 4) {                                                                           \
				floats h0 = h + columns[i] * width, h1 = h + columns[i + 1] * width, h2 = h + columns[i + 2] * width,  \
				       h3 = h + columns[i + 3] * width;                                                                \
				v4 w0 = splat(w + at(positions, i)), w1 = splat(w + at(positions, i + 1)),                             \
				   w2 = splat(w + at(positions, i + 2)), w3 = splat(w + at(positions, i + 3));                         \
				UNROLL for (int k = 0; k < n; k++) s[k] =                                                              \
				    add(s[k], add(add(mul(w0, load(h0 + 4 * k)), mul(w1, load(h1 + 4 * k))),                           \
				                  add(mul(w2, load(h2 + 4 * k)), mul(w3, load(h3 + 4 * k)))));                         \
			}                                                                                                          \
			for (; i < to; i++) {                                                                                      \
				floats h0 = h + columns[i] * width;                                                                    \
				v4 w0 = splat(w + at(positions, i));                                                                   \
				UNROLL for (int k = 0; k < n; k++) s[k] = add(s[k], mul(w0, load(h0 + 4 * k)));                        \
			}                                                                                                          \
		} else {                                                                                                       \
			int head[n];                                                                                               \
			UNROLL for (int k = 0; k < n; k++) head[k] = (c + 4 * k) / share;                                          \
			for (; i + 4 <= fours; i += 4) {                                                                           \
				floats h0 = h + columns[i] * width, h1 = h + columns[i + 1] * width, h2 = h + columns[i + 2] * width,  \
				       h3 = h + columns[i + 3] * width;                                                                \
				floats w0 = w + at(positions, i) * heads, w1 = w + at(positions, i + 1) * heads,                       \
				       w2 = w + at(positions, i + 2) * heads, w3 = w + at(positions, i + 3) * heads;                   \
				UNROLL for (int k = 0; k < n; k++) s[k] =                                                              \
				    add(s[k], add(add(mul(splat(w0 + head[k]), load(h0 + 4 * k)), mul(splat(w1 + head[k]), load(h1 + 4 * k))), \
				                  add(mul(splat(w2 + head[k]), load(h2 + 4 * k)), mul(splat(w3 + head[k]), load(h3 + 4 * k))))); \
			}                                                                                                          \
			for (; i < to; i++) {                                                                                      \
				floats h0 = h + columns[i] * width, w0 = w + at(positions, i) * heads;                                 \
				UNROLL for (int k = 0; k < n; k++) s[k] = add(s[k], mul(splat(w0 + head[k]), load(h0 + 4 * k)));       \
			}                                                                                                          \
		}                                                                                                              \
		UNROLL for (int k = 0; k < n; k++) store(y + c + 4 * k, s[k]);                                                 \
	}

TILE(8)
TILE(2)
TILE(1)

// One number of y.
INLINE void number(const times_args *a, int i, int to, int c, float *y) {
	float s = 0;
	int width = a->width, heads = a->heads;
	floats h = a->h + c, w = a->weights ? a->weights + c / (width / heads) : 0;
	for (; i + 4 <= to; i += 4) {
		float h0 = h[a->columns[i] * width], h1 = h[a->columns[i + 1] * width], h2 = h[a->columns[i + 2] * width], h3 = h[a->columns[i + 3] * width];
		if (w) {
			h0 *= w[at(a->positions, i) * heads], h1 *= w[at(a->positions, i + 1) * heads];
			h2 *= w[at(a->positions, i + 2) * heads], h3 *= w[at(a->positions, i + 3) * heads];
		}
		s += (h0 + h1) + (h2 + h3);
	}
	for (; i < to; i++)
		s += w ? w[at(a->positions, i) * heads] * h[a->columns[i] * width] : h[a->columns[i] * width];
	y[c] = s;
}

INLINE void times_row(const times_args *a, int i, int to, float *y) {
	int c = 0, width = a->width;
	if (a->heads == 1 || width / a->heads % 4 == 0) {
		for (; c + 32 <= width; c += 32)
			tile8(a, i, to, c, y);
		for (; c + 8 <= width; c += 8)
			tile2(a, i, to, c, y);
		if (c + 4 <= width) {
			tile1(a, i, to, c, y);
			c += 4;
		}
		if (c < width && width >= 4) { // the last four, some of them again
			tile1(a, i, to, width - 4, y);
			return;
		}
	}
	for (; c < width; c++)
		number(a, i, to, c, y);
}

EXPORT(times)(const times_args *a, int from, int to) {
	for (int r = from; r < to; r++)
		times_row(a, a->offsets[r], a->offsets[r + 1], a->y + r * a->width);
}

typedef struct {
	ints offsets, positions;
	floats e;
	int width;
	float *y;
} reduce_args;

EXPORT(total)(const reduce_args *a, int from, int to) {
	int width = a->width;
	for (int r = from; r < to; r++) {
		int first = a->offsets[r], end = a->offsets[r + 1], k = 0;
		for (; k + 4 <= width; k += 4) {
			v4 s = all(0);
			for (int i = first; i < end; i++)
				s = add(s, load(a->e + at(a->positions, i) * width + k));
			store(a->y + r * width + k, s);
		}
		for (; k < width; k++) {
			float s = 0;
			for (int i = first; i < end; i++)
				s += a->e[at(a->positions, i) * width + k];
			a->y[r * width + k] = s;
		}
	}
}

static __attribute__((noinline)) void inner(floats x, floats h, int share, int heads, float *y) {
	for (int head = 0; head < heads; head++, x += share, h += share) {
		v4 s = all(0);
		int k = 0;
		for (; k + 4 <= share; k += 4)
			s = add(s, mul(load(x + k), load(h + k)));
		float s0 = lane(s);
		for (; k < share; k++)
			s0 += x[k] * h[k];
		y[head] = (s0 + wasm_f32x4_extract_lane(s, 1)) + (wasm_f32x4_extract_lane(s, 2) + wasm_f32x4_extract_lane(s, 3));
	}
}

typedef struct {
	ints offsets, columns;
	floats x, h;
	int width, heads;
	float *y;
} agreement_args;

EXPORT(agreement)(const agreement_args *a, int from, int to) {
	int width = a->width, heads = a->heads, share = width / heads;
	for (int r = from; r < to; r++)
		for (int i = a->offsets[r]; i < a->offsets[r + 1]; i++)
			inner(a->x + r * width, a->h + a->columns[i] * width, share, heads, a->y + i * heads);
}

typedef struct {
	ints offsets, columns;
	floats e, source, target, keep;
	float slope;
	floats h;
	int width, heads;
	float *alpha, *kept;
	floats g;
	float *d, *target_gradient;
} attention_args;

// alpha and kept alone: y is left to times.
EXPORT(attend)(const attention_args *a, int from, int to) {
	int heads = a->heads;
	v4 slope = all(a->slope);
	for (int r = from; r < to; r++) {
		int first = a->offsets[r], end = a->offsets[r + 1], head = 0;
		for (; head + 4 <= heads; head += 4) {
			v4 greatest = all(-1e30f), whole = all(0), target = a->e ? all(0) : load(a->target + r * heads + head);
			for (int i = first; i < end; i++) {
				v4 x;
				if (a->e) {
					x = load(a->e + i * heads + head);
				} else {
					x = add(load(a->source + a->columns[i] * heads + head), target);
					x = choose(mul(x, slope), x, wasm_f32x4_le(x, all(0)));
				}
				store(a->alpha + i * heads + head, x);
				greatest = wasm_f32x4_max(greatest, x);
			}
			for (int i = first; i < end; i++) {
				v4 p = exp4(sub(load(a->alpha + i * heads + head), greatest));
				store(a->alpha + i * heads + head, p);
				whole = add(whole, p);
			}
			whole = wasm_f32x4_div(all(1), whole);
			for (int i = first; i < end; i++)
				store(a->alpha + i * heads + head, mul(load(a->alpha + i * heads + head), whole));
		}
		for (; head < heads; head++) {
			float greatest = -1e30f, whole = 0, target = a->e ? 0 : a->target[r * heads + head];
			for (int i = first; i < end; i++) {
				float x;
				if (a->e) {
					x = a->e[i * heads + head];
				} else {
					x = a->source[a->columns[i] * heads + head] + target;
					if (x <= 0)
						x *= a->slope;
				}
				a->alpha[i * heads + head] = x;
				greatest = max1(greatest, x);
			}
			int i = first;
			if (heads == 1) { // entries lie side by side
				for (; i + 4 <= end; i += 4) {
					v4 p = exp4(sub(load(a->alpha + i), all(greatest)));
					store(a->alpha + i, p);
					whole = whole + lane(p);
					whole = whole + wasm_f32x4_extract_lane(p, 1);
					whole = whole + wasm_f32x4_extract_lane(p, 2);
					whole = whole + wasm_f32x4_extract_lane(p, 3);
				}
			}
			for (; i < end; i++) {
				float p = lane(exp4(all(a->alpha[i * heads + head] - greatest)));
				a->alpha[i * heads + head] = p;
				whole += p;
			}
			whole = 1 / whole;
			for (i = first; i < end; i++)
				a->alpha[i * heads + head] *= whole;
		}
		if (a->kept)
			for (int i = first * heads; i < end * heads; i++)
				a->kept[i] = a->alpha[i] * a->keep[i];
	}
}

EXPORT(attend_backward)(const attention_args *a, int from, int to) {
	int heads = a->heads, width = a->width, share = width / heads;
	floats alpha = a->alpha, kept = a->kept;
	v4 slope = all(a->slope);
	for (int r = from; r < to; r++) {
		int first = a->offsets[r], end = a->offsets[r + 1], head = 0;
		for (int i = first; i < end; i++)
			inner(a->g + r * width, a->h + a->columns[i] * width, share, heads, a->d + i * heads);
		for (; head + 4 <= heads; head += 4) {
			v4 shared = all(0), sum = all(0), target = a->source ? load(a->target + r * heads + head) : all(0);
			for (int i = first; i < end; i++) {
				v4 d = mul(load(a->d + i * heads + head), load(kept + i * heads + head));
				store(a->d + i * heads + head, d);
				shared = add(shared, d);
			}
			for (int i = first; i < end; i++) {
				v4 d = sub(load(a->d + i * heads + head), mul(load(alpha + i * heads + head), shared));
				if (a->source) {
					v4 x = add(load(a->source + a->columns[i] * heads + head), target);
					d = choose(mul(d, slope), d, wasm_f32x4_le(x, all(0)));
					sum = add(sum, d);
				}
				store(a->d + i * heads + head, d);
			}
			if (a->target_gradient)
				store(a->target_gradient + r * heads + head, sum);
		}
		for (; head < heads; head++) {
			float shared = 0, sum = 0;
			for (int i = first; i < end; i++) {
				float d = a->d[i * heads + head] * kept[i * heads + head];
				a->d[i * heads + head] = d;
				shared += d;
			}
			for (int i = first; i < end; i++) {
				float d = a->d[i * heads + head] - alpha[i * heads + head] * shared;
				if (a->source) {
					if (a->source[a->columns[i] * heads + head] + a->target[r * heads + head] <= 0)
						d *= a->slope;
					sum += d;
				}
				a->d[i * heads + head] = d;
			}
			if (a->target_gradient)
				a->target_gradient[r * heads + head] = sum;
		}
	}
}

typedef struct {
	floats x;
	uint32_t k0, k1, bound;
	float scale;
	float *y;
} drop_args;

INLINE v4 hash(v4 x) {
	x = wasm_i32x4_mul(wasm_v128_xor(x, wasm_u32x4_shr(x, 16)), wasm_i32x4_splat(0x7feb352d));
	x = wasm_i32x4_mul(wasm_v128_xor(x, wasm_u32x4_shr(x, 15)), wasm_i32x4_splat((int)0x846ca68b));
	return wasm_v128_xor(x, wasm_u32x4_shr(x, 16));
}

// Numbers from … to-1.
EXPORT(drop)(const drop_args *a, int from, int to) {
	v4 k0 = wasm_i32x4_splat((int)a->k0), k1 = wasm_i32x4_splat((int)a->k1), bound = wasm_i32x4_splat((int)a->bound), scale = all(a->scale);
	for (int i = from; i < to; i += 4) {
		v4 n = wasm_i32x4_add(wasm_i32x4_splat(i), wasm_i32x4_make(0, 1, 2, 3));
		v4 kept = wasm_u32x4_ge(hash(wasm_i32x4_add(hash(wasm_v128_xor(n, k0)), k1)), bound);
		v4 y = wasm_v128_and(kept, scale);
		if (i + 4 <= to) {
			store(a->y + i, a->x ? mul(y, load(a->x + i)) : y);
			continue;
		}
		for (; i < to; i++) {
			a->y[i] = a->x ? lane(y) * a->x[i] : lane(y);
			y = wasm_i32x4_shuffle(y, y, 1, 2, 3, 0);
		}
	}
}

typedef struct {
	floats x, v;
	float *y;
} elu_args;

INLINE v4 elu4(v4 x, v4 v, int backward) {
	v4 positive = wasm_f32x4_gt(x, all(0)), e = exp4(x);
	return backward ? choose(v, mul(v, e), positive) : choose(x, sub(e, all(1)), positive);
}

EXPORT(elu)(const elu_args *a, int from, int to) {
	int i = from;
	for (; i + 4 <= to; i += 4)
		store(a->y + i, elu4(load(a->x + i), a->v ? load(a->v + i) : all(0), a->v != 0));
	for (; i < to; i++)
		a->y[i] = lane(elu4(all(a->x[i]), all(a->v ? a->v[i] : 0), a->v != 0));
}

typedef struct {
	floats x, a, b;
	int width, heads;
	float *y, *z;
	floats v, w;
	int rows, parts;
	float *x_gradient, *a_gradients, *b_gradients;
} score_args;

EXPORT(score)(const score_args *a, int from, int to) {
	int width = a->width, heads = a->heads, share = width / heads;
	for (int r = from; r < to; r++) {
		inner(a->x + r * width, a->a, share, heads, a->y + r * heads);
		inner(a->x + r * width, a->b, share, heads, a->z + r * heads);
	}
}

EXPORT(score_backward)(const score_args *s, int from, int to) {
	int width = s->width, heads = s->heads, share = width / heads;
	for (int part = from; part < to; part++) {
		float *da = s->a_gradients + part * width, *db = s->b_gradients + part * width;
		for (int k = 0; k < width; k++)
			da[k] = 0, db[k] = 0;
		for (int r = part * s->rows / s->parts; r < (part + 1) * s->rows / s->parts; r++) {
			for (int head = 0; head < heads; head++) {
				float v = s->v[r * heads + head], w = s->w[r * heads + head];
				int k = head * share, end = k + share;
				floats x = s->x + r * width;
				float *dx = s->x_gradient + r * width;
				for (; k + 4 <= end; k += 4) {
					v4 xs = load(x + k);
					store(dx + k, add(mul(all(v), load(s->a + k)), mul(all(w), load(s->b + k))));
					store(da + k, add(load(da + k), mul(all(v), xs)));
					store(db + k, add(load(db + k), mul(all(w), xs)));
				}
				for (; k < end; k++) {
					dx[k] = v * s->a[k] + w * s->b[k];
					da[k] += v * x[k];
					db[k] += w * x[k];
				}
			}
		}
	}
}

// What follows are operations of GoMLX's.

typedef struct {
	floats x, z;
	float *y;
	int rows, columns;
	int x_row, x_column, z_row, z_column; // what a step in each direction adds to the place in x, and in z: columns, or 0; 1, or 0
} binary_args;

#define BINARY(name, vector)                                                                                           \
	EXPORT(name)(const binary_args *a) {                                                                               \
		for (int r = 0; r < a->rows; r++) {                                                                            \
			floats x = a->x + r * a->x_row, z = a->z + r * a->z_row;                                                   \
			float *y = a->y + r * a->columns;                                                                          \
			int k = 0, n = a->columns;                                                                                 \
			if (a->x_column && a->z_column)                                                                            \
				for (; k + 4 <= n; k += 4)                                                                             \
					store(y + k, vector(load(x + k), load(z + k)));                                                    \
			else if (a->x_column) {                                                                                    \
				v4 c = splat(z);                                                                                       \
				for (; k + 4 <= n; k += 4)                                                                             \
					store(y + k, vector(load(x + k), c));                                                              \
			} else if (a->z_column) {                                                                                  \
				v4 c = splat(x);                                                                                       \
				for (; k + 4 <= n; k += 4)                                                                             \
					store(y + k, vector(c, load(z + k)));                                                              \
			}                                                                                                          \
			for (; k < n; k++)                                                                                         \
				y[k] = lane(vector(all(x[k * a->x_column]), all(z[k * a->z_column])));                                 \
		}                                                                                                              \
	}

BINARY(sums, wasm_f32x4_add)
BINARY(differences, wasm_f32x4_sub)
BINARY(products, wasm_f32x4_mul)
BINARY(quotients, wasm_f32x4_div)
BINARY(maxima, wasm_f32x4_max)

typedef struct {
	floats x;
	float *y;
	int n;
} unary_args;

INLINE v4 sign4(v4 x) {
	return wasm_v128_or(wasm_v128_and(wasm_f32x4_gt(x, all(0)), all(1)), wasm_v128_and(wasm_f32x4_lt(x, all(0)), all(-1)));
}

#define UNARY(name, vector)                                                                                            \
	EXPORT(name)(const unary_args *a) {                                                                                \
		int i = 0;                                                                                                     \
		for (; i + 4 <= a->n; i += 4)                                                                                  \
			store(a->y + i, vector(load(a->x + i)));                                                                   \
		for (; i < a->n; i++)                                                                                          \
			a->y[i] = lane(vector(all(a->x[i])));                                                                      \
	}

UNARY(signs, sign4)
UNARY(roots, wasm_f32x4_sqrt)

typedef struct {
	floats x;
	float *y;
	int rows, columns;
} matrix_args;

// y [columns] is the sum of the rows of x.
EXPORT(column_sums)(const matrix_args *a) {
	int c = 0, width = a->columns;
	for (; c + 16 <= width; c += 16) {
		v4 s0 = all(0), s1 = s0, s2 = s0, s3 = s0;
		floats x = a->x + c;
		for (int r = 0; r < a->rows; r++, x += width)
			s0 = add(s0, load(x)), s1 = add(s1, load(x + 4)), s2 = add(s2, load(x + 8)), s3 = add(s3, load(x + 12));
		store(a->y + c, s0), store(a->y + c + 4, s1), store(a->y + c + 8, s2), store(a->y + c + 12, s3);
	}
	for (; c + 4 <= width; c += 4) {
		v4 s = all(0);
		for (int r = 0; r < a->rows; r++)
			s = add(s, load(a->x + r * width + c));
		store(a->y + c, s);
	}
	for (; c < width; c++) {
		float s = 0;
		for (int r = 0; r < a->rows; r++)
			s += a->x[r * width + c];
		a->y[c] = s;
	}
}

// Sets y, with rows of stride numbers, to the transpose of x [rows, columns].
static __attribute__((noinline)) void turn(floats x, float *y, int rows, int columns, int stride) {
	int r = 0;
	for (; r + 4 <= rows; r += 4) {
		floats p = x + r * columns;
		int c = 0;
		for (; c + 4 <= columns; c += 4) {
			v4 a = load(p + c), b = load(p + columns + c), d = load(p + 2 * columns + c), e = load(p + 3 * columns + c);
			v4 ab = wasm_i32x4_shuffle(a, b, 0, 4, 1, 5), AB = wasm_i32x4_shuffle(a, b, 2, 6, 3, 7);
			v4 de = wasm_i32x4_shuffle(d, e, 0, 4, 1, 5), DE = wasm_i32x4_shuffle(d, e, 2, 6, 3, 7);
			float *q = y + c * stride + r;
			store(q, wasm_i64x2_shuffle(ab, de, 0, 2)), store(q + stride, wasm_i64x2_shuffle(ab, de, 1, 3));
			store(q + 2 * stride, wasm_i64x2_shuffle(AB, DE, 0, 2)), store(q + 3 * stride, wasm_i64x2_shuffle(AB, DE, 1, 3));
		}
		for (; c < columns; c++)
			for (int k = 0; k < 4; k++)
				y[c * stride + r + k] = p[k * columns + c];
	}
	for (; r < rows; r++)
		for (int c = 0; c < columns; c++)
			y[c * stride + r] = x[r * columns + c];
}

EXPORT(transpose)(const matrix_args *a) { turn(a->x, a->y, a->rows, a->columns, a->rows); }

// y [rows, columns] = x [rows, inner] · z, with z [inner, columns], or [columns, inner] if it is transposed. packed has room for z with
// columns rounded up to a multiple of eight. The last rows, from row "plain" on, and all after it, are summed up in fours; those before
// it one by one, in panels of inner numbers whose sums are added.
typedef struct {
	floats x, z;
	float *y, *packed;
	int rows, columns, inner, transposed, plain, panel;
} dot_args;

#define DOT(n)                                                                                                         \
	INLINE void dot##n(floats x, int step, floats z, int stride, int from, int to, int fours, v4 *s) {                 \
		int k = from;                                                                                                  \
		UNROLL for (int j = 0; j < 2 * n; j++) s[j] = all(0);                                                          \
		if (fours)                                                                                                     \
			for (; k + 4 <= to; k += 4) {                                                                              \
				floats q = z + k * stride;                                                                             \
				UNROLL for (int j = 0; j < n; j++) {                                                                   \
					floats p = x + j * step + k;                                                                       \
					v4 x0 = splat(p), x1 = splat(p + 1), x2 = splat(p + 2), x3 = splat(p + 3);                         \
					UNROLL for (int c = 0; c < 2; c++) s[2 * j + c] =                                                  \
					    add(s[2 * j + c], add(add(add(mul(x0, load(q + 4 * c)), mul(x1, load(q + stride + 4 * c))),    \
					                              mul(x2, load(q + 2 * stride + 4 * c))),                              \
					                          mul(x3, load(q + 3 * stride + 4 * c))));                                 \
				}                                                                                                      \
			}                                                                                                          \
		for (; k < to; k++) {                                                                                          \
			v4 z0 = load(z + k * stride), z1 = load(z + k * stride + 4);                                               \
			UNROLL for (int j = 0; j < n; j++) {                                                                       \
				v4 w = splat(x + j * step + k);                                                                        \
				s[2 * j] = add(s[2 * j], mul(w, z0));                                                                  \
				s[2 * j + 1] = add(s[2 * j + 1], mul(w, z1));                                                          \
			}                                                                                                          \
		}                                                                                                              \
	}

DOT(4)
DOT(1)

// Stores the first n of eight numbers, or adds them to what is there.
INLINE void put(float *y, v4 s0, v4 s1, int n, int more) {
	if (n >= 8) {
		store(y, more ? add(load(y), s0) : s0);
		store(y + 4, more ? add(load(y + 4), s1) : s1);
		return;
	}
	if (n >= 4) {
		store(y, more ? add(load(y), s0) : s0);
		y += 4, n -= 4, s0 = s1;
	}
	for (int k = 0; k < n; k++) {
		y[k] = more ? y[k] + lane(s0) : lane(s0);
		s0 = wasm_i32x4_shuffle(s0, s0, 1, 2, 3, 0);
	}
}

EXPORT(dot)(const dot_args *a) {
	int rows = a->rows, columns = a->columns, inner = a->inner, stride = columns + 7 & ~7;
	floats z = a->z;
	if (a->transposed || stride != columns) {
		z = a->packed;
		if (a->transposed) {
			turn(a->z, a->packed, columns, inner, stride);
		} else {
			for (int k = 0; k < inner; k++)
				for (int c = 0; c < columns; c++)
					a->packed[k * stride + c] = a->z[k * columns + c];
		}
		for (int k = 0; k < inner; k++)
			for (int c = columns; c < stride; c++)
				a->packed[k * stride + c] = 0;
	}
	for (int from = 0; from < inner; from += a->panel) {
		int to = from + a->panel < inner ? from + a->panel : inner;
		for (int c = 0; c < columns; c += 8) {
			int r = 0, width = columns - c;
			v4 s[8];
			while (r < rows) {
				int fours = r >= a->plain, n = (fours ? rows : a->plain) - r;
				floats x = a->x + r * inner;
				float *y = a->y + r * columns + c;
				if (n >= 4) {
					if (fours)
						dot4(x, inner, z + c, stride, from, to, 1, s);
					else
						dot4(x, inner, z + c, stride, from, to, 0, s);
					UNROLL for (int j = 0; j < 4; j++) put(y + j * columns, s[2 * j], s[2 * j + 1], width, from > 0);
					r += 4;
				} else {
					dot1(x, inner, z + c, stride, from, to, fours, s);
					put(y, s[0], s[1], width, from > 0);
					r++;
				}
			}
		}
	}
}
