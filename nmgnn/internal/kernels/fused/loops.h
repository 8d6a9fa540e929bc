// The loops, compiled once for each set of instructions: FN(name) names a function of the set, TARGET is its attribute, WIDE is 0, 1 with
// AVX2 and FMA, 2 with AVX-512. A sum has the same order in all. A vector V has as many LANES as the set; v8 has eight.

#define INLINE static inline __attribute__((always_inline)) TARGET

#define V FN(v)
#define Vu FN(vu)
#define I FN(i)
#define U FN(u)
#define Uu FN(uu)
typedef float V __attribute__((vector_size(4 * LANES)));
typedef float Vu __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t I __attribute__((vector_size(4 * LANES)));
typedef uint32_t U __attribute__((vector_size(4 * LANES)));
typedef uint32_t Uu __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

INLINE V FN(loads)(const float *p) { return *(const Vu *)p; }
INLINE void FN(stores)(float *p, V x) { *(Vu *)p = x; }
INLINE V FN(each)(float x) { return x - (V){0}; }
INLINE U FN(whole)(const int32_t *p) { return *(const Uu *)p; }
INLINE v8 FN(load)(const float *p) { return *(const v8u *)p; }
INLINE void FN(store)(float *p, v8 x) { *(v8u *)p = x; }
INLINE v8 FN(all)(float x) { return (v8){x, x, x, x, x, x, x, x}; }

// Returns e^x for x ≤ 0, to a unit or two in the last place: 2^n·e^r, with |r| ≤ ln 2 / 2 and a polynomial for e^r.
INLINE v8 FN(exp8)(v8 x) {
	v8 least = FN(all)(-87.0f);
	x = (v8)(((i8)x & (x > least)) | ((i8)least & ~(x > least)));
	v8 shifted = x * FN(all)(1.44269504f) + FN(all)(12582912.0f); // the last bits hold n, rounded
	v8 n = shifted - FN(all)(12582912.0f);
	v8 r = x - n * FN(all)(0.693359375f) + n * FN(all)(2.12194440e-4f);
	v8 p = FN(all)(1.3981999507e-3f) + r * FN(all)(1.9875691500e-4f);
	p = FN(all)(8.3334519073e-3f) + r * p;
	p = FN(all)(4.1665795894e-2f) + r * p;
	p = FN(all)(1.6666665459e-1f) + r * p;
	p = FN(all)(5.0000001201e-1f) + r * p;
	p = FN(all)(1.0f) + r + r * r * p;
	return p * (v8)(((i8)shifted << 23) + 0x3f800000);
}

INLINE float FN(exp1)(float x) { return FN(exp8)(FN(all)(x))[0]; }

// Returns the sums of the eight numbers of each of a[0 … 7].
INLINE v8 FN(sums)(const v8 *a) {
#if WIDE
	__m256 b0 = _mm256_hadd_ps((__m256)a[0], (__m256)a[1]), b1 = _mm256_hadd_ps((__m256)a[2], (__m256)a[3]);
	__m256 b2 = _mm256_hadd_ps((__m256)a[4], (__m256)a[5]), b3 = _mm256_hadd_ps((__m256)a[6], (__m256)a[7]);
	__m256 c0 = _mm256_hadd_ps(b0, b1), c1 = _mm256_hadd_ps(b2, b3);
	return (v8)_mm256_add_ps(_mm256_permute2f128_ps(c0, c1, 0x20), _mm256_permute2f128_ps(c0, c1, 0x31));
#else
	v8 s;
	for (int k = 0; k < 8; k++)
		s[k] = ((a[k][0] + a[k][1]) + (a[k][2] + a[k][3])) + ((a[k][4] + a[k][5]) + (a[k][6] + a[k][7]));
	return s;
#endif
}

INLINE float FN(sum)(v8 a) { return ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7])); }

// Loads and stores the first some numbers of a vector; the others are 0, and left alone.
INLINE V FN(load_some)(const float *p, int some) {
#if WIDE == 2
	return (V)_mm512_maskz_loadu_ps((__mmask16)((1u << some) - 1), p);
#elif WIDE
	return (V)_mm256_maskload_ps(p, (__m256i)((I){NUMBERS} < some));
#else
	V x = {0};
	for (int k = 0; k < some; k++)
		x[k] = p[k];
	return x;
#endif
}

INLINE void FN(store_some)(float *p, V x, int some) {
#if WIDE == 2
	_mm512_mask_storeu_ps(p, (__mmask16)((1u << some) - 1), (__m512)x);
#else
	for (int k = 0; k < some; k++)
		p[k] = x[k];
#endif
}

