package datasets

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// SplitOptions configures [Stratified].
type SplitOptions struct {
	// TrainPercent is the percentage of labelled nodes to train on, 1 to 99. There is no default.
	TrainPercent int
	// ValidationShare is the share of validation nodes among the labelled nodes that are not train nodes, above 0 and
	// below 1. The rest are test nodes. 0 means 0.10.
	ValidationShare float64
	// Seed seeds the random draw. 0 is a seed like any other.
	Seed uint64
}

// Split holds three disjoint sets of labelled nodes. The sets of a split from [Stratified] hold all labelled nodes.
type Split struct {
	// TrainPercent is the requested percentage of train nodes or, for a split from a file, the rounded actual
	// percentage. Both are 1 to 99.
	TrainPercent            int
	ValidationShare         float64
	Seed                    uint64
	Train, Validation, Test []int32 // node numbers, ascending
}

// Stratified returns a split in which every class has its proportional share of the train set to within one node, and
// of the validation and test sets to within two.
//
// Of n labelled nodes exactly round(n·TrainPercent/100) are train nodes, and of the other m nodes
// round(m·ValidationShare) are validation nodes; largest remainders decide which classes round up.
//
// Equal graphs and options give equal splits on all platforms and Go versions. Stratified returns an error if an option
// or a label is out of range, or a set would be empty.
func Stratified(g *Graph, o SplitOptions) (*Split, error) {
	if o.TrainPercent < 1 || o.TrainPercent > 99 {
		return nil, fmt.Errorf("split: TrainPercent is %d: expected 1 to 99", o.TrainPercent)
	}
	if o.ValidationShare == 0 {
		o.ValidationShare = 0.10
	}
	if !(o.ValidationShare > 0 && o.ValidationShare < 1) {
		return nil, fmt.Errorf("split: ValidationShare is %v: expected more than 0 and less than 1 (0 means "+
			"0.10)", o.ValidationShare)
	}
	members, err := nodesByClass(g)
	if err != nil {
		return nil, err
	}
	all := make([]int, len(members))
	total := 0
	for c, nodes := range members {
		all[c] = len(nodes)
		total += len(nodes)
	}
	trains := apportion(all, float64(o.TrainPercent), 100)
	rest := make([]int, len(all))
	for c := range all {
		rest[c] = all[c] - trains[c]
	}
	validations := apportion(rest, o.ValidationShare, 1)

	s := &Split{TrainPercent: o.TrainPercent, ValidationShare: o.ValidationShare, Seed: o.Seed}
	for c, nodes := range members {
		// Each class has its own random stream, so that no class affects another class's draw.
		shuffle(nodes, rand.NewPCG(o.Seed, uint64(c)))
		t, v := trains[c], trains[c]+validations[c]
		s.Train = append(s.Train, nodes[:t]...)
		s.Validation = append(s.Validation, nodes[t:v]...)
		s.Test = append(s.Test, nodes[v:]...)
	}
	slices.Sort(s.Train)
	slices.Sort(s.Validation)
	slices.Sort(s.Test)
	if len(s.Train) == 0 || len(s.Validation) == 0 || len(s.Test) == 0 {
		return nil, fmt.Errorf("split: %d labelled nodes, of which %d %% train and %.4g %% of the rest validate, make %d "+
			"train, %d validation and %d test nodes: each set needs at least one, so change the shares or use a larger graph",
			total, o.TrainPercent, 100*o.ValidationShare, len(s.Train), len(s.Validation), len(s.Test))
	}
	return s, nil
}

func newOwnSplit(train, validation, test []int32) *Split {
	all := len(train) + len(validation) + len(test)
	rest := max(all-len(train), 1)
	return &Split{TrainPercent: min(max(int(math.Round(100*float64(len(train))/float64(max(all, 1)))), 1), 99),
		ValidationShare: float64(len(validation)) / float64(rest), Train: train, Validation: validation, Test: test}
}

