package fused

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gomlx/compute/gobackend"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// bits returns the bits, for exact comparison.
func bits(x []float32) []uint32 {
	all := make([]uint32, len(x))
	for i, x := range x {
		if all[i] = math.Float32bits(x); x != x {
			all[i] = math.Float32bits(float32(math.NaN()))
		}
	}
	return all
}

func normal(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// odd draws normal numbers, sometimes with special values among them.
func odd(r *rand.Rand, n int) []float32 {
	x, special := make([]float32, n), r.IntN(5) == 0
	for i := range x {
		x[i] = float32(r.NormFloat64())
		if special && r.IntN(20) == 0 {
			x[i] = []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.NaN()), 1e-40}[r.IntN(5)]
		}
	}
	return x
}

// eachWay runs a function with the pure-Go backend's operations, ours in Go, and, where available, ours in lanes.
func eachWay(run func(way string)) {
	hastened, have := operations, haveLanes
	defer func() { operations, haveLanes = hastened, have }()
	operations = interceptedGo.own
	run("GoMLX")
	operations, haveLanes = hastened, func() bool { return false }
	run("Go")
	if haveLanes = have; haveLanes() {
		run("lanes")
	}
}

func TestHastenedOperationsAreGoMLXsToTheLastBit(t *testing.T) {
	b, err := gobackend.New("ops_sequential")
	require.NoError(t, err)
	require.NoError(t, Intercepted())
	defer Hasten(b)()
	product := func(x, z *Node) *Node { return DotGeneral(x, []int{1}, nil, z, []int{0}, nil) }
	transposed := func(x, z *Node) *Node { return DotGeneral(x, []int{1}, nil, z, []int{1}, nil) }
	two := map[string]func(x, z *Node) *Node{"+": Add, "-": Sub, "*": Mul, "/": Div, "max": Max}
	one := []func(x *Node) *Node{Sign, Sqrt, func(x *Node) *Node { return ReduceSum(x, 0) },
		func(x *Node) *Node { return ReduceSum(x, 1) }, func(x *Node) *Node { return TransposeAllAxes(x, 1, 0) },
		func(x *Node) *Node { return TransposeAllAxes(x, 0, 1) }}
	check := func(t *rapid.T, r *rand.Rand, f func(x []*Node) *Node, shapes ...[]int) {
		var values []any
		for _, shape := range shapes {
			n := 1
			for _, d := range shape {
				n *= d
			}
			values = append(values, tensors.FromFlatDataAndDimensions(odd(r, n), shape...))
		}
		var want []uint32
		eachWay(func(way string) {
			// Once with inputs in use elsewhere, once with some that may be overwritten.
			for _, f := range []func(x []*Node) *Node{f, func(x []*Node) *Node {
				for i := range x {
					x[i] = Neg(Neg(x[i]))
				}
				return f(x)
			}} {
				y, err := CallOnce(b, f, values...)
				require.NoError(t, err)
				got := tensors.MustCopyFlatData[float32](y)
				if want == nil {
					want = bits(got)
				}
				require.Equal(t, want, bits(got), "%s, %v", way, shapes)
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		m, n, k := rapid.IntRange(1, 30).Draw(t, "m"), rapid.IntRange(1, 30).Draw(t, "n"), rapid.IntRange(1, 30).Draw(t, "k")
		if rapid.IntRange(0, 9).Draw(t, "large") == 0 {
			m, n, k = 40+m, rapid.SampledFrom([]int{60 + n, 64, 128}).Draw(t, "columns"), 1000+100*k
		}
		for name, f := range two {
			x, z := []int{m, n}, rapid.SampledFrom([][]int{{m, n}, {m, 1}, {1, n}, {1, 1}, {}}).Draw(t, "shape "+name)
			if rapid.Bool().Draw(t, "swapped "+name) {
				x, z = z, x
			}
			check(t, r, func(x []*Node) *Node { return f(x[0], x[1]) }, x, z)
		}
		for _, sizes := range [][2][]int{{{m, n}, {m, n}}, {{}, {m, n}}, {{m, n}, {}}, {{}, {}}} {
			check(t, r, func(x []*Node) *Node { return Where(LessThan(x[0], ZerosLike(x[0])), x[1], x[2]) }, []int{m, n},
				sizes[0], sizes[1])
		}
		for _, f := range one {
			check(t, r, func(x []*Node) *Node { return f(x[0]) }, []int{m, n})
		}
		from, to := rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(1, n).Draw(t, "to")
		check(t, r, func(x []*Node) *Node { return Slice(x[0], AxisRange(from%m), AxisRange(min(from, to-1), to)) },
			[]int{m, n})
		check(t, r, func(x []*Node) *Node { return Slice(x[0], AxisRange(), AxisRange().Stride(2)) }, []int{m, n})
		for _, axes := range [][]PadAxis{{{}, {Start: from, End: to}}, {{}, {End: to, Interior: 2}}, {{Start: from}, {}}} {
			check(t, r, func(x []*Node) *Node { return Pad(x[0], x[1], axes...) }, []int{m, n}, []int{})
		}
		check(t, r, func(x []*Node) *Node { return product(x[0], x[1]) }, []int{m, k}, []int{k, n})
		check(t, r, func(x []*Node) *Node { return transposed(x[0], x[1]) }, []int{m, k}, []int{n, k})
		check(t, r, func(x []*Node) *Node { return Mul(Mul(x[0], x[1]), x[0]) }, []int{m, 1}, []int{1, n})
	})
}

func TestOnlyBackendsThatAskRunOurOperations(t *testing.T) {
	ran := 0
	defer func(own func() bool) { haveLanes = own }(haveLanes)
	own := haveLanes
	haveLanes = func() bool { ran++; return own() }
	for range 2 { // the second backend may have the first one's address
		b, err := gobackend.New("ops_sequential")
		require.NoError(t, err)
		for _, asks := range []bool{false, true, false} {
			end := func() {}
			if asks {
				end = Hasten(b)
			}
			ran = 0
			_, err = CallOnce(b, Sqrt, tensors.FromFlatDataAndDimensions(make([]float32, 64*64), 64, 64))
			require.NoError(t, err)
			require.Equal(t, asks, ran > 0)
			end()
		}
		b.Finalize()
	}
}

func TestLoopsAreTheSameToTheLastBitInLanes(t *testing.T) {
	if !haveLanes() {
		t.Skip("skipped: this program does not run in WebAssembly")
	}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rows, heads := rapid.IntRange(1, 20).Draw(t, "rows"), rapid.SampledFrom([]int{1, 1, 2, 3, 4, 8, 9}).Draw(t, "heads")
		width := heads * rapid.IntRange(1, 90/heads).Draw(t, "share")
		offsets, columns := []int32{0}, []int32{}
		for range rows {
			for range r.IntN(12) {
				columns = append(columns, int32(r.IntN(rows)))
			}
			offsets = append(offsets, int32(len(columns)))
		}
		if len(columns) == 0 {
			t.Skip("no entries")
		}
		n := len(columns)
		floats := func(rows, columns int) array {
			return array{rows: rows, columns: columns, floats: odd(r, rows*columns)}
		}
		ints := func(x []int32) array { return array{rows: len(x), columns: 1, ints: x} }
		empty := func(rows, columns int) array {
			return array{rows: rows, columns: columns, floats: make([]float32, rows*columns)}
		}
		positions := make([]int32, n)
		for i, p := range r.Perm(n) {
			positions[i] = int32(p)
		}
		o, c, p := ints(offsets), ints(columns), ints(positions)
		h, perEntry, perRow, slope := floats(rows, width), floats(n, heads), floats(rows, heads), array{rows: 1, columns: 1,
			floats: []float32{0.2}}
		other, another := floats(rows, heads), floats(n, heads)
		draw := array{rows: 1, columns: 4, bits: []uint32{r.Uint32(), r.Uint32(), r.Uint32(), 0}}
		which := func(bits int32) array { return array{rows: 1, columns: 1, ints: []int32{bits}} }
		wanted := floats(rows, 1)
		wanted.floats[0] = 0
		parts := min(rows, 7)
		for _, call := range []struct {
			kernel string
			x, y   []array
		}{
			{timesKernel, []array{which(0), o, c, h}, []array{empty(rows, width)}},
			{timesKernel, []array{which(0), o, c, h, perEntry}, []array{empty(rows, width)}},
			{timesKernel, []array{which(wantedBit), wanted, o, c, h, perEntry, p}, []array{empty(rows, width)}},
			{totalKernel, []array{o, perEntry}, []array{empty(rows, heads)}},
			{totalKernel, []array{o, perEntry, p}, []array{empty(rows, heads)}},
			{highestKernel, []array{o, perEntry}, []array{empty(rows, heads)}},
			{agreementKernel, []array{o, c, h, floats(rows, width)}, []array{empty(n, heads)}},
			{attendKernel, []array{which(0), o, c, h, perRow, other, slope}, []array{empty(rows, width), empty(n, heads)}},
			{attendKernel, []array{which(keepBit), o, c, h, perRow, other, slope, another}, []array{empty(rows, width),
				empty(n, heads), empty(n, heads)}},
			{attendKernel, []array{which(scoresBit), o, c, h, perEntry}, []array{empty(rows, width), empty(n, heads)}},
			{attendKernel, []array{which(scoresBit | keepBit), o, c, h, perEntry, another}, []array{empty(rows, width),
				empty(n, heads), empty(n, heads)}},
			{attendBackwardKernel, []array{which(0), o, c, h, perEntry, another, floats(rows, width), perRow, other, slope},
				[]array{empty(n, heads), empty(rows, heads)}},
			{attendBackwardKernel, []array{which(scoresBit), o, c, h, perEntry, another, floats(rows, width),
				floats(n, heads)}, []array{empty(n, heads)}},
			{dropKernel, []array{which(0), draw, slope, h}, []array{empty(rows, width)}},
			{dropKernel, []array{which(0), draw, slope}, []array{empty(rows, width)}},
			{eluKernel, []array{h}, []array{empty(rows, width)}},
			{eluKernel, []array{h, floats(rows, width)}, []array{empty(rows, width)}},
			{scoreKernel, []array{h, floats(1, width), floats(1, width)}, []array{empty(rows, heads), empty(rows, heads)}},
			{scoreBackwardKernel, []array{h, floats(1, width), floats(1, width), perRow, other}, []array{empty(rows, width),
				empty(parts, width), empty(parts, width)}},
		} {
			var want [][]uint32
			have := haveLanes
			for _, with := range []func() bool{func() bool { return false }, have} {
				haveLanes = with
				var got [][]uint32
				for _, y := range call.y {
					for i := range y.floats {
						y.floats[i] = 7 // to be overwritten
					}
				}
				kernelsInGo[call.kernel](call.x, call.y)
				for _, y := range call.y {
					got = append(got, bits(y.floats))
				}
				if want == nil {
					want = got
				}
				if !reflect.DeepEqual(want, got) {
					haveLanes = have
					require.Equal(t, want, got, fmt.Sprintf("%s of %d inputs, width %d, %d heads", call.kernel, len(call.x), width,
						heads))
				}
			}
			haveLanes = have
		}
	})
}
