package triton_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/nmgnn/internal/kernels/fused/triton"
	"nodemask/nmgnn/internal/kernels/fused/triton/interpreter"
)

// example is a product and all that it is made of.
type example struct {
	triton.Sum
	offsets, columns, positions []int32
	h, weights, heard, wanted   []float32
	target                      []float32
	draw                        []int32 // three of each trial
	scale                       float32
}

// drawRows draws the columns of the entries of rows of these lengths.
func drawRows(r *rand.Rand, columns int, lengths []int) (rows int, offsets, of []int32) {
	offsets = []int32{0}
	for _, n := range lengths {
		for range n {
			of = append(of, r.Int32N(int32(columns)))
		}
		offsets = append(offsets, int32(len(of)))
	}
	return len(lengths), offsets, of
}

// draw makes a product of whole numbers, which add up exactly in any order, for rows of these lengths.
func drawExample(r *rand.Rand, s triton.Sum, columns int, lengths ...int) *example {
	e := &example{Sum: s, scale: 2}
	for range max(s.Trials, 1) {
		e.draw = append(e.draw, int32(r.Uint32()), int32(r.Uint32()), math.MinInt32)
	}
	e.Rows, e.offsets, e.columns = drawRows(r, columns, lengths)
	whole := func(n, from, to int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(from + r.IntN(to-from+1))
		}
		return x
	}
	n := len(e.columns)
	e.h, e.weights = whole(columns*s.Width, -8, 8), whole(n*s.Heads, -3, 3)
	e.heard, e.wanted, e.target = whole(columns, 0, 1), whole(e.Rows, 0, 1), whole(e.Rows*s.Width, -8, 8)
	for _, i := range r.Perm(n) {
		e.positions = append(e.positions, int32(i))
	}
	return e
}

const slope = 0.25

func mix(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	return x ^ x>>16
}

// define computes the product in double precision, as [triton.Sum] says, and how often each row of h must be read.
func (e *example) define() (y []float64, reads []int) {
	y, reads = make([]float64, e.Rows*e.Width), make([]int, len(e.h)/e.Width)
	perTrial := e.Rows / max(e.Trials, 1)
	for r := range e.Rows {
		trial := r / perTrial
		draw, before := e.draw[3*trial:], e.offsets[trial*perTrial]
		for i := e.offsets[r]; i < e.offsets[r+1]; i++ {
			c, number := e.columns[i], i
			if e.Positions {
				number = e.positions[i]
			}
			if e.Heard && e.heard[c] == 0 || e.Wanted && e.wanted[r] == 0 ||
				e.Dropped && mix(mix(uint32(number-before)^uint32(draw[0]))+uint32(draw[1])) < uint32(draw[2]) {
				continue
			}
			reads[c]++
			for k := range e.Width {
				w := 1.0
				if e.Dropped {
					w = float64(e.weights[i]) * float64(e.scale)
				} else if e.Heads > 0 {
					w = float64(e.weights[int(number)*e.Heads+k/(e.Width/e.Heads)])
				}
				x := float64(e.h[int(c)*e.Width+k])
				if e.Leaky {
					if x += float64(e.target[r*e.Width+k]); x < 0 {
						x = slope
					} else {
						x = 1
					}
				}
				y[r*e.Width+k] += w * x
			}
		}
	}
	return y, reads
}

// check runs a kernel's text and compares all that it does with the definition.
func (e *example) check(k triton.Kernel) error {
	if e.Split == 0 {
		return e.checkParts(k, triton.Kernel{})
	}
	return e.checkParts(k, e.Parts(len(e.columns)))
}

// checkParts runs the kernel of blocks first, if rows are split.
func (e *example) checkParts(k, blocks triton.Kernel) error {
	h, y := interpreter.Floats(e.h), interpreter.Output(e.Rows*e.Width)
	var arrays []*interpreter.Array
	add := func(has bool, a *interpreter.Array) {
		if has {
			arrays = append(arrays, a)
		}
	}
	add(e.Heard, interpreter.Floats(e.heard))
	add(e.Wanted, interpreter.Floats(e.wanted))
	add(e.Dropped, interpreter.Ints(e.draw))
	add(e.Dropped, interpreter.Floats([]float32{e.scale}))
	add(e.Leaky, interpreter.Floats(e.target))
	add(e.Leaky, interpreter.Floats([]float32{slope}))
	add(true, interpreter.Ints(e.offsets))
	add(true, interpreter.Ints(append([]int32{}, e.columns...)))
	add(true, h)
	add(e.Heads > 0, interpreter.Floats(e.weights))
	add(e.Positions, interpreter.Ints(e.positions))
	if e.Split > 0 {
		parts := interpreter.Output(blocks.Grid[0] * e.Width)
		if err := run(blocks, append(slices.Clone(arrays), parts)); err != nil {
			return fmt.Errorf("blocks: %w", err)
		}
		for i, n := range parts.Writes {
			if n != 1 {
				return fmt.Errorf("number %d of the blocks is written %d times", i, n)
			}
		}
		add(true, parts)
	}
	add(true, y)
	if err := run(k, arrays); err != nil {
		return err
	}
	want, reads := e.define()
	for i, x := range y.Floats {
		if float64(x) != want[i] {
			return fmt.Errorf("row %d, column %d is %v: expected %v", i/e.Width, i%e.Width, x, want[i])
		}
		if y.Writes[i] != 1 {
			return fmt.Errorf("row %d, column %d is written %d times", i/e.Width, i%e.Width, y.Writes[i])
		}
	}
	for i, n := range h.Reads {
		if n != reads[i/e.Width] {
			return fmt.Errorf("row %d, column %d of h is read %d times: expected %d", i/e.Width, i%e.Width, n, reads[i/e.Width])
		}
	}
	return nil
}