#if WIDE
// A bit for each lane whose number is negative.
INLINE unsigned FN(signs)(I x) {
#if WIDE == 2
	return _mm512_movepi32_mask((__m512i)x);
#else
	return (unsigned)_mm256_movemask_ps((__m256)x);
#endif
}

// Stores the lanes of x that mask names side by side, and anything after them: LANES in all.
INLINE void FN(compress)(void *to, U x, unsigned mask) {
#if WIDE == 2
	_mm512_storeu_si512(to, _mm512_maskz_compress_epi32((__mmask16)mask, (__m512i)x));
#else
	__m256i order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)compressed[mask]));
	_mm256_storeu_si256(to, _mm256_permutevar8x32_epi32((__m256i)x, order));
#endif
}

// A bit for each of LANES columns, whether it is heard.
INLINE unsigned FN(are_heard)(const uint32_t *heard, const int32_t *columns) {
	U c = FN(whole)(columns);
#if WIDE == 2
	__m512i words = _mm512_i32gather_epi32((__m512i)(c >> 5), heard, 4);
	return FN(signs)((I)_mm512_sllv_epi32(words, (__m512i)(~c & 31))); // a column's bit becomes the sign of its word
#else
	__m256i words = _mm256_i32gather_epi32((const int *)heard, (__m256i)(c >> 5), 4);
	return FN(signs)((I)_mm256_sllv_epi32(words, (__m256i)(~c & 31)));
#endif
}
#endif

// A weight for every eight lanes: w[0], and for the second eight, if the set has them, w[next].
INLINE V FN(halves)(const float *w, int next) {
#if WIDE == 2
	return (V)_mm512_mask_broadcastss_ps(_mm512_set1_ps(*w), 0xff00, _mm_load_ss(w + next));
#else
	(void)next;
	return FN(each)(*w);
#endif
}

// Adds the rows of h of entries i … to-1 to y, or sets y to their sum: n times LANES columns from column c on, of the last ones only
// some, if that is not 0. n is known where this is compiled in, so that sums stay in registers. Eight columns have one weight,
// weights[entry·heads + head], or each its own.
INLINE void FN(tile)(const times_args *a, int64_t i, int64_t to, int64_t c, int n, int some, int add, float *y) {
	V s[8];
	int64_t share = a->width / a->heads;
	y += c;
#define COLUMNS _Pragma("GCC unroll 8") for (int k = 0; k < n; k++)
#define PART(p) (some && k == n - 1 ? FN(load_some)((p) + LANES * k, some) : FN(loads)((p) + LANES * k))
	COLUMNS s[k] = add ? PART(y) : (V){0};
	if (!a->weights) {
		for (; i < to; i++) {
			const float *h = a->h + (int64_t)a->columns[i] * a->width + c;
			COLUMNS s[k] += PART(h);
		}
	} else if (a->heads == 1) {
		for (; i < to; i++) {
			const float *h = a->h + (int64_t)a->columns[i] * a->width + c;
			V w = FN(each)(a->weights[a->positions ? a->positions[i] : i]);
			COLUMNS s[k] += w * PART(h);
		}
	} else if (share == 1) {
		for (; i < to; i++) {
			const float *h = a->h + (int64_t)a->columns[i] * a->width + c;
			const float *w = a->weights + (int64_t)(a->positions ? a->positions[i] : i) * a->heads + c;
			COLUMNS s[k] += PART(w) * PART(h);
		}
	} else {
		int64_t head[8], next[8]; // of the first eight lanes, and from it to that of the others
		COLUMNS {
			int64_t last = c + LANES * k + LANES - 8;
			head[k] = (c + LANES * k) / share;
			next[k] = last < a->width ? last / share - head[k] : 0;
		}
		for (; i < to; i++) {
			const float *h = a->h + (int64_t)a->columns[i] * a->width + c;
			const float *w = a->weights + (int64_t)(a->positions ? a->positions[i] : i) * a->heads;
			COLUMNS s[k] += FN(halves)(w + head[k], next[k]) * PART(h);
		}
	}
	COLUMNS {
		if (some && k == n - 1)
			FN(store_some)(y + LANES * k, s[k], some);
		else
			FN(stores)(y + LANES * k, s[k]);
	}
#undef COLUMNS
#undef PART
}

