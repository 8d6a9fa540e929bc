package stats

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"

	"nodemask/internal/ended"

	"golang.org/x/sync/errgroup"
)

// madZeroChord is the largest distance |u_i - u_j| that counts as zero, for rows u_i and u_j scaled to length 1.
// Rounding to float32 turns a row by up to 2^-24 radians, so parallel rows end at most 2^-23 apart, a cosine distance
// of 2^-47.
const madZeroChord = 0x1p-23

// madBlock is how many normalised rows a worker takes at a time: few enough to fit a core's L1 cache.
const madBlock = 32

// MAD returns the mean average distance of the representations h [nodes, width] over all pairs of nodes: 0 if all rows
// point the same way (over-smoothed), at most 2. The formula is that of Chen et al. 2020, "Measuring and Relieving the
// Over-smoothing Problem for Graph Neural Networks from the Topological View", with a mask of ones:
//
//	D_ij = 1 - h_i·h_j / (|h_i| |h_j|)     cosine distance, i ≠ j
//	D̄_i  = Σ_j D_ij / Σ_j 1(D_ij)          mean over the nodes that i differs from
//	MAD  = Σ_i D̄_i / Σ_i 1(D̄_i)            mean over the nodes with D̄_i > 0;  1(x) = 1 if x > 0, else 0
//
// Distances up to 2^-47 ≈ 7e-15 count as zero, so rounding between parallel rows does not change MAD. A row of zeros
// has distance 1 from every other row, as in scikit-learn, which the authors' code uses.
//
// The result is exact to rounding and bit-identical on any number of cores.
func MAD(ctx context.Context, h []float32, nodes, width int) (float64, error) {
	if nodes < 0 || width < 1 || len(h)%width != 0 || len(h)/width != nodes {
		return 0, fmt.Errorf("MAD of %d values: expected nodes×width of them, got nodes %d and width %d", len(h),
			nodes, width)
	}
	units, zeros, err := unitRows(h, width)
	if err != nil || nodes < 2 {
		return 0, err
	}
	sums := squaredChords(units, width)
	found := directions(units, width)
	if err := findNear(ctx, found, nodes); err != nil {
		return 0, err
	}

	// To get Σ_j D_ij for a nonzero row i, add up |u_i-u_j|²/2 over nonzero rows j, where u_i = h_i/|h_i|. Subtract
	// d.nearSum (distances that count as 0). Add 1 per row of zeros.
	total, counted := float64(zeros), zeros
	for _, d := range found {
		far := nodes - d.near
		if far == 0 {
			continue
		}
		for _, row := range d.rows {
			total += (sums[row]/2 - d.nearSum + float64(zeros)) / float64(far)
			counted++
		}
	}
	if counted == 0 {
		return 0, nil
	}
	return min(total/float64(counted), 2), nil
}

func unitRows(h []float32, width int) (units []float64, zeros int, err error) {
	units = make([]float64, 0, len(h))
	for row := 0; row*width < len(h); row++ {
		values := h[row*width:][:width]
		square := 0.0
		for column, v := range values {
			x := float64(v)
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, 0, fmt.Errorf("MAD: row %d, column %d is %v: expected a finite number", row, column, v)
			}
			square += x * x
		}
		if square == 0 {
			zeros++
			continue
		}
		norm := math.Sqrt(square)
		for _, v := range values {
			units = append(units, float64(v)/norm)
		}
	}
	return units, zeros, nil
}

// squaredChords returns Σ_j |u_i-u_j|² for every row u_i, by the rows' mean c:
//
//	Σ_j |u_i-u_j|² = n·|u_i-c|² + Σ_j |u_j-c|²,  because Σ_j (u_j-c) = 0
//
// The n rows have length 1, so the sum is also 2·Σ_j (1 - u_i·u_j), but this form loses digits for nearly equal rows,
// where u_i·u_j is close to 1.
func squaredChords(units []float64, width int) []float64 {
	n := len(units) / width
	sums := make([]float64, n)
	if n == 0 {
		return sums
	}
	// Averaging the rows' differences from the first row loses fewer digits than averaging the rows.
	first, centre := units[:width], make([]float64, width)
	for row := range n {
		for k, u := range units[row*width:][:width] {
			centre[k] += u - first[k]
		}
	}
	for k := range centre {
		centre[k] = first[k] + centre[k]/float64(n)
	}
	all := 0.0
	for row := range n {
		sums[row] = squaredChord(units[row*width:][:width], centre)
		all += sums[row]
	}
	for row := range sums {
		sums[row] = float64(n)*sums[row] + all
	}
	return sums
}

