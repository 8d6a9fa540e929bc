package triton_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/nmgnn/internal/kernels/fused/triton"
	"nodemask/nmgnn/internal/kernels/fused/triton/interpreter"
)

// attention is an attention and all that it is made of.
type attention struct {
	triton.Attend
	offsets, columns                 []int32
	h, heard, e, source, target, g   []float32
	keep                             []float32
	slope                            float32
	y, alpha, kept, d, total, shared []float64 // what is expected
	ofD, ofTotal                     []float64 // absolute values of what d and total are differences of, summed
}

// drawAttention draws one for rows of these lengths; of h, rows that are not heard are zero.
func drawAttention(r *rand.Rand, a triton.Attend, columns int, lengths ...int) *attention {
	x := &attention{Attend: a, slope: 0.2}
	x.Rows, x.offsets, x.columns = drawRows(r, columns, lengths)
	normal := func(n int) []float32 {
		y := make([]float32, n)
		for i := range y {
			y[i] = float32(r.NormFloat64())
		}
		return y
	}
	entries := len(x.columns)
	x.h, x.g = normal(columns*a.Width), normal(x.Rows*a.Width)
	x.e, x.source, x.target = normal(entries*a.Heads), normal(columns*a.Heads), normal(x.Rows*a.Heads)
	for range entries * a.Heads {
		x.keep = append(x.keep, float32(r.IntN(2))*2)
	}
	for range columns {
		x.heard = append(x.heard, float32(r.IntN(2)))
	}
	return x
}

// define computes it in double precision, with what is shared as a sum over entries.
func (x *attention) define() {
	n, share := len(x.columns)*x.Heads, x.Width/x.Heads
	x.y, x.total = make([]float64, x.Rows*x.Width), make([]float64, x.Rows*x.Heads)
	x.shared = make([]float64, x.Rows*x.Heads)
	x.alpha, x.kept, x.d = make([]float64, n), make([]float64, n), make([]float64, n)
	x.ofD, x.ofTotal = make([]float64, n), make([]float64, x.Rows*x.Heads)
	score := func(r, i, head int) (score, slope float64) {
		if x.Scored {
			return float64(x.e[i*x.Heads+head]), 1
		}
		s := float64(x.source[int(x.columns[i])*x.Heads+head] + x.target[r*x.Heads+head])
		if s <= 0 {
			return s * float64(x.slope), float64(x.slope)
		}
		return s, 1
	}
	h := func(i, k int) float64 {
		c := int(x.columns[i])
		if x.Heard && x.heard[c] == 0 {
			return 0
		}
		return float64(x.h[c*x.Width+k])
	}
	for at := range x.Rows * x.Heads {
		r, head := at/x.Heads, at%x.Heads
		from, to, sum, ofShared := int(x.offsets[r]), int(x.offsets[r+1]), 0.0, 0.0
		for i := from; i < to; i++ {
			s, _ := score(r, i, head)
			sum += math.Exp(s)
		}
		for i := from; i < to; i++ {
			s, _ := score(r, i, head)
			of, dot := i*x.Heads+head, 0.0
			x.alpha[of] = math.Exp(s) / sum
			if x.kept[of] = x.alpha[of]; x.Dropout {
				x.kept[of] *= float64(x.keep[of])
			}
			for k := head * share; k < (head+1)*share; k++ {
				x.y[r*x.Width+k] += x.kept[of] * h(i, k)
				dot += float64(x.g[r*x.Width+k]) * h(i, k)
				x.ofD[of] += x.kept[of] * math.Abs(float64(x.g[r*x.Width+k])*h(i, k))
			}
			x.d[of] = x.kept[of] * dot
			x.shared[at] += x.d[of]
			ofShared += x.ofD[of]
		}
		for i := from; i < to; i++ {
			of := i*x.Heads + head
			_, slope := score(r, i, head)
			x.d[of] = (x.d[of] - x.alpha[of]*x.shared[at]) * slope
			x.total[at] += x.d[of]
			x.ofD[of] += x.alpha[of] * ofShared
			x.ofTotal[at] += x.ofD[of]
		}
	}
}

func single(x []float64) []float32 {
	y := make([]float32, len(x))
	for i := range x {
		y[i] = float32(x[i])
	}
	return y
}