func TestSumsAreAsDefinedAndSkipMaskedRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := triton.Sum{Heads: rapid.IntRange(0, 8).Draw(t, "heads")}
		s.Width = max(s.Heads, 1) * rapid.SampledFrom([]int{1, 2, 3, 7, 8, 16, 41, 130}).Draw(t, "share")
		s.Positions = s.Heads > 0 && rapid.Bool().Draw(t, "positions")
		switch rapid.IntRange(0, 3).Draw(t, "left out") {
		case 1:
			s.Heard = true
		case 2:
			s.Wanted = true
		case 3:
			if s.Heads == 1 {
				s.Dropped = true
			}
		}
		s.Leaky = s.Heads > 0 && rapid.IntRange(0, 3).Draw(t, "leaky") == 0
		s.Split = rapid.SampledFrom([]int{0, 0, 5, 16}).Draw(t, "split")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		lengths := rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 1, 2, 7, 8, 9, 33, 100}), 1, 6).Draw(t, "rows")
		s.Trials = rapid.SampledFrom([]int{0, 1, 2, 5}).Draw(t, "trials")
		lengths = slices.Repeat(lengths, max(s.Trials, 1))
		e := drawExample(r, s, rapid.IntRange(1, 40).Draw(t, "columns"), lengths...)
		require.NoError(t, e.check(e.Kernel()))
	})
}

func TestARowOfAHundredThousandEntriesIsSummed(t *testing.T) {
	for _, s := range []triton.Sum{{Width: 4, Heard: true}, {Width: 4, Heard: true, Split: 512},
		{Width: 4, Heads: 1, Leaky: true, Positions: true, Split: 512}} {
		e := drawExample(rand.New(rand.NewPCG(1, 2)), s, 5000, 3, 100_000, 0, 1)
		require.NoError(t, e.check(e.Kernel()))
	}
}

func TestNothingIsReadWhereAllIsMasked(t *testing.T) {
	for _, s := range []triton.Sum{{Width: 6, Heard: true}, {Width: 6, Heads: 2, Wanted: true},
		{Width: 6, Heads: 1, Dropped: true}} {
		e := drawExample(rand.New(rand.NewPCG(1, 3)), s, 9, 5, 0, 40)
		clear(e.heard)
		clear(e.wanted)
		e.draw[2] = -1 // the highest bound
		_, reads := e.define()
		require.Zero(t, slices.Max(reads))
		require.NoError(t, e.check(e.Kernel()))
	}
}