func nodesByClass(g *Graph) ([][]int32, error) {
	if len(g.Labels) != g.NumNodes() {
		return nil, fmt.Errorf("split: %d labels for %d nodes: expected one a node", len(g.Labels), g.NumNodes())
	}
	members := make([][]int32, g.NumClasses())
	for v, c := range g.Labels {
		if c == Unlabelled {
			continue
		}
		if c < 0 || int(c) >= len(members) {
			return nil, fmt.Errorf("split: node %d has label %d: expected 0 to %d, or %d for none",
				v, c, len(members)-1, Unlabelled)
		}
		members[c] = append(members[c], int32(v))
	}
	return members, nil
}

// apportion multiplies each size by factor/divisor and rounds by largest remainders. The results sum to the total size
// times factor/divisor, rounded. If remainders are equal, classes with lower numbers are rounded up first.
// Multiplication precedes division, because size·29/100 is exact where size·0.29 is not.
func apportion(sizes []int, factor, divisor float64) []int {
	given := make([]int, len(sizes))
	remainders := make([]float64, len(sizes))
	order := make([]int, len(sizes))
	total, sum := 0, 0
	for c, size := range sizes {
		// The conversion prevents a fused multiply-subtract, which rounds differently.
		exact := float64(float64(size) * factor / divisor)
		given[c] = int(exact)
		remainders[c] = exact - float64(given[c])
		order[c] = c
		total += size
		sum += given[c]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(remainders[b], remainders[a]) })
	left := int(math.Round(float64(total)*factor/divisor)) - sum
	for _, c := range order {
		if left <= 0 {
			break
		}
		if given[c] < sizes[c] {
			given[c]++
			left--
		}
	}
	return given
}

// shuffle is a Fisher-Yates shuffle of our own, because the standard library's might change.
func shuffle(nodes []int32, source rand.Source) {
	for i := len(nodes) - 1; i > 0; i-- {
		j := below(source, uint64(i+1))
		nodes[i], nodes[j] = nodes[j], nodes[i]
	}
}

// below draws uniformly from 0 to n-1 by Lemire's method; n must not be 0.
func below(source rand.Source, n uint64) uint64 {
	high, low := bits.Mul64(source.Uint64(), n)
	for floor := -n % n; low < floor; {
		high, low = bits.Mul64(source.Uint64(), n)
	}
	return high
}

// Hash returns 16 hex digits of the SHA-256 of the sets' sizes (little-endian uint64) and nodes (little-endian int32),
// in the order train, validation, test.
func (s *Split) Hash() string {
	h := sha256.New()
	for _, set := range [][]int32{s.Train, s.Validation, s.Test} {
		encoded := binary.LittleEndian.AppendUint64(nil, uint64(len(set)))
		for _, v := range set {
			encoded = binary.LittleEndian.AppendUint32(encoded, uint32(v))
		}
		h.Write(encoded)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

func (s *Split) check(g *Graph) error {
	seen := make([]string, g.NumNodes())
	for _, set := range []struct {
		name  string
		nodes []int32
	}{{"train", s.Train}, {"validation", s.Validation}, {"test", s.Test}} {
		for i, v := range set.nodes {
			switch {
			case v < 0 || int(v) >= g.NumNodes():
				return fmt.Errorf("split: the %s set names node %d, but graph %q has %d nodes: was the split drawn on "+
					"another graph?", set.name, v, g.Name, g.NumNodes())
			case seen[v] != "":
				return fmt.Errorf("split: node %d is in the %s and the %s set: expected one place a node",
					v, seen[v], set.name)
			case i > 0 && v <= set.nodes[i-1]:
				return fmt.Errorf("split: the %s set is not ascending: %d after %d", set.name, v, set.nodes[i-1])
			case g.Labels[v] == Unlabelled:
				return fmt.Errorf("split: the %s set names node %d, which has no label", set.name, v)
			}
			seen[v] = set.name
		}
	}
	return nil
}