// As many columns as there are left in one pass over the entries, up to eight vectors.
INLINE void FN(times_row)(const times_args *a, int64_t i, int64_t to, int add, float *y) {
	int64_t share = a->width / a->heads;
	if (share % 8 == 0 || share == 1 || a->heads == 1) {
		for (int64_t c = 0; c < a->width; c += 8 * LANES) {
			int64_t left = a->width - c < 8 * LANES ? a->width - c : 8 * LANES;
			int some = (int)((left - 1) % LANES) + 1;
#define WHOLE(n) case n * LANES: FN(tile)(a, i, to, c, n, 0, add, y); continue;
#define TILES(n) case n: FN(tile)(a, i, to, c, n, some, add, y); break;
			switch (left) { WHOLE(1) WHOLE(2) WHOLE(4) WHOLE(8) }
			switch ((left + LANES - 1) / LANES) { TILES(1) TILES(2) TILES(3) TILES(4) TILES(5) TILES(6) TILES(7) TILES(8) }
#undef WHOLE
#undef TILES
		}
		return;
	}
	if (!add)
		for (int64_t k = 0; k < a->width; k++)
			y[k] = 0;
	for (; i < to; i++) {
		const float *h = a->h + (int64_t)a->columns[i] * a->width;
		if (!a->weights) {
			for (int64_t k = 0; k < a->width; k++)
				y[k] += h[k];
			continue;
		}
		const float *w = a->weights + (int64_t)(a->positions ? a->positions[i] : i) * a->heads;
		for (int64_t k = 0; k < a->width; k++)
			y[k] += w[k / share] * h[k];
	}
}

// A bijection of 32 bits in which every bit changes each other about half of the time, with the constants of Chris Wellons'
// "lowbias32". kernels.Stream.Keep computes the same.
INLINE U FN(mix)(U x) {
	x = (x ^ (x >> 16)) * 0x7feb352du;
	x = (x ^ (x >> 15)) * 0x846ca68bu;
	return x ^ (x >> 16);
}

INLINE int FN(is_heard)(const uint32_t *heard, int32_t c) { return (int)(heard[c >> 5] >> (c & 31) & 1); }

// Copies what is kept of entries i … to-1 to columns and weights, without branches, and returns how many these are. There must be room
// for LANES more.
INLINE int64_t FN(keep)(const times_args *a, int64_t i, int64_t to, int32_t *columns, float *weights) {
	int64_t n = 0;
	U places = {NUMBERS};
	for (; i < to; i += LANES) {
		int whole = i + LANES <= a->entries, some = to - i < LANES ? (int)(to - i) : LANES;
		U number = (uint32_t)i + places;
		if (a->positions && whole)
			number = FN(whole)(a->positions + i);
		else if (a->positions)
			for (int k = 0; k < some; k++)
				number[k] = (uint32_t)a->positions[i + k];
		I kept = (FN(mix)(FN(mix)(number ^ a->draw[0]) + a->draw[1]) >= a->draw[2]) & (places < (uint32_t)some);
#if WIDE
		if (whole) {
			unsigned mask = FN(signs)(kept) & (a->heard ? FN(are_heard)(a->heard, a->columns + i) : ~0u);
			FN(compress)(columns + n, FN(whole)(a->columns + i), mask);
			FN(compress)(weights + n, (U)(FN(loads)(a->weights + i) * FN(each)(a->scale)), mask);
			n += __builtin_popcount(mask);
			continue;
		}
#endif
		for (int k = 0; k < some; k++) {
			columns[n] = a->columns[i + k];
			weights[n] = a->weights[i + k] * a->scale;
			n -= kept[k] & (a->heard ? -FN(is_heard)(a->heard, a->columns[i + k]) : -1);
		}
	}
	return n;
}

// Copies the columns of entries i … to-1 that are heard, and the rows of their weights if there are any, without branches, and returns
// how many these are. There must be room for LANES more.
INLINE int64_t FN(hear)(const times_args *a, int64_t i, int64_t to, int32_t *columns, int32_t *positions) {
	int64_t n = 0;
#if WIDE
	for (; i + LANES <= to; i += LANES) {
		unsigned mask = FN(are_heard)(a->heard, a->columns + i);
		FN(compress)(columns + n, FN(whole)(a->columns + i), mask);
		if (a->weights)
			FN(compress)(positions + n, a->positions ? FN(whole)(a->positions + i) : (uint32_t)i + (U){NUMBERS}, mask);
		n += __builtin_popcount(mask);
	}
#endif
	for (; i < to; i++) {
		columns[n] = a->columns[i];
		if (a->weights)
			positions[n] = a->positions ? a->positions[i] : (int32_t)i;
		n += FN(is_heard)(a->heard, a->columns[i]);
	}
	return n;
}

// The same without the entries that are dropped, or not heard.
INLINE void FN(some_row)(const times_args *a, int64_t i, int64_t to, float *y) {
	enum { SOME = 128 };
	int32_t columns[SOME + LANES];
	union {
		int32_t positions[SOME + LANES];
		float weights[SOME + LANES];
	} of;
	times_args some = *a;
	some.columns = columns;
	if (a->draw)
		some.weights = of.weights;
	some.positions = a->weights && !a->draw ? of.positions : NULL;
	int add = 0;
	do {
		int64_t end = i + SOME < to ? i + SOME : to;
		int64_t n = a->draw ? FN(keep)(a, i, end, columns, of.weights) : FN(hear)(a, i, end, columns, of.positions);
		FN(times_row)(&some, 0, n, add, y);
		add = 1;
		i = end;
	} while (i < to);
}

