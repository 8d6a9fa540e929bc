package datasets

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Description holds what is known of a graph without training on it.
type Description struct {
	Name     string `json:"name"`
	Source   string `json:"source"`
	Format   string `json:"format,omitempty"`
	Nodes    int    `json:"nodes"`
	Edges    int64  `json:"edges"` // distinct and undirected
	Directed bool   `json:"directed"`
	// Counts of pairs in the source's edge list. The graph omits self-loops and duplicates.
	Listed     int64 `json:"listed_pairs"`
	SelfLoops  int64 `json:"self_loops"`
	Duplicates int64 `json:"duplicates"`
	Reverses   int64 `json:"reverses,omitempty"` // duplicates in the opposite direction

	MeanDegree   float64       `json:"mean_degree"`
	MedianDegree int           `json:"median_degree"`
	MaxDegree    int           `json:"max_degree"`
	Isolated     int           `json:"isolated_nodes"`
	Degrees      []DegreeCount `json:"degrees"`

	Features int   `json:"features"`
	Sparse   bool  `json:"sparse"`
	NonZeros int64 `json:"nonzeros"`
	Constant int   `json:"constant_features"` // features with the same value at all nodes

	Classes    []ClassCount `json:"classes"`
	Unlabelled int          `json:"unlabelled"`
	// EdgeHomophily is the share of edges between labelled nodes that join nodes of one class; nil if no edge joins
	// labelled nodes.
	EdgeHomophily *float64 `json:"edge_homophily"`

	OwnSplit  *SplitCounts `json:"own_split,omitempty"`
	OwnSplits int          `json:"own_splits,omitempty"` // number of splits
	Notes     []string     `json:"notes,omitempty"`
	Warnings  []string     `json:"warnings,omitempty"` // what may make training meaningless
}

// DegreeCount counts the nodes that have at least From and at most To neighbours.
type DegreeCount struct {
	From  int `json:"from"`
	To    int `json:"to"`
	Nodes int `json:"nodes"`
}

// ClassCount counts the nodes of a class.
type ClassCount struct {
	Name  string `json:"name"`
	Nodes int    `json:"nodes"`
	// Homophily is the share of this class among the labelled neighbours of the class's nodes; nil without such
	// neighbours. Chance is the share expected for random edges.
	Homophily *float64 `json:"homophily"`
	Chance    float64  `json:"chance"`
}

// SplitCounts holds the sizes of the source's own split.
type SplitCounts struct {
	Train      int    `json:"train"`
	Validation int    `json:"validation"`
	Test       int    `json:"test"`
	Hash       string `json:"hash"` // see [Split.Hash]
}

// Describe describes g in linear time. g must pass [Graph.Check].
func Describe(g *Graph) Description {
	d := Description{Name: g.Name, Source: g.Source, Format: g.Format, Nodes: g.NumNodes(),
		Edges: g.edges(), Directed: g.Directed,
		Listed: g.Report.Listed, SelfLoops: g.Report.SelfLoops, Duplicates: g.Report.Duplicates,
		Reverses: g.Reverses,
		Features: g.Features.Width, Sparse: g.Features.IsSparse(), NonZeros: g.Features.NonZeros(),
		Constant: g.Features.constant(),
		Classes:  make([]ClassCount, g.NumClasses()), Notes: g.Remarks()}
	d.degrees(g)
	for i, name := range g.Classes {
		d.Classes[i].Name = name
	}
	for _, label := range g.Labels {
		if label == Unlabelled {
			d.Unlabelled++
		} else {
			d.Classes[label].Nodes++
		}
	}
	if s := g.OwnSplit; s != nil {
		d.OwnSplits = len(g.OwnSplits)
		d.OwnSplit = &SplitCounts{len(s.Train), len(s.Validation), len(s.Test), s.Hash()}
	}
	d.homophily(g)
	d.warn()
	return d
}

func (d *Description) degrees(g *Graph) {
	if d.Nodes == 0 {
		return
	}
	d.MaxDegree = g.Edges.MaxDegree()
	counts := make([]int, bits.Len(uint(d.MaxDegree))+1)
	all := make([]int32, d.Nodes)
	for v := range all {
		degree := g.Edges.Degree(int32(v))
		all[v] = int32(degree)
		counts[bits.Len(uint(degree))]++
	}
	for i, n := range counts {
		from, to := 0, 0
		if i > 0 {
			from, to = 1<<(i-1), min(1<<i-1, d.MaxDegree)
		}
		d.Degrees = append(d.Degrees, DegreeCount{from, to, n})
	}
	d.Isolated = counts[0]
	d.MeanDegree = float64(g.Edges.NumEdges()) / float64(d.Nodes)
	slices.Sort(all)
	d.MedianDegree = int(all[(d.Nodes-1)/2])
}

func (d *Description) homophily(g *Graph) {
	if len(g.Labels) != d.Nodes {
		return
	}
	same, all, total := make([]int64, len(d.Classes)), make([]int64, len(d.Classes)), int64(0)
	for v, label := range g.Labels {
		if label == Unlabelled {
			continue
		}
		for _, u := range g.Edges.Neighbours(int32(v)) {
			if g.Labels[u] != Unlabelled {
				all[label]++
				total++
			}
			if g.Labels[u] == label {
				same[label]++
			}
		}
	}
	if total == 0 {
		return
	}
	shareOf := func(n, of int64) *float64 { share := float64(n) / float64(of); return &share }
	sum := int64(0)
	for c := range d.Classes {
		if all[c] > 0 {
			d.Classes[c].Homophily, d.Classes[c].Chance = shareOf(same[c], all[c]), float64(all[c])/float64(total)
		}
		sum += same[c]
	}
	d.EdgeHomophily = shareOf(sum, total)
}

