package stats

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func madOf(t require.TestingT, h []float32, width int) float64 {
	mad, err := MAD(context.Background(), h, len(h)/width, width)
	require.NoError(t, err)
	return mad
}

// naiveMAD is the definition, pair by pair, with 200 bits; cosine distances up to zero count as zero.
func naiveMAD(h []float32, width int, zero float64) float64 {
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	dot := func(a, b []float32) *big.Float {
		sum := number(0)
		for k := range a {
			sum.Add(sum, number(0).Mul(number(float64(a[k])), number(float64(b[k]))))
		}
		return sum
	}
	nodes, total, rows := len(h)/width, 0.0, 0
	for i := range nodes {
		sum, count := 0.0, 0
		for j := range nodes {
			if i == j {
				continue
			}
			a, b, distance := h[i*width:][:width], h[j*width:][:width], number(1)
			if norms := dot(a, a).Mul(dot(a, a), dot(b, b)); norms.Sign() > 0 {
				distance.Sub(distance, dot(a, b).Quo(dot(a, b), norms.Sqrt(norms)))
			}
			if d, _ := distance.Float64(); d > zero {
				sum += d
				count++
			}
		}
		if count > 0 {
			total += sum / float64(count)
			rows++
		}
	}
	if rows == 0 {
		return 0
	}
	return total / float64(rows)
}

func TestMADAveragesRowsThenNodes(t *testing.T) {
	// Directions 0°, 0°, 90°, 60° (twice as long: length does not count). Distances 1 - cos:
	//   0-1: 0   0-2: 1   0-3: 1/2   2-3: 1 - √3/2
	// Rows 0 and 1 leave one another out: (1 + 1/2)/2. Row 2: (1 + 1 + 1-√3/2)/3. Row 3: (1/2 + 1/2 + 1-√3/2)/3.
	s := math.Sqrt(3)
	h := []float32{1, 0, 3, 0, 0, 5, 1, float32(s)}
	want := (0.75 + 0.75 + (3-s/2)/3 + (2-s/2)/3) / 4
	require.InDelta(t, want, madOf(t, h, 2), 1e-7)
}

func TestMADLeavesOutNodesThatDifferFromNone(t *testing.T) {
	require.Zero(t, madOf(t, []float32{1, 2, 1, 2, 1, 2}, 2), "identical rows")
	require.Zero(t, madOf(t, []float32{0.1, 0.2, 0.3, 0.6, 0.7, 1.4}, 2), "parallel rows")
	require.Equal(t, 1.0, madOf(t, []float32{1, 0, 1, 0, 1, 0, 0, 1}, 2),
		"1 for each row, whatever the size of its bundle")
}

func TestMADOfRowsOfZerosIsOneFromEverything(t *testing.T) {
	require.Equal(t, 1.0, madOf(t, []float32{0, 0, 0, 0}, 2), "as scikit-learn has it")
	require.Equal(t, 1.0, madOf(t, []float32{0, 0, 2, 1}, 2))
	// Rows: zero; a; -a. D: 1, 1, 2. Row means 1, 3/2, 3/2.
	require.InDelta(t, 4.0/3, madOf(t, []float32{0, 0, 2, 1, -2, -1}, 2), 1e-15)
}

func TestMADOfOneNodeOrNoneIsZero(t *testing.T) {
	require.Zero(t, madOf(t, nil, 3))
	require.Zero(t, madOf(t, []float32{1, 2, 3}, 3))
	require.Zero(t, madOf(t, []float32{0, 0, 0}, 3))
}

func TestMADIsTheDefinitionForAnyFiniteNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 6).Draw(t, "width")
		nodes := rapid.IntRange(0, 8).Draw(t, "nodes")
		h := rapid.SliceOfN(rapid.Float32Range(-math.MaxFloat32, math.MaxFloat32), nodes*width, nodes*width).Draw(t, "h")
		require.InDelta(t, naiveMAD(h, width, 0x1p-47), madOf(t, h, width), 1e-14)
	})
}

