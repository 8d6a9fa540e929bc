package datasets

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/csr"
)

// labelled has no edges or features.
func labelled(classes int, labels ...int32) *Graph {
	g := &Graph{Name: "toy", Edges: &csr.Graph{Offsets: make([]int64, len(labels)+1)}, Labels: labels,
		Features: Features{Rows: len(labels)}}
	for c := range classes {
		g.Classes = append(g.Classes, fmt.Sprint(c))
	}
	return g
}

func TestStratifiedWorkedByHand(t *testing.T) {
	for _, c := range []struct {
		sizes []int // of the classes
		o     SplitOptions
		sets  [3][]int // train, validation and test nodes of each class
	}{
		// 40 % of 5 is 2 train nodes: exact shares 1.2 and 0.8, rounded down 1 and 0; the larger remainder, 0.8, gets
		// the one left. 2 and 1 remain; a third of 3 is 1 validation node: 0.67 and 0.33.
		{[]int{3, 2}, SplitOptions{TrainPercent: 40, ValidationShare: 1.0 / 3}, [3][]int{{1, 1}, {1, 0}, {1, 1}}},
		// 91 % of 60 is 55 train nodes: exact shares 27.3, 10.92, 7.28 and 9.1, rounded down 27, 10, 7 and 9; the two
		// left go to remainders 0.92 and 0.3: 28, 11, 7 and 9. Of the 2, 1, 1 and 1 left, a tenth of 5 is 0.5, rounded
		// up to 1, for the remainder 0.2: 1, 0, 0 and 0. Class 0 has 30 - 28 - 1 = 1 test node, against an exact share
		// of 30 · 0.09 · 0.9 = 2.43: a test set may be more than one node off its share of a class.
		{[]int{30, 12, 8, 10}, SplitOptions{TrainPercent: 91}, [3][]int{{28, 11, 7, 9}, {1, 0, 0, 0}, {1, 1, 1, 1}}},
	} {
		var labels []int32
		for class, size := range c.sizes {
			labels = append(labels, slices.Repeat([]int32{int32(class)}, size)...)
		}
		s, err := Stratified(labelled(len(c.sizes), labels...), c.o)
		require.NoError(t, err)
		for i, set := range [][]int32{s.Train, s.Validation, s.Test} {
			count := make([]int, len(c.sizes))
			for _, v := range set {
				count[labels[v]]++
			}
			assert.Equal(t, c.sets[i], count)
		}
	}
}

func TestStratifiedPartitionsByClassShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		classes := rapid.IntRange(1, 6).Draw(t, "classes")
		labels := rapid.SliceOfN(rapid.Int32Range(-1, int32(classes-1)), 30, 300).Draw(t, "labels")
		g := labelled(classes, labels...)
		o := SplitOptions{
			TrainPercent:    rapid.IntRange(10, 90).Draw(t, "percent"),
			ValidationShare: rapid.SampledFrom([]float64{0, 0.1, 0.25, 0.5, 0.9}).Draw(t, "share"),
			Seed:            rapid.Uint64().Draw(t, "seed"),
		}
		s, err := Stratified(g, o)
		if err != nil {
			require.Contains(t, err.Error(), "each set needs at least one")
			return
		}
		require.NoError(t, s.check(g), "ascending, disjoint, labelled")

		sizes := make([]int, classes)
		total := 0
		for _, c := range labels {
			if c != Unlabelled {
				sizes[c]++
				total++
			}
		}
		require.Equal(t, total, len(s.Train)+len(s.Validation)+len(s.Test), "the sets cover the labelled nodes")
		require.Equal(t, int(math.Round(float64(total*o.TrainPercent)/100)), len(s.Train))
		rest := total - len(s.Train)
		require.Equal(t, int(math.Round(s.ValidationShare*float64(rest))), len(s.Validation))
		train, validation := make([]int, classes), make([]int, classes)
		for _, v := range s.Train {
			train[labels[v]]++
		}
		for _, v := range s.Validation {
			validation[labels[v]]++
		}
		for c, n := range sizes {
			share, left := s.ValidationShare, float64(n-train[c])
			test := n - train[c] - validation[c]
			require.InDelta(t, float64(n*o.TrainPercent)/100, train[c], 1)
			require.InDelta(t, left*share, validation[c], 1)
			require.InDelta(t, left*(1-share), test, 1)
			// Of the class itself: the train set may be one off, and passes its share of that on.
			left = float64(n*(100-o.TrainPercent)) / 100
			require.Less(t, math.Abs(left*share-float64(validation[c])), 1+share)
			require.Less(t, math.Abs(left*(1-share)-float64(test)), 2-share)
		}

		again, err := Stratified(g, o)
		require.NoError(t, err)
		require.Equal(t, s, again)
		require.Equal(t, s.Hash(), again.Hash())
	})
}

func TestEverySeedIsASplitOfItsOwn(t *testing.T) {
	g := labelled(2, slices.Repeat([]int32{0, 1}, 100)...)
	seen := map[string]uint64{}
	for seed := range uint64(200) {
		s, err := Stratified(g, SplitOptions{TrainPercent: 10, Seed: seed})
		require.NoError(t, err)
		before, ok := seen[s.Hash()]
		require.False(t, ok, "seeds %d and %d", before, seed)
		seen[s.Hash()] = seed
	}
}

func TestSplitHashIsTheSameOnEveryPlatform(t *testing.T) {
	g := labelled(3, slices.Repeat([]int32{0, 1, 1, 2, -1}, 40)...)
	s, err := Stratified(g, SplitOptions{TrainPercent: 20, Seed: 7})
	require.NoError(t, err)
	assert.Equal(t, "9c53832e89609625", s.Hash(), "published results name splits by this hash: it must never change")
}

func TestStratifiedSaysWhatIsAllowed(t *testing.T) {
	g := labelled(2, slices.Repeat([]int32{0, 1}, 10)...)
	for _, c := range []struct {
		g    *Graph
		o    SplitOptions
		want string
	}{
		{g, SplitOptions{}, "TrainPercent is 0: expected 1 to 99"},
		{g, SplitOptions{TrainPercent: 100}, "TrainPercent is 100: expected 1 to 99"},
		{g, SplitOptions{TrainPercent: 10, ValidationShare: 1}, "ValidationShare is 1: expected more than 0 and less than 1"},
		{g, SplitOptions{TrainPercent: 10, ValidationShare: -0.1}, "ValidationShare is -0.1"},
		{g, SplitOptions{TrainPercent: 10, ValidationShare: math.NaN()}, "ValidationShare is NaN"},
		{labelled(1, 0, 0, 0), SplitOptions{TrainPercent: 50},
			"3 labelled nodes, of which 50 % train and 10 % of the rest validate, make 2 train, 0 validation and 1 test nodes"},
		{labelled(1, 0, 3), SplitOptions{TrainPercent: 50}, "node 1 has label 3: expected 0 to 0, or -1"},
		{&Graph{Edges: &csr.Graph{Offsets: make([]int64, 3)}, Labels: []int32{0}}, SplitOptions{TrainPercent: 50},
			"1 labels for 2 nodes"},
	} {
		_, err := Stratified(c.g, c.o)
		assert.ErrorContains(t, err, c.want)
	}
}