func TestDefectsInAKernelAreFound(t *testing.T) {
	e := drawExample(rand.New(rand.NewPCG(5, 6)), triton.Sum{Width: 14, Heads: 2, Positions: true, Heard: true}, 30, 0, 45,
		3, 17)
	d := drawExample(rand.New(rand.NewPCG(5, 7)), triton.Sum{Width: 7, Heads: 1, Positions: true, Dropped: true}, 30, 0,
		45, 3, 17)
	w := drawExample(rand.New(rand.NewPCG(5, 8)), triton.Sum{Width: 7, Wanted: true}, 30, 9, 45, 3, 17, 8, 8)
	l := drawExample(rand.New(rand.NewPCG(5, 9)), triton.Sum{Width: 7, Wanted: true, Split: 8}, 30, 9, 45, 3, 17, 8, 80)
	l.wanted[1], l.wanted[5] = 1, 1
	k := drawExample(rand.New(rand.NewPCG(5, 10)), triton.Sum{Width: 14, Heads: 2, Leaky: true}, 30, 9, 45, 3)
	for _, c := range []struct {
		of *example
		defect
	}{
		{e, defect{"entries behind the row's end", "arith.cmpi slt", "arith.cmpi uge"}},
		{e, defect{"steps that are too long", "arith.constant 32 : i32", "arith.constant 64 : i32"}},
		{e, defect{"masked rows are added", "arith.cmpf une", "arith.cmpf oeq"}},
		{e, defect{"masks are ignored", "arith.andi", "arith.xori"}},
		{e, defect{"weights of the other head", "arith.divsi", "arith.remsi"}},
		{e, defect{"rows one behind another", "arith.constant 14 : i32", "arith.constant 13 : i32"}},
		{e, defect{"a sum begins at one", "first: dense<0x00000000> : tensor<32x8xf32>",
			"dense<0x3F800000> : tensor<32x8xf32>"}},
		{e, defect{"products become sums", "arith.mulf", "arith.addf"}},
		{d, defect{"another hash", "first: arith.xori", "arith.addi"}},
		{d, defect{"another order of bits", "arith.constant 15 : i32", "arith.constant 14 : i32"}},
		{d, defect{"kept and dropped change places", "arith.cmpi uge", "arith.cmpi slt"}},
		{w, defect{"unwanted rows are read", "arith.cmpf une", "arith.cmpf oeq"}},
		{w, defect{"the next row's entries", "arith.constant 1 : i32", "arith.constant 2 : i32"}},
		{w, defect{"columns beyond the width", "first: arith.cmpi slt", "arith.cmpi uge"}},
		{w, defect{"reading a value that is not there", "%1 ", "%999 "}},
		{w, defect{"a maximum for a sum", "%sum = arith.addf", "%sum = arith.maxnumf"}},
		{l, defect{"blocks of the next row, too", "arith.cmpi slt", "arith.cmpi sle"}},
		{l, defect{"entries that blocks have", "arith.subi", "arith.addi"}},
		{k, defect{"slopes above zero", "arith.cmpf olt", "arith.cmpf ogt"}},
		{k, defect{"zero has a slope", "arith.cmpf olt", "arith.cmpf ole"}},
		{k, defect{"differences for sums", "arith.addf", "arith.mulf"}},
		{l, defect{"a block too few", "first: arith.constant 7 : i32", "arith.constant 8 : i32"}},
	} {
		c.found(t, c.of.Kernel(), c.of.check)
	}
}

// defect is a change of a kernel's text: the last from becomes to; the first one if it says so.
type defect struct{ what, from, to string }

// found requires that a check of a kernel finds the defect, and nothing else.
func (d defect) found(t *testing.T, k triton.Kernel, check func(k triton.Kernel) error) {
	t.Helper()
	require.NoError(t, check(k), d.what)
	from, isFirst := strings.CutPrefix(d.from, "first: ")
	at := strings.LastIndex(k.Text, from)
	if isFirst {
		at = strings.Index(k.Text, from)
	}
	require.Positive(t, at, "%s\n%s", d.what, k.Text)
	k.Text = k.Text[:at] + d.to + k.Text[at+len(from):]
	err := check(k)
	require.Error(t, err, d.what)
	t.Logf("%s: %v", d.what, err)
}

// agreement is an agreement and all that it is made of: whole numbers.
type agreement struct {
	triton.Agreement
	offsets, columns []int32
	x, h, a          []float32
}

func drawAgreement(r *rand.Rand, a triton.Agreement, columns int, lengths ...int) *agreement {
	e := drawExample(r, triton.Sum{Width: a.Width}, columns, lengths...)
	g := &agreement{a, e.offsets, e.columns, e.target, e.h, nil}
	g.Rows = e.Rows
	for range max(a.Trials, 1) * a.Width {
		g.a = append(g.a, float32(r.IntN(7)-3))
	}
	return g
}

// check runs a kernel's text and compares what it returns with the definition, in double precision.
func (g *agreement) check(k triton.Kernel) error {
	y := interpreter.Output(len(g.columns) * g.Heads)
	arrays := []*interpreter.Array{interpreter.Ints(g.offsets), interpreter.Ints(append([]int32{}, g.columns...)),
		interpreter.Floats(g.x), interpreter.Floats(g.h)}
	if g.Leaky {
		arrays = append(arrays, interpreter.Floats(g.a), interpreter.Floats([]float32{slope}))
	}
	if err := run(k, append(arrays, y)); err != nil {
		return err
	}
	for r := range g.Rows {
		a := g.a[r/(g.Rows/max(g.Trials, 1))*g.Width:]
		for i := int(g.offsets[r]); i < int(g.offsets[r+1]); i++ {
			want := make([]float64, g.Heads)
			for k := range g.Width {
				x, h := float64(g.x[r*g.Width+k]), float64(g.h[int(g.columns[i])*g.Width+k])
				switch {
				case !g.Leaky:
					x *= h
				case x+h < 0:
					x = slope * (x + h) * float64(a[k])
				default:
					x = (x + h) * float64(a[k])
				}
				want[k/(g.Width/g.Heads)] += x
			}
			for head, w := range want {
				if at := i*g.Heads + head; float64(y.Floats[at]) != w || y.Writes[at] != 1 {
					return fmt.Errorf("entry %d, head %d is %v, written %d times: expected %v, once", i, head, y.Floats[at],
						y.Writes[at], w)
				}
			}
		}
	}
	return nil
}