INLINE void FN(add_root)(const times_args *a, int64_t r) {
	const float *restrict root = a->root + r * a->width, *restrict bias = a->bias;
	float *restrict y = a->y + r * a->width;
	if (bias)
		for (int64_t k = 0; k < a->width; k++)
			y[k] = (root[k] + y[k]) + bias[k];
	else
		for (int64_t k = 0; k < a->width; k++)
			y[k] += root[k];
}

static TARGET void FN(times)(const void *args, int64_t from, int64_t to) {
	const times_args *a = args;
	for (int64_t r = from; r < to; r++) {
		float *y = a->y + r * a->width;
		if (a->wanted && a->wanted[r] == 0)
			memset(y, 0, a->width * sizeof *y);
		else if (a->draw || a->heard)
			FN(some_row)(a, a->offsets[r], a->offsets[r + 1], y);
		else
			FN(times_row)(a, a->offsets[r], a->offsets[r + 1], 0, y);
		if (a->root)
			FN(add_root)(a, r);
	}
}

// Returns the first of the ascending columns i … to-1 that is not below end; to if there is none.
INLINE int64_t FN(first_from)(const int32_t *columns, int64_t i, int64_t to, int64_t end) {
#if WIDE
	for (__m256i bound = _mm256_set1_epi32((int32_t)end); i + 8 <= to; i += 8) {
		int below = _mm256_movemask_ps((__m256)_mm256_cmpgt_epi32(bound, _mm256_loadu_si256((const __m256i *)(columns + i))));
		if (below != 255)
			return i + __builtin_ctz(~below);
	}
#endif
	while (i < to && columns[i] < end)
		i++;
	return i;
}

// Starts loading size bytes into the cache, 256 at most. Addresses of nothing do no harm.
INLINE void FN(soon)(const void *p, int64_t size) {
	for (int64_t at = 0; at < size && at < 256; at += 64)
		__builtin_prefetch((const char *)p + at);
}

// Takes the entries of rows from … to-1 that are heard, or kept, out of a, without branches. It returns 0 if there is no memory for them.
INLINE int FN(take_some)(times_args *a, int64_t from, int64_t to) {
	int64_t entries = a->offsets[to] - a->offsets[from], n = 0;
	int32_t *offsets = malloc((to - from + 1 + (a->weights ? 2 : 1) * (entries + LANES)) * sizeof *offsets);
	if (!offsets)
		return 0;
	int32_t *columns = offsets + (to - from + 1), *positions = columns + entries + LANES;
	for (int64_t r = from; r < to; r++) {
		offsets[r - from] = (int32_t)n;
		int64_t i = a->offsets[r], end = a->wanted && a->wanted[r] == 0 ? i : a->offsets[r + 1];
		n += a->draw ? FN(keep)(a, i, end, columns + n, (float *)positions + n) : FN(hear)(a, i, end, columns + n, positions + n);
	}
	offsets[to - from] = (int32_t)n;
	a->offsets = offsets;
	a->columns = columns;
	a->positions = a->weights && !a->draw ? positions : NULL;
	if (a->draw)
		a->weights = (float *)positions;
	a->y += from * a->width;
	if (a->root)
		a->root += from * a->width;
	a->heard = a->draw = NULL;
	a->wanted = NULL;
	return 1;
}

// The same, one block of rows of h after the other. Entries are added in the same order. A visit to a row is short, and begins with what
// is in no cache: so its numbers are asked for some visits earlier.
static TARGET void FN(times_blocked)(const void *args, int64_t from, int64_t to) {
	enum { AHEAD = 8 };
	times_args some = *(const times_args *)args;
	const times_args *a = &some;
	int32_t *next = malloc((to - from) * sizeof *next), *taken = NULL;
	if (!next || ((a->heard || a->draw) && !FN(take_some)(&some, from, to))) {
		free(next);
		FN(times)(args, from, to);
		return;
	}
	if (a->offsets != ((const times_args *)args)->offsets) {
		taken = (int32_t *)a->offsets;
		to -= from;
		from = 0;
	}
	memcpy(next, a->offsets + from, (to - from) * sizeof *next);
	memset(a->y + from * a->width, 0, (to - from) * a->width * sizeof *a->y);
	int64_t left = a->offsets[to] - a->offsets[from], size = a->width * (int64_t)sizeof *a->y;
	for (int64_t r = from; a->wanted && r < to; r++)
		if (a->wanted[r] == 0) {
			left -= a->offsets[r + 1] - a->offsets[r];
			next[r - from] = a->offsets[r + 1];
		}
	for (int64_t end = a->block; left > 0; end += a->block) {
		for (int64_t r = from; r < to; r++) {
			if (r + AHEAD < to) {
				FN(soon)(a->columns + next[r + AHEAD - from], 256);
				FN(soon)(a->y + (r + AHEAD) * a->width, size);
			}
			int64_t i = next[r - from], j = FN(first_from)(a->columns, i, a->offsets[r + 1], end);
			if (j == i)
				continue;
			FN(times_row)(a, i, j, 1, a->y + r * a->width);
			next[r - from] = (int32_t)j;
			left -= j - i;
		}
	}
	for (int64_t r = from; a->root && r < to; r++)
		FN(add_root)(a, r);
	free(next);
	free(taken);
}

