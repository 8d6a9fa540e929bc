package datasets

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
)

// SplitOptions say how nodes are divided. TrainPercent has no default.
type SplitOptions struct {
	TrainPercent    int     // 1 to 99: size of the train set in percent of the labelled nodes
	ValidationShare float64 // of the nodes that are left, in (0, 1); 0: 0.10
	Seed            uint64
}

// Split divides the labelled nodes of a graph into three sets, each ascending.
type Split struct {
	TrainPercent            int
	Seed                    uint64
	Train, Validation, Test []int32
}

// Stratified divides the labelled nodes at random so that each set holds every class at about its share of the graph:
// within one node of it. Unlabelled nodes are in no set. Equal options give equal splits on every platform.
func Stratified(g *Graph, o SplitOptions) (*Split, error) {
	if o.TrainPercent < 1 || o.TrainPercent > 99 {
		return nil, fmt.Errorf("datasets: a train set of %d %%: expected 1 to 99", o.TrainPercent)
	}
	share := o.ValidationShare
	if share == 0 {
		share = 0.10
	}
	if !(share > 0 && share < 1) {
		return nil, fmt.Errorf("datasets: a validation set of %v of the rest: expected a share between 0 and 1", share)
	}
	members := make([][]int32, g.NumClasses())
	for v, label := range g.Labels {
		if label != Unlabelled {
			members[label] = append(members[label], int32(v))
		}
	}
	r := rand.New(rand.NewPCG(o.Seed, 0x5b1175ee0d))
	for _, class := range members {
		r.Shuffle(len(class), func(i, j int) { class[i], class[j] = class[j], class[i] })
	}
	s := &Split{TrainPercent: o.TrainPercent, Seed: o.Seed}
	s.Train, members = take(members, float64(o.TrainPercent)/100)
	s.Validation, members = take(members, share)
	s.Test, _ = take(members, 1)
	if len(s.Train) == 0 || len(s.Validation) == 0 || len(s.Test) == 0 {
		return nil, fmt.Errorf("datasets: %s has too few labelled nodes for a train set of %d %%: %d to train, %d to validate and %d to test; each needs at least one",
			g.Name, o.TrainPercent, len(s.Train), len(s.Validation), len(s.Test))
	}
	return s, nil
}

// take removes the first nodes of each class, as many as its share, and returns them ascending. Classes are rounded
// by largest remainder, so that the total is the share of all nodes, rounded to the nearest.
func take(members [][]int32, share float64) (taken []int32, rest [][]int32) {
	type part struct {
		class     int
		count     int
		remainder float64
	}
	parts := make([]part, len(members))
	total, given := 0, 0
	for c, class := range members {
		exact := share * float64(len(class))
		parts[c] = part{c, int(exact), exact - float64(int(exact))}
		total += len(class)
		given += parts[c].count
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.remainder, a.remainder) })
	missing := int(share*float64(total)+0.5) - given
	for i := range parts {
		if missing > 0 && parts[i].count < len(members[parts[i].class]) {
			parts[i].count++
			missing--
		}
	}
	rest = make([][]int32, len(members))
	for _, p := range parts {
		taken = append(taken, members[p.class][:p.count]...)
		rest[p.class] = members[p.class][p.count:]
	}
	slices.Sort(taken)
	return taken, rest
}

// Hash names the split by its contents: 16 hexadecimal digits, equal for equal sets.
func (s *Split) Hash() string {
	h := sha256.New()
	for _, set := range [][]int32{s.Train, s.Validation, s.Test} {
		_ = binary.Write(h, binary.LittleEndian, uint64(len(set))) // a hash takes all it is given
		_ = binary.Write(h, binary.LittleEndian, set)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}