func TestAgreementsAreWhatTheyAreDefinedAs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := triton.Agreement{Heads: rapid.IntRange(1, 8).Draw(t, "heads"), Leaky: rapid.Bool().Draw(t, "leaky"),
			Long: rapid.Bool().Draw(t, "long")}
		a.Width = a.Heads * rapid.SampledFrom([]int{1, 2, 3, 7, 8, 16, 41, 130}).Draw(t, "share")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		lengths := rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 1, 2, 7, 8, 9, 33, 100}), 1, 6).Draw(t, "rows")
		a.Trials = rapid.SampledFrom([]int{0, 1, 2, 5}).Draw(t, "trials")
		lengths = slices.Repeat(lengths, max(a.Trials, 1))
		g := drawAgreement(r, a, rapid.IntRange(1, 40).Draw(t, "columns"), lengths...)
		require.NoError(t, g.check(g.Kernel()))
	})
	g := drawAgreement(rand.New(rand.NewPCG(1, 2)), triton.Agreement{Width: 4, Heads: 2, Leaky: true}, 5000,
		3, 100_000, 0, 1)
	require.NoError(t, g.check(g.Kernel()), "a hundred thousand entries")
}

func TestDefectsInScoresAreFound(t *testing.T) {
	g := drawAgreement(rand.New(rand.NewPCG(5, 11)), triton.Agreement{Width: 14, Heads: 2, Leaky: true}, 30, 0, 45, 3, 17)
	for _, d := range []defect{
		{"slopes above zero", "first: arith.cmpf olt", "arith.cmpf ogt"},
		{"not weighed", "first: arith.mulf", "arith.addf"},
		{"products for sums", "first: arith.addf", "arith.mulf"},
		{"the other head's share", "first: arith.constant 7 : i32", "arith.constant 6 : i32"},
		{"the next row's entries", "first: arith.constant 1 : i32", "arith.constant 2 : i32"},
	} {
		d.found(t, g.Kernel(), g.check)
	}
}

func TestDefectsInWhatIsOfATrialAreFound(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 13))
	rows := []int{3, 20, 0, 9, 31, 2}
	e := drawExample(r, triton.Sum{Width: 5, Heads: 1, Dropped: true, Positions: true, Trials: 2}, 30, rows...)
	g := drawAgreement(r, triton.Agreement{Width: 10, Heads: 2, Leaky: true, Trials: 2}, 30, rows...)
	defect{"rows of another number for each trial", "first: arith.constant 3 : i32", "arith.constant 2 : i32"}.found(t,
		e.Kernel(), e.check)
	defect{"entries that go on counting", "first: arith.subi", "arith.addi"}.found(t, e.Kernel(), e.check)
	defect{"weights of another trial", "first: arith.constant 3 : i32", "arith.constant 6 : i32"}.found(t, g.Kernel(),
		g.check)
}

func TestDefectsInBlocksAreFound(t *testing.T) {
	e := drawExample(rand.New(rand.NewPCG(5, 9)), triton.Sum{Width: 7, Split: 8}, 30, 16, 45, 3, 8, 8, 80)
	for _, d := range []defect{
		{"a row that begins with the block is not found", "first: arith.cmpi sle", "arith.cmpi slt"},
		{"a row's last block is left out", "arith.cmpi sle", "arith.cmpi slt"},
		{"too few halvings", "first: arith.constant 3 : i32", "arith.constant 1 : i32"},
	} {
		d.found(t, e.Parts(len(e.columns)), func(k triton.Kernel) error { return e.checkParts(e.Kernel(), k) })
	}
}

func TestTextThatIsNoKernelIsAnError(t *testing.T) {
	for _, text := range []string{"", "module {",
		"module {\n tt.func public @f(%x: i32) attributes {noinline = false} {"} {
		_, err := interpreter.Parse(text)
		require.Error(t, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(triton.Sum{Rows: 3, Width: 6, Heads: 2, Heard: true}.Kernel().Text)
	f.Fuzz(func(t *testing.T, text string) { _, _ = interpreter.Parse(text) })
}