INLINE void FN(reduce_row)(const reduce_args *a, int64_t r, float empty, int greatest) {
	float *y = a->y + r * a->width;
	for (int64_t k = 0; k < a->width; k++)
		y[k] = empty;
	for (int64_t i = a->offsets[r]; i < a->offsets[r + 1]; i++) {
		const float *e = a->e + (int64_t)(a->positions ? a->positions[i] : i) * a->width;
		for (int64_t k = 0; k < a->width; k++)
			y[k] = greatest ? (e[k] > y[k] ? e[k] : y[k]) : y[k] + e[k];
	}
}

static TARGET void FN(total)(const void *args, int64_t from, int64_t to) {
	const reduce_args *a = args;
	if (a->width == 8) {
		for (int64_t r = from; r < to; r++) {
			v8 s = FN(all)(0);
			for (int64_t i = a->offsets[r]; i < a->offsets[r + 1]; i++)
				s += FN(load)(a->e + 8 * (int64_t)(a->positions ? a->positions[i] : i));
			FN(store)(a->y + 8 * r, s);
		}
		return;
	}
	for (int64_t r = from; r < to; r++)
		FN(reduce_row)(a, r, 0, 0);
}

static TARGET void FN(highest)(const void *args, int64_t from, int64_t to) {
	for (int64_t r = from; r < to; r++)
		FN(reduce_row)(args, r, LOWEST, 1);
}

// Sets y to the inner products of each head's share of x and h.
INLINE void FN(inner)(const float *x, const float *h, int64_t width, int64_t heads, float *y) {
	int64_t share = width / heads, head = 0;
	if (share == 8) {
		for (; head + 8 <= heads; head += 8) {
			v8 p[8];
			for (int k = 0; k < 8; k++)
				p[k] = FN(load)(x + 8 * (head + k)) * FN(load)(h + 8 * (head + k));
			FN(store)(y + head, FN(sums)(p));
		}
	}
	for (; head < heads; head++) {
		const float *xs = x + head * share, *hs = h + head * share;
		v8 p = FN(all)(0);
		int64_t k = 0;
		for (; k + 8 <= share; k += 8)
			p += FN(load)(xs + k) * FN(load)(hs + k);
		float s = k ? FN(sum)(p) : 0;
		for (; k < share; k++)
			s += xs[k] * hs[k];
		y[head] = s;
	}
}

static TARGET void FN(agreement)(const void *args, int64_t from, int64_t to) {
	const agreement_args *a = args;
	for (int64_t r = from; r < to; r++)
		for (int64_t i = a->offsets[r]; i < a->offsets[r + 1]; i++)
			FN(inner)(a->x + r * a->width, a->h + (int64_t)a->columns[i] * a->width, a->width, a->heads, a->y + i * a->heads);
}

INLINE v8 FN(leaky)(v8 x, float slope) {
	i8 positive = x > FN(all)(0);
	return (v8)(((i8)x & positive) | ((i8)(x * FN(all)(slope)) & ~positive));
}

INLINE v8 FN(larger)(v8 x, v8 y) {
	i8 first = x > y;
	return (v8)(((i8)x & first) | ((i8)y & ~first));
}

// Puts the scores of a row's entries, for eight heads, into alpha, and returns the greatest of each head.
INLINE v8 FN(scores8)(const attention_args *a, int64_t r, int64_t i, int64_t to, int64_t head) {
	v8 greatest = FN(all)(LOWEST);
	v8 target = a->e ? FN(all)(0) : FN(load)(a->target + r * a->heads + head);
	for (; i < to; i++) {
		v8 x = a->e ? FN(load)(a->e + i * a->heads + head)
		            : FN(leaky)(FN(load)(a->source + (int64_t)a->columns[i] * a->heads + head) + target, a->slope);
		greatest = FN(larger)(x, greatest);
		FN(store)(a->alpha + i * a->heads + head, x);
	}
	return greatest;
}