// near compares what a kernel wrote with what is expected, to a unit for sums of so many numbers of about 1. What is a
// difference of sums is held to their sizes, as rounding leaves no more of it; of has none for other arrays.
func near(name string, is *interpreter.Array, want []float64, terms int, of ...float64) error {
	if len(is.Floats) != len(want) {
		return fmt.Errorf("%s has %d numbers: expected %d", name, len(is.Floats), len(want))
	}
	for i, w := range want {
		size := math.Sqrt(float64(terms+16)) * max(1, math.Abs(w))
		if len(of) > 0 {
			size = max(size, of[i])
		}
		if d := math.Abs(float64(is.Floats[i]) - w); !(d <= 4e-7*size) {
			return fmt.Errorf("%s: number %d is %v: expected %v", name, i, is.Floats[i], w)
		}
		if is.Writes[i] != 1 {
			return fmt.Errorf("%s: number %d is written %d times", name, i, is.Writes[i])
		}
	}
	return nil
}

// read returns an error unless each row of h was read once for each of its entries, if it is heard.
func (x *attention) read(h *interpreter.Array) error {
	want := make([]int, len(x.h)/x.Width)
	for _, c := range x.columns {
		if !x.Heard || x.heard[c] != 0 {
			want[c]++
		}
	}
	for i, n := range h.Reads {
		if n != want[i/x.Width] {
			return fmt.Errorf("row %d of h is read %d times: expected %d", i/x.Width, n, want[i/x.Width])
		}
	}
	return nil
}

// arrays lists the inputs of both kernels, with more before the scores.
func (x *attention) arrays(h *interpreter.Array, before ...*interpreter.Array) (all []*interpreter.Array) {
	if x.Heard {
		all = append(all, interpreter.Floats(x.heard))
	}
	all = append(append(all, interpreter.Ints(x.offsets), interpreter.Ints(append([]int32{}, x.columns...)), h), before...)
	if x.Scored {
		return append(all, interpreter.Floats(x.e))
	}
	return append(all, interpreter.Floats(x.source), interpreter.Floats(x.target), interpreter.Floats([]float32{x.slope}))
}

func run(k triton.Kernel, all []*interpreter.Array) error {
	f, err := interpreter.Parse(k.Text)
	if err != nil {
		return err
	}
	return f.Run(k.Grid, all...)
}

func (x *attention) checkForward(k triton.Kernel) error {
	h, y := interpreter.Floats(x.h), interpreter.Output(len(x.y))
	alpha, kept := interpreter.Output(len(x.alpha)), interpreter.Output(len(x.kept))
	all := x.arrays(h)
	if x.Dropout {
		all = append(all, interpreter.Floats(x.keep), y, alpha, kept)
	} else {
		all = append(all, y, alpha)
		kept = alpha
	}
	if err := run(k, all); err != nil {
		return err
	}
	terms := len(x.columns)
	return errors.Join(near("y", y, x.y, terms), near("alpha", alpha, x.alpha, 0), near("kept", kept, x.kept, 0),
		x.read(h))
}

func (x *attention) checkBackward(k triton.Kernel) error {
	h, d, total := interpreter.Floats(x.h), interpreter.Output(len(x.d)), interpreter.Output(len(x.total))
	before := []*interpreter.Array{interpreter.Floats(single(x.alpha))}
	if x.Dropout {
		before = append(before, interpreter.Floats(single(x.kept)))
	}
	all := append(x.arrays(h, append(before, interpreter.Floats(x.g))...), interpreter.Floats(single(x.y)), d)
	if !x.Scored {
		all = append(all, total)
	}
	if err := run(k, all); err != nil {
		return err
	}
	terms := len(x.columns) + x.Width
	if err := near("d", d, x.d, terms, x.ofD...); err != nil {
		return err
	}
	if !x.Scored {
		if err := near("the sum of d", total, x.total, terms, x.ofTotal...); err != nil {
			return err
		}
	}
	return x.read(h)
}

func (x *attention) check() error {
	x.define()
	if err := x.checkForward(x.Kernel()); err != nil {
		return fmt.Errorf("forward: %w", err)
	}
	if err := x.checkBackward(x.Backward()); err != nil {
		return fmt.Errorf("backward: %w", err)
	}
	return nil
}

func TestAttentionIsAsDefinedAndMaskedRowsAreNotRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := triton.Attend{Heads: rapid.IntRange(1, 8).Draw(t, "heads"), Scored: rapid.Bool().Draw(t, "scored"),
			Dropout: rapid.Bool().Draw(t, "dropout"), Heard: rapid.Bool().Draw(t, "heard"),
			Long: rapid.Bool().Draw(t, "long")}
		a.Width = a.Heads * rapid.SampledFrom([]int{1, 2, 3, 7, 8, 16, 41}).Draw(t, "share")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		lengths := rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 1, 2, 7, 8, 9, 33, 100}), 1, 6).Draw(t, "rows")
		require.NoError(t, drawAttention(r, a, rapid.IntRange(1, 40).Draw(t, "columns"), lengths...).check())
	})
}

