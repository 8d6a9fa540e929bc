// Prints the bits that each loop of kernels.c computes of numbers made here, to compare processors and sets of instructions: digits_test.go. An
// argument is how many random shapes to add.
#include "../kernels.c"

#include <stdio.h>

enum { ROWS = 60, COLUMNS = 40, MOST = 256 * 1024 };

static uint32_t state = 2463534242u;
static uint32_t drawn(void) { return state ^= state << 13, state ^= state >> 17, state ^= state << 5; }
static float number(void) { return (int32_t)drawn() * 0x1p-31f; }

static float h[MOST], g[MOST], e[MOST], source[MOST], target[MOST], weights[MOST], keep[MOST], wanted[ROWS];
static float y[MOST], z[MOST], alpha[MOST], kept[MOST], d[MOST];
static int32_t offsets[ROWS + 1], columns[MOST], positions[MOST];
static uint32_t heard[(COLUMNS + 31) / 32 + 1], draw[3] = {7, 11, 1u << 31};

// say prints a hash of the bits of n numbers, and forgets them.
static void say(const char *what, int64_t width, int64_t heads, float *x, int64_t n) {
	uint64_t hash = 14695981039346656037ull;
	for (int64_t i = 0; i < n; i++) {
		uint32_t bits;
		memcpy(&bits, x + i, 4);
		hash = (hash ^ bits) * 1099511628211ull;
		x[i] = 7;
	}
	printf("%s %d %d: %016llx\n", what, (int)width, (int)heads, (unsigned long long)hash);
}

int main(int argc, char **argv) {
	const kernels *k = nm_kernels();
	for (int r = 0; r < ROWS; r++) {
		int n = r % 7 == 3 ? 0 : r == 20 ? 300 : drawn() % 19;
		wanted[r] = r % 3 > 0;
		for (int i = offsets[r]; i < offsets[r] + n; i++)
			columns[i] = i > offsets[r] ? columns[i - 1] + (drawn() % 5 == 0 && columns[i - 1] + 1 < COLUMNS) : (int32_t)(drawn() % 9);
		offsets[r + 1] = offsets[r] + n;
	}
	int64_t entries = offsets[ROWS];
	for (int i = 0; i < entries; i++)
		positions[i] = entries - 1 - i;
	heard[0] = drawn(), heard[1] = drawn();
	for (int i = 0; i < MOST; i++)
		h[i] = number(), g[i] = number(), e[i] = 3 * number(), source[i] = number(), target[i] = number(), weights[i] = number(),
		keep[i] = 2.0f * (drawn() >> 31);
	static const int shapes[][2] = {{1, 1}, {3, 1}, {8, 1}, {41, 1}, {64, 1}, {64, 8}, {8, 8}, {14, 2}, {130, 1}, {48, 3}, {56, 8}};
	int known = sizeof shapes / sizeof *shapes, all = known + (argc > 1 ? atoi(argv[1]) : 0);
	for (int s = 0; s < all; s++) {
		int64_t heads = s < known ? shapes[s][1] : 1 + (int)(drawn() % 9 * (drawn() % 2)), width = s < known ? shapes[s][0] : heads * (1 + drawn() % (150 / heads));
#define SAY(what, x, n) say(what, width, heads, x, n)
		times_args t = {.offsets = offsets, .columns = columns, .h = h, .width = width, .heads = heads, .entries = entries, .y = y};
		if (heads == 1)
			k->times(&t, 0, ROWS), SAY("sum", y, ROWS * width);
		t.weights = weights;
		k->times(&t, 0, ROWS), SAY("weighed", y, ROWS * width);
		t.positions = positions, t.wanted = wanted;
		k->times(&t, 0, ROWS), SAY("wanted", y, ROWS * width);
		t.wanted = NULL, t.heard = heard;
		k->times(&t, 0, ROWS), SAY("heard", y, ROWS * width);
		t.heard = NULL, t.block = 8;
		k->times_blocked(&t, 0, ROWS), SAY("in blocks", y, ROWS * width);
		t.draw = draw, t.scale = 2;
		if (heads == 1)
			k->times_blocked(&t, 0, ROWS), SAY("dropped, in blocks", y, ROWS * width);
		t.block = 0, t.wanted = wanted, t.heard = heard;
		if (heads == 1)
			k->times(&t, 0, ROWS), SAY("dropped, wanted, heard", y, ROWS * width);
		t.block = 8;
		if (heads == 1)
			k->times_blocked(&t, 0, ROWS), SAY("in blocks", y, ROWS * width);
		t.block = 0, t.wanted = NULL, t.heard = NULL;
		if (heads == 1)
			k->times(&t, 0, ROWS), SAY("dropped", y, ROWS * width);
		t.draw = NULL, t.root = g, t.bias = weights, t.wanted = wanted;
		k->times(&t, 0, ROWS), SAY("with roots and a bias", y, ROWS * width);
		t.block = 8;
		k->times_blocked(&t, 0, ROWS), SAY("in blocks", y, ROWS * width);
		outer_args o = {h, g, drawn() % 2 ? keep : NULL, 200, 1 + width % 70, 1 + width * heads % 90, 3, y};
		k->outer(&o, 0, 3 * ((o.width + NM_OUTER - 1) / NM_OUTER)), SAY("outer", y, 3 * o.width * o.out);
		reduce_args r = {offsets, positions, h, width, y};
		k->total(&r, 0, ROWS), SAY("total", y, ROWS * width);
		k->highest(&r, 0, ROWS), SAY("highest", y, ROWS * width);
		agreement_args a = {offsets, columns, g, h, width, heads, y};
		k->agreement(&a, 0, ROWS), SAY("agreement", y, entries * heads);
		for (int scored = 0; scored < 2; scored++) {
			attention_args t = {.offsets = offsets, .columns = columns, .e = scored ? e : NULL, .source = scored ? NULL : source,
				.target = scored ? NULL : target, .keep = keep, .bias = weights, .slope = 0.2f, .h = h, .width = width, .heads = heads, .alpha = alpha,
				.kept = kept, .y = y, .alpha_in = alpha, .kept_in = kept, .g = g, .d = d, .target_gradient = scored ? NULL : z};
			k->attend(&t, 0, ROWS), SAY("attention", y, ROWS * width);
			k->attend_backward(&t, 0, ROWS), SAY("its gradient", d, entries * heads);
			if (!scored)
				SAY("and of targets", z, ROWS * heads);
			SAY("its weights", alpha, entries * heads);
		}
		score_args c = {h, weights, weights + width, width, heads, y, z, source, target, ROWS, 7, d, alpha, kept};
		k->score(&c, 0, ROWS), SAY("scores", y, ROWS * heads), SAY("scores", z, ROWS * heads);
		k->score_backward(&c, 0, 7), SAY("their gradient", d, ROWS * width), SAY("of a", alpha, 7 * width), SAY("of b", kept, 7 * width);
	}
	drop_args w = {h, keep, g, 77, {7, 11}, 1u << 30, 1.25f, 5000, 7, y};
	k->drop(&w, 0, 5), say("dropout of wanted rows, with a gate", 0, 0, y, 5000);
	for (int64_t size = 4990; size < 5008; size++) {
		drop_args t = {h, NULL, NULL, 5, {7, 11}, 1u << 30, 1.25f, size, 1, y};
		k->drop(&t, 0, 5), say("dropout", 0, 0, y, size + 1);
	}
	elu_args u = {e, NULL, 5000, y};
	k->elu(&u, 0, 5), say("ELU", 0, 0, y, 5000);
	u.v = g, k->elu(&u, 0, 5), say("its gradient", 0, 0, y, 5000);
	return 0;
}