INLINE float FN(entry_score)(const attention_args *a, int64_t r, int64_t i, int64_t head) {
	if (a->e)
		return a->e[i * a->heads + head];
	float x = a->source[(int64_t)a->columns[i] * a->heads + head] + a->target[r * a->heads + head];
	return x > 0 ? x : x * a->slope;
}

static TARGET void FN(attend)(const void *args, int64_t from, int64_t to) {
	const attention_args *a = args;
	times_args sum = {.offsets = a->offsets, .columns = a->columns, .h = a->h, .weights = a->kept ? a->kept : a->alpha,
	                  .heard = a->heard, .width = a->width, .heads = a->heads, .y = a->y};
	for (int64_t r = from; r < to; r++) {
		int64_t first = a->offsets[r], end = a->offsets[r + 1], head = 0;
		if (a->wanted && a->wanted[r] == 0) {
			memset(a->y + r * a->width, 0, a->width * sizeof *a->y);
			continue;
		}
		for (; head + 8 <= a->heads; head += 8) {
			v8 greatest = FN(scores8)(a, r, first, end, head), whole = FN(all)(0);
			for (int64_t i = first; i < end; i++) {
				float *alpha = a->alpha + i * a->heads + head;
				v8 p = FN(exp8)(FN(load)(alpha) - greatest);
				whole += p;
				FN(store)(alpha, p);
			}
			v8 inverse = FN(all)(1) / whole;
			for (int64_t i = first; i < end; i++) {
				float *alpha = a->alpha + i * a->heads + head;
				FN(store)(alpha, FN(load)(alpha) * inverse);
			}
		}
		for (; head < a->heads; head++) {
			float greatest = LOWEST, whole = 0;
			for (int64_t i = first; i < end; i++) {
				float x = FN(entry_score)(a, r, i, head);
				greatest = x > greatest ? x : greatest;
				a->alpha[i * a->heads + head] = x;
			}
			int64_t i = first;
			if (a->heads == 1) { // entries lie side by side
				v8 wholes = FN(all)(0);
				for (; i + 8 <= end; i += 8) {
					v8 p = FN(exp8)(FN(load)(a->alpha + i) - FN(all)(greatest));
					wholes += p;
					FN(store)(a->alpha + i, p);
				}
				whole = FN(sum)(wholes);
			}
			for (; i < end; i++) {
				float *alpha = a->alpha + i * a->heads + head;
				whole += *alpha = FN(exp1)(*alpha - greatest);
			}
			float inverse = 1 / whole;
			for (i = first; i < end; i++)
				a->alpha[i * a->heads + head] *= inverse;
		}
		if (a->kept)
			for (int64_t i = first * a->heads; i < end * a->heads; i++)
				a->kept[i] = a->alpha[i] * a->keep[i];
		if (a->heard)
			FN(some_row)(&sum, first, end, a->y + r * a->width);
		else
			FN(times_row)(&sum, first, end, 0, a->y + r * a->width);
		for (int64_t k = 0; a->bias && k < a->width; k++)
			a->y[r * a->width + k] += a->bias[k];
	}
}

static TARGET void FN(attend_backward)(const void *args, int64_t from, int64_t to) {
	const attention_args *a = args;
	for (int64_t r = from; r < to; r++) {
		int64_t first = a->offsets[r], end = a->offsets[r + 1], head = 0;
		if (a->wanted && a->wanted[r] == 0) {
			memset(a->d + first * a->heads, 0, (end - first) * a->heads * sizeof *a->d);
			if (a->target_gradient)
				memset(a->target_gradient + r * a->heads, 0, a->heads * sizeof *a->d);
			continue;
		}
		for (int64_t i = first; i < end; i++)
			if (a->heard && !FN(is_heard)(a->heard, a->columns[i]))
				memset(a->d + i * a->heads, 0, a->heads * sizeof *a->d);
			else
				FN(inner)(a->g + r * a->width, a->h + (int64_t)a->columns[i] * a->width, a->width, a->heads, a->d + i * a->heads);
		for (; head + 8 <= a->heads; head += 8) {
			v8 shared = FN(all)(0), all = FN(all)(0);
			for (int64_t i = first; i < end; i++) {
				int64_t at = i * a->heads + head;
				v8 d = FN(load)(a->kept_in + at) * FN(load)(a->d + at);
				shared += d;
				FN(store)(a->d + at, d);
			}
			v8 target = a->source ? FN(load)(a->target + r * a->heads + head) : FN(all)(0);
			for (int64_t i = first; i < end; i++) {
				int64_t at = i * a->heads + head;
				v8 d = FN(load)(a->d + at) - FN(load)(a->alpha_in + at) * shared;
				if (a->source) {
					i8 positive = FN(load)(a->source + (int64_t)a->columns[i] * a->heads + head) + target > FN(all)(0);
					d = (v8)(((i8)d & positive) | ((i8)(d * FN(all)(a->slope)) & ~positive));
				}
				all += d;
				FN(store)(a->d + at, d);
			}
			if (a->target_gradient)
				FN(store)(a->target_gradient + r * a->heads + head, all);
		}
		for (; head < a->heads; head++) {
			float shared = 0, all = 0;
			for (int64_t i = first; i < end; i++) {
				int64_t at = i * a->heads + head;
				shared += a->d[at] *= a->kept_in[at];
			}
			for (int64_t i = first; i < end; i++) {
				int64_t at = i * a->heads + head;
				float d = a->d[at] - a->alpha_in[at] * shared;
				if (a->source && a->source[(int64_t)a->columns[i] * a->heads + head] + a->target[r * a->heads + head] <= 0)
					d *= a->slope;
				all += a->d[at] = d;
			}
			if (a->target_gradient)
				a->target_gradient[r * a->heads + head] = all;
		}
	}
}