type direction struct {
	rows []int32
	unit []float64
	// shadow is the dot product of unit and a fixed vector s of length 1. The shadows of two units differ by at most
	// the distance between the units.
	shadow  float64
	near    int
	nearSum float64
}

func directions(units []float64, width int) []direction {
	screen, random := make([]float64, width), rand.New(rand.NewPCG(1, 2))
	square := 0.0
	for k := range screen {
		screen[k] = random.NormFloat64()
		square += screen[k] * screen[k]
	}
	n := len(units) / width
	rows, shadows := make([]int32, n), make([]float64, n)
	for row := range n {
		rows[row] = int32(row)
		for k, u := range units[row*width:][:width] {
			shadows[row] += u * screen[k]
		}
		shadows[row] /= math.Sqrt(square)
	}
	unit := func(row int32) []float64 { return units[int(row)*width:][:width] }
	compare := func(a, b int32) int {
		if c := cmp.Compare(shadows[a], shadows[b]); c != 0 {
			return c
		}
		return slices.Compare(unit(a), unit(b))
	}
	slices.SortFunc(rows, compare)
	var found []direction
	sorted := make([]float64, 0, len(units))
	for start, end := 0, 0; start < n; start = end {
		for end = start + 1; end < n && compare(rows[start], rows[end]) == 0; end++ {
		}
		sorted = append(sorted, unit(rows[start])...)
		found = append(found, direction{rows: rows[start:end], unit: sorted[len(sorted)-width:],
			shadow: shadows[rows[start]]})
	}
	return found
}

// findNear finds the pairs of directions (distinct rows scaled to norm 1) whose distance counts as zero. It skips
// pairs whose shadows (see [direction].shadow) differ by more than reach, because their distance is larger, too. Each
// direction's squared distances are added up as integers, so their order does not matter.
func findNear(ctx context.Context, ds []direction, nodes int) error {
	const reach = madZeroChord + 1e-10 // 1e-10 allows for rounding errors of direction.shadow
	const zero = madZeroChord * madZeroChord
	steps := math.Ldexp(1/zero, 63-bits.Len(uint(nodes))) // scales squared distances to integers whose sum fits uint64
	type tally struct {
		rows int
		sum  uint64
	}
	var taken atomic.Int64
	tallies := make([][]tally, runtime.GOMAXPROCS(0))
	workers, ctx := errgroup.WithContext(ctx)
	for w := range tallies {
		workers.Go(func() error {
			mine := make([]tally, len(ds))
			tallies[w] = mine
			for {
				if ctx.Err() != nil {
					return ended.Err(ctx)
				}
				end := int(taken.Add(madBlock))
				start := end - madBlock
				if start >= len(ds) {
					return nil
				}
				end = min(end, len(ds))
				for j := start + 1; j < len(ds) && ds[j].shadow-ds[end-1].shadow <= reach; j++ {
					if j%madBlock == 0 && ctx.Err() != nil {
						return ended.Err(ctx)
					}
					other := &ds[j]
					for i := start; i < min(j, end); i++ {
						d := &ds[i]
						if other.shadow-d.shadow > reach {
							continue
						}
						if square := squaredChord(d.unit, other.unit); square <= zero {
							s := uint64(square * steps)
							mine[i].rows += len(other.rows)
							mine[i].sum += s * uint64(len(other.rows))
							mine[j].rows += len(d.rows)
							mine[j].sum += s * uint64(len(d.rows))
						}
					}
				}
			}
		})
	}
	if err := workers.Wait(); err != nil {
		return err
	}
	for i := range ds {
		d, sum := &ds[i], uint64(0)
		d.near = len(d.rows)
		for _, t := range tallies {
			d.near += t[i].rows
			sum += t[i].sum
		}
		d.nearSum = float64(sum) / steps / 2
	}
	return nil
}

func squaredChord(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	k := 0
	b = b[:len(a)]
	for ; k+4 <= len(a); k += 4 {
		d0, d1, d2, d3 := a[k]-b[k], a[k+1]-b[k+1], a[k+2]-b[k+2], a[k+3]-b[k+3]
		s0 += d0 * d0
		s1 += d1 * d1
		s2 += d2 * d2
		s3 += d3 * d3
	}
	for ; k < len(a); k++ {
		d := a[k] - b[k]
		s0 += d * d
	}
	return s0 + s1 + s2 + s3
}

// Smoothness holds the [MAD] of three representations of the same nodes: lower is smoother.
type Smoothness struct {
	Hidden  float64 `json:"hidden"` // last hidden layer, after activation
	Logits  float64 `json:"logits"`
	Softmax float64 `json:"softmax"` // probabilities
}