func TestMADKeepsItsDigitsForRowsThatHardlyDiffer(t *testing.T) {
	// Distances of about 1e-12, where 1 - u_i·u_j in float64 is wrong in the fourth digit. Rows are wide enough that
	// none are parallel by chance.
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		width, nodes := 8+random.IntN(24), 2+random.IntN(10)
		h := make([]float32, nodes*width)
		for i := range h {
			h[i] = float32(1 + float64(i%width) + 1e-5*random.NormFloat64())
		}
		want := naiveMAD(h, width, 0x1p-47)
		require.InEpsilon(t, want, madOf(t, h, width), 1e-9)
	})
}

func TestMADTakesFloat32RoundingOfParallelRowsForZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 100).Draw(t, "width")
		row := rapid.SliceOfN(rapid.Float64Range(1e-3, 1e3), width, width).Draw(t, "row")
		lengths := rapid.SliceOfN(rapid.Float64Range(1e-3, 1e3), 2, 10).Draw(t, "lengths")
		var h []float32
		for _, length := range lengths {
			for _, x := range row {
				h = append(h, float32(x*length))
			}
		}
		require.Zero(t, madOf(t, h, width))
	})
}

func TestMADCountsJustAboveRoundingAsDistance(t *testing.T) {
	// An angle of x is a distance of x²/2: 2^-23 still is zero, twice that is not.
	require.Zero(t, madOf(t, []float32{1, 0, 1, 0x1p-23}, 2))
	require.InEpsilon(t, 0x1p-45, madOf(t, []float32{1, 0, 1, 0x1p-22}, 2), 1e-6)
	// Rows at 0, 1, 2 and 3 times 2^-23: the middle rows leave out two, the outer ones one; k steps are k²·2^-47.
	h := []float32{1, 0, 1, 0x1p-23, 1, 0x1p-22, 1, 0x1.8p-22}
	require.InEpsilon(t, 0x1p-47*((4.0+9)/2+4+4+(4.0+9)/2)/4, madOf(t, h, 2), 1e-6)
}

func TestMADIsTheSameOnAnyNumberOfCores(t *testing.T) {
	h := randomRows(3000, 7, 1)
	for i := range h[:1500*7] {
		h[i] = 1 + 0x1p-23*float32(int(h[i])) // a bundle of near rows, to be found
	}
	want := madOf(t, h, 7)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, cores := range []int{1, 2, 3, 16} {
		runtime.GOMAXPROCS(cores)
		require.Equal(t, want, madOf(t, h, 7), "%d cores", cores)
	}
}

func TestMADRefusesWhatIsNotFiniteAndSaysWhere(t *testing.T) {
	ctx, inf := context.Background(), float32(math.Inf(1))
	_, err := MAD(ctx, []float32{1, 2, 3, 4, float32(math.NaN()), 6}, 2, 3)
	require.EqualError(t, err, "MAD: row 1, column 1 is NaN: expected a finite number")
	_, err = MAD(ctx, []float32{1, 2, -inf}, 1, 3)
	require.EqualError(t, err, "MAD: row 0, column 2 is -Inf: expected a finite number")
}

func TestMADRefusesRowsThatDoNotFit(t *testing.T) {
	for _, shape := range [][2]int{{2, 3}, {-1, -5}, {5, 0}, {1, 4}, {-5, 1}, {math.MaxInt, 5}} {
		_, err := MAD(context.Background(), make([]float32, 5), shape[0], shape[1])
		require.ErrorContains(t, err, "MAD of 5 values: expected nodes×width of them", "%v", shape)
	}
}

func TestMADStopsWhenItsContextIsDone(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := MAD(ctx, randomRows(100, 3, 1), 100, 3)
	require.ErrorIs(t, err, context.Canceled)
}

func randomRows(nodes, width int, seed uint64) []float32 {
	random, h := rand.New(rand.NewPCG(seed, 0)), make([]float32, nodes*width)
	for i := range h {
		h[i] = float32(random.NormFloat64())
	}
	return h
}

func ExampleMAD() {
	ctx := context.Background()
	first := []float32{1, 0, 0, 1, -1, 0} // three nodes, two wide: at right angles, or opposite
	last := []float32{5, 5, 6, 6, 7, 8}   // after many layers: nearly the same direction
	for _, h := range [][]float32{first, last} {
		mad, err := MAD(ctx, h, 3, 2)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%.4f\n", mad)
	}
	// Output:
	// 1.3333
	// 0.0022
}