static TARGET void FN(drop)(const void *args, int64_t from, int64_t to) {
	const drop_args *a = args;
	int64_t end = to * NM_CHUNK < a->size ? to * NM_CHUNK : a->size;
	for (int64_t i = from * NM_CHUNK, stop; i < end; i = stop) {
		int64_t r = a->wanted ? i / a->width : 0;
		stop = a->wanted && (r + 1) * a->width < end ? (r + 1) * a->width : end;
		if (a->wanted && a->wanted[r] == 0) {
			memset(a->y + i, 0, (stop - i) * sizeof *a->y);
			continue;
		}
		for (; i < stop; i += LANES) {
			U position = a->first + (uint32_t)i + (U){NUMBERS};
			I kept = FN(mix)(FN(mix)(position ^ a->keys[0]) + a->keys[1]) >= a->bound;
			int some = stop - i < LANES ? (int)(stop - i) : LANES;
			V y = (V)((I)FN(each)(a->scale) & kept);
#define PART(p) (some < LANES ? FN(load_some)((p) + i, some) : FN(loads)((p) + i))
			if (a->x)
				y = PART(a->x) * y;
			if (a->gate)
				y = (V)((I)y & ~(PART(a->gate) < 0));
			if (some < LANES)
				FN(store_some)(a->y + i, y, some);
			else
				FN(stores)(a->y + i, y);
#undef PART
		}
	}
}

static TARGET void FN(score)(const void *args, int64_t from, int64_t to) {
	const score_args *a = args;
	for (int64_t r = from; r < to; r++) {
		FN(inner)(a->x + r * a->width, a->a, a->width, a->heads, a->y + r * a->heads);
		FN(inner)(a->x + r * a->width, a->b, a->width, a->heads, a->z + r * a->heads);
	}
}

static TARGET void FN(score_backward)(const void *args, int64_t from, int64_t to) {
	const score_args *a = args;
	int64_t share = a->width / a->heads;
	for (int64_t part = from; part < to; part++) {
		float *da = a->a_gradients + part * a->width, *db = a->b_gradients + part * a->width;
		memset(da, 0, a->width * sizeof *da);
		memset(db, 0, a->width * sizeof *db);
		for (int64_t r = part * a->rows / a->parts; r < (part + 1) * a->rows / a->parts; r++) {
			for (int64_t head = 0; head < a->heads; head++) {
				float v = a->v[r * a->heads + head], w = a->w[r * a->heads + head];
				int64_t k = head * share, end = k + share;
				const float *x = a->x + r * a->width;
				float *dx = a->x_gradient + r * a->width;
				if (v == 0 && w == 0) { // as in all rows that the loss cannot reach
					memset(dx + k, 0, share * sizeof *dx);
					continue;
				}
				for (; k + 8 <= end; k += 8) {
					v8 x8 = FN(load)(x + k);
					FN(store)(dx + k, FN(all)(v) * FN(load)(a->a + k) + FN(all)(w) * FN(load)(a->b + k));
					FN(store)(da + k, FN(load)(da + k) + FN(all)(v) * x8);
					FN(store)(db + k, FN(load)(db + k) + FN(all)(w) * x8);
				}
				for (; k < end; k++) {
					dx[k] = v * a->a[k] + w * a->b[k];
					da[k] += v * x[k];
					db[k] += w * x[k];
				}
			}
		}
	}
}