// Facts returns d as pairs of name and text, without Name, Source, Degrees and class sizes.
func (d Description) Facts() (facts [][2]string) {
	add := func(name, format string, args ...any) {
		facts = append(facts, [2]string{name, fmt.Sprintf(format, args...)})
	}
	if d.Format != "" {
		add("format", "%s", d.Format)
	}
	add("nodes", "%d (%d isolated, %d unlabelled)", d.Nodes, d.Isolated, d.Unlabelled)
	directed := ""
	if d.Directed {
		directed = ", directed in the source or listed in one direction, and taken both ways"
	}
	reverses := ""
	if d.Reverses > 0 {
		reverses = fmt.Sprintf(", %d of them an edge's other direction", d.Reverses)
	}
	add("edges", "%d%s (%d pairs listed%s, %d self-loops and %d duplicates dropped)",
		d.Edges, directed, d.Listed, reverses, d.SelfLoops, d.Duplicates-d.Reverses)
	add("degree", "mean %.2f, median %d, most %d", d.MeanDegree, d.MedianDegree, d.MaxDegree)
	storage := "dense"
	if d.Sparse {
		storage = "sparse"
	}
	add("features", "%d (%d nonzeros, %s; %d the same on all nodes)", d.Features, d.NonZeros, storage, d.Constant)
	add("classes", "%d", len(d.Classes))
	if d.EdgeHomophily != nil {
		add("homophily", "%.3f of the edges between labelled nodes join two of one class", *d.EdgeHomophily)
	}
	if s := d.OwnSplit; s != nil {
		add("own split", "%d train, %d validation and %d test nodes, hash %s (train --split own)",
			s.Train, s.Validation, s.Test, s.Hash)
		if d.OwnSplits > 1 {
			add("own splits", "%d, of which that is the first: trials take one after the other", d.OwnSplits)
		}
	}
	for _, note := range d.Notes {
		add("note", "%s", note)
	}
	for _, warning := range d.Warnings {
		add("WARNING", "%s", warning)
	}
	return facts
}

// A class with fewer nodes is missing in the train, the validation or the test set.
const fewNodes = 3

func (d *Description) warn() {
	warn := func(format string, args ...any) { d.Warnings = append(d.Warnings, fmt.Sprintf(format, args...)) }
	if labelled := d.Nodes - d.Unlabelled; labelled > 0 && len(d.Classes) == labelled && labelled > fewNodes {
		warn("every labelled node has a class of its own: the labels may be names")
	} else if len(d.Classes) < 2 {
		warn("number of classes: %d, expected at least two to tell apart", len(d.Classes))
	} else {
		var few []string
		for _, c := range d.Classes {
			if c.Nodes < fewNodes {
				few = append(few, fmt.Sprintf("%.40s (%d)", c.Name, c.Nodes))
			}
		}
		if n := len(few); n > 0 {
			if n > 5 {
				few = append(few[:5], "…")
			}
			warn("%d of %d classes have fewer than %d nodes, too few for train, validation and test nodes each: %s",
				n, len(d.Classes), fewNodes, strings.Join(few, ", "))
		}
	}
	switch {
	case d.Features == 0:
		warn("the nodes have no features")
	case d.Constant == d.Features:
		warn("all features are the same on all nodes: they say nothing")
	case d.Constant > 0:
		warn("%d of %d features are the same on all nodes", d.Constant, d.Features)
	}
	switch {
	case d.Edges == 0:
		warn("no edges: there is nothing to aggregate")
	case 2*d.Isolated > d.Nodes:
		warn("%d of %d nodes have no edges", d.Isolated, d.Nodes)
	}
}

func (f Features) constant() int {
	if f.Rows == 0 {
		return 0
	}
	first := f.Row(0, nil)
	same, varies := make([]int, f.Width), make([]bool, f.Width)
	for v := range f.Rows {
		f.eachIn(v, func(c int, x float32) {
			if x == first[c] {
				same[c]++
			} else {
				varies[c] = true
			}
		})
	}
	n := 0
	for c := range first {
		if !varies[c] && (first[c] == 0 || same[c] == f.Rows) {
			n++
		}
	}
	return n
}

// String returns, for example, "Graph(cora: 2,708 nodes, 5,278 edges, 1,433 features, 7 classes)".
func (g *Graph) String() string {
	if g == nil || g.Edges == nil {
		return "Graph(empty)"
	}
	return fmt.Sprintf("Graph(%s: %s nodes, %s edges, %s features, %s classes)", g.Name, grouped(g.NumNodes()),
		grouped(g.Edges.NumEdges()/2), grouped(g.Features.Width), grouped(g.NumClasses()))
}

// String returns, for example, "Split(271 train, 244 validation, 2,193 test nodes; seed 1)".
func (s *Split) String() string {
	if s == nil {
		return "Split(none)"
	}
	return fmt.Sprintf("Split(%s train, %s validation, %s test nodes; seed %d)", grouped(len(s.Train)),
		grouped(len(s.Validation)), grouped(len(s.Test)), s.Seed)
}

// String returns, for example, "View(inductive: 270 nodes to train on, 514 to validate, 2,708 to test)".
func (v *View) String() string {
	return fmt.Sprintf("View(%s: %s nodes to train on, %s to validate, %s to test)", v.Setting,
		grouped(len(v.Train.Nodes)), grouped(len(v.Validation.Nodes)), grouped(len(v.Test.Nodes)))
}

func grouped[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	var b strings.Builder
	for i, d := range digits {
		if left := len(digits) - i; i > 0 && left%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