func TestAttentionOfHeadsWiderThanABlock(t *testing.T) {
	for _, a := range []triton.Attend{{Width: 130, Heads: 1, Heard: true, Dropout: true}, {Width: 520, Heads: 2}} {
		require.NoError(t, drawAttention(rand.New(rand.NewPCG(3, 4)), a, 9, 5, 0, 40).check())
	}
}

func TestAttentionOverAHundredThousandEntries(t *testing.T) {
	a := triton.Attend{Width: 4, Heads: 2, Heard: true, Long: true}
	require.NoError(t, drawAttention(rand.New(rand.NewPCG(1, 2)), a, 5000, 3, 100_000, 0, 1).check())
}

func TestAttentionOverMaskedRowsAloneReadsNone(t *testing.T) {
	for _, a := range []triton.Attend{{Width: 6, Heads: 2, Heard: true},
		{Width: 3, Heads: 1, Heard: true, Scored: true, Dropout: true}} {
		x := drawAttention(rand.New(rand.NewPCG(1, 3)), a, 9, 5, 0, 40)
		clear(x.heard)
		require.NoError(t, x.check())
		require.Zero(t, slices.Max(x.y))
		sum := 0.0
		for i := range 5 { // of the first row
			sum += x.alpha[i*a.Heads]
		}
		require.InDelta(t, 1, sum, 1e-9, "weights are of all entries")
	}
}

func TestScoresFarFromZeroDoNotOverflow(t *testing.T) {
	x := drawAttention(rand.New(rand.NewPCG(7, 3)), triton.Attend{Width: 2, Heads: 1, Scored: true}, 9, 5, 40)
	for i := range x.e {
		x.e[i] = float32(i % 7)
	}
	x.define()
	for i := range x.e {
		x.e[i] += 1000
	}
	require.NoError(t, x.checkForward(x.Kernel()))
}

func TestDefectsInAttentionAreFound(t *testing.T) {
	x := drawAttention(rand.New(rand.NewPCG(5, 6)), triton.Attend{Width: 14, Heads: 2, Dropout: true, Heard: true}, 30,
		0, 45, 3, 17)
	e := drawAttention(rand.New(rand.NewPCG(5, 7)), triton.Attend{Width: 130, Heads: 1, Scored: true}, 30, 45, 3, 0, 17)
	x.define()
	e.define()
	for _, c := range []struct {
		of       *attention
		backward bool
		defect
	}{
		{x, false, defect{"entries behind the row's end", "arith.cmpi slt", "arith.cmpi uge"}},
		{x, false, defect{"masked rows are added", "arith.cmpf une", "arith.cmpf oeq"}},
		{x, false, defect{"masks are ignored", "arith.andi", "arith.xori"}},
		{x, false, defect{"a sum for the greatest", "first: %sum = arith.maxnumf", "%sum = arith.addf"}},
		{x, false, defect{"not divided by the sum", "arith.divf", "arith.mulf"}},
		{x, false, defect{"the slope above zero", "arith.cmpf ole", "arith.cmpf ogt"}},
		{x, false, defect{"shares that are too wide", "first: arith.constant 7 : i32", "arith.constant 8 : i32"}},
		{x, false, defect{"the exponent's sign", "first: arith.subf", "arith.addf"}},
		{x, false, defect{"the next row's entries", "first: arith.constant 1 : i32", "arith.constant 2 : i32"}},
		{e, false, defect{"every program writes weights", "arith.cmpi eq", "arith.cmpi slt"}},
		{e, false, defect{"the softmax begins at one", "first: dense<0x00000000> : tensor<8x",
			"dense<0x3F800000> : tensor<8x"}},
		{x, true, defect{"weights of the other head", "arith.constant 2 : i32", "arith.constant 1 : i32"}},
		{x, true, defect{"nothing is shared", "arith.subf", "arith.addf"}},
		{x, true, defect{"masked rows are read backward", "arith.cmpf une", "arith.cmpf oeq"}},
		{x, true, defect{"no slope backward", "arith.cmpf ole", "arith.cmpf ogt"}},
		{x, true, defect{"rows one behind another", "first: arith.constant 14 : i32", "arith.constant 13 : i32"}},
		{e, true, defect{"a gradient of a maximum", "%sum = arith.addf", "%sum = arith.maxnumf"}},
		{e, true, defect{"reading a value that is not there", "%1 ", "%999 "}},
	} {
		k, check := c.of.Kernel(), c.of.checkForward
		if c.backward {
			k, check = c.of.Backward(), c.of.checkBackward
		}
		c.found(t, k, check)
	}
}