INLINE v8 FN(load_to_8)(const float *p, int64_t n) {
	v8 x = {0};
	if (n == 8)
		return FN(load)(p);
	memcpy(&x, p, n * sizeof *p);
	return x;
}

static TARGET void FN(elu)(const void *args, int64_t from, int64_t to) {
	const elu_args *a = args;
	int64_t end = to * NM_CHUNK < a->size ? to * NM_CHUNK : a->size;
	for (int64_t i = from * NM_CHUNK; i < end; i += 8) {
		int64_t n = i + 8 <= end ? 8 : end - i;
		v8 x = FN(load_to_8)(a->x + i, n), v = a->v ? FN(load_to_8)(a->v + i, n) : FN(all)(0);
		i8 positive = x > FN(all)(0);
		v8 e = FN(exp8)((v8)((i8)x & ~positive));
		v8 y = a->v ? (v8)(((i8)v & positive) | ((i8)(v * e) & ~positive)) : (v8)(((i8)x & positive) | ((i8)(e - FN(all)(1)) & ~positive));
		if (n == 8)
			FN(store)(a->y + i, y);
		else
			memcpy(a->y + i, &y, n * sizeof *a->y);
	}
}

// Adds x[r]ᵀ·v[r], for the rows at[…] of a panel, to m ≤ 4 rows of y and n vectors of its columns, from column i of x and k0 of v on; of the
// last vector only some if that is not 0.
INLINE void FN(outer_tile)(const outer_args *a, const int32_t *at, int64_t i, int64_t k0, float *y, int64_t rows, int m, int n, int some) {
	V sums[4][OUTER];
#define EACH _Pragma("GCC unroll 4") for (int j = 0; j < m; j++) _Pragma("GCC unroll 4") for (int k = 0; k < n; k++)
#define PART(p) (some && k == n - 1 ? FN(load_some)((p) + LANES * k, some) : FN(loads)((p) + LANES * k))
	EACH sums[j][k] = PART(y + j * a->out);
	for (int64_t r = 0; r < rows; r++) {
		const float *x = a->x + at[r] * a->width + i, *v = a->v + at[r] * a->out + k0;
		EACH sums[j][k] += FN(each)(x[j]) * PART(v);
	}
	EACH FN(store_some)(y + j * a->out + LANES * k, sums[j][k], some && k == n - 1 ? some : LANES);
#undef EACH
#undef PART
}

static TARGET void FN(outer)(const void *args, int64_t from, int64_t to) {
	enum { PANEL = 64 }; // rows of x and v that stay in the cache
	const outer_args *a = args;
	int64_t blocks = (a->width + NM_OUTER - 1) / NM_OUTER;
	for (int64_t unit = from; unit < to; unit++) {
		int64_t part = unit / blocks, first = unit % blocks * NM_OUTER, last = first + NM_OUTER < a->width ? first + NM_OUTER : a->width;
		float *y = a->y + part * a->width * a->out;
		memset(y + first * a->out, 0, (last - first) * a->out * sizeof *y);
		int64_t end = (part + 1) * a->rows / a->parts;
		for (int64_t r = part * a->rows / a->parts; r < end;) {
			int32_t at[PANEL], rows = 0;
			for (; r < end && rows < PANEL; r++)
				if (!a->wanted || a->wanted[r] != 0)
					at[rows++] = (int32_t)r;
			for (int64_t next = r; next < end && next < r + PANEL; next++)
				if (!a->wanted || a->wanted[next] != 0)
					FN(soon)(a->x + next * a->width + first, (last - first) * (int64_t)sizeof *a->x);
			for (int64_t i = first; i < last; i += 4) {
				int m = last - i < 4 ? (int)(last - i) : 4;
				for (int64_t k = 0; k < a->out; k += OUTER * LANES) {
					int left = a->out - k < OUTER * LANES ? (int)(a->out - k) : OUTER * LANES, some = left % LANES;
					float *to = y + i * a->out + k;
					if (m == 4 && left == OUTER * LANES)
						FN(outer_tile)(a, at, i, k, to, rows, 4, OUTER, 0);
					else if (m == 4 && left <= LANES)
						FN(outer_tile)(a, at, i, k, to, rows, 4, 1, some);
					else
						FN(outer_tile)(a, at, i, k, to, rows, m, (left + LANES - 1) / LANES, some);
				}
			}
		}
	}
}

static const kernels FN(set) = {FN(times), FN(times_blocked), FN(total), FN(highest), FN(agreement), FN(attend), FN(attend_backward), FN(drop), FN(score), FN(score_backward), FN(elu), FN(outer)};

#undef INLINE
#undef V
#undef Vu
#undef I
#undef U
#undef Uu
#undef LANES
#undef OUTER
#undef NUMBERS
#undef FN
#undef TARGET
#undef WIDE
