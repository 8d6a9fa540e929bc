package nb

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"nodemask/aggtree"
	"nodemask/datasets"
	"nodemask/nb/internal/notebook"
	"nodemask/plots"
	"nodemask/stats"
)

// Rows shows values as a table.
func Rows(title string, header []string, rows ...[]any) {
	t := plots.Table{ID: "rows", Title: title, Header: header}
	for _, row := range rows {
		var cells []string
		for i, value := range row {
			text := fmt.Sprint(value)
			switch value.(type) {
			case float64:
				text = fmt.Sprintf("%.4g", value)
			case int, int32, int64, uint64:
				text = grouped(text)
			}
			if _, ok := value.(string); ok && i == t.TextColumns {
				t.TextColumns++
			}
			cells = append(cells, text)
		}
		t.Rows = append(t.Rows, plots.Fields(cells...))
	}
	Table(t)
}

func grouped(digits string) string {
	var b strings.Builder
	for i, d := range digits {
		if left := len(digits) - i; i > 0 && left%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// TreeSizes charts the number of nodes of the aggregation tree T_root^k for k up to hops, without building the trees.
func TreeSizes(g *datasets.Graph, root int32, hops int) {
	counts := Must1(aggtree.Count(context.Background(), g.Edges, root, hops, nil))
	var rows [][]any
	powers := plots.Series{Name: "tree nodes"}
	total := uint64(0)
	for depth, n := range counts.Depth {
		if total += n; n == math.MaxUint64 || total < n {
			break
		}
		rows = append(rows, []any{depth, n, total})
		powers.X, powers.Y = append(powers.X, float64(depth)), append(powers.Y, math.Log10(float64(total)))
	}
	Rows(fmt.Sprintf("Nodes of the aggregation trees of node %d of %s", root, g.Name),
		[]string{"hops k", "at depth k", "in Tᵏ"}, rows...)
	if len(powers.X) > 2 {
		Chart(plots.Chart{ID: "sizes", Title: fmt.Sprintf("How the aggregation trees of node %d grow", root),
			XLabel: "hops k", YLabel: "nodes of Tᵏ, as a power of ten", Height: 280, Series: []plots.Series{powers}})
	}
}

// CheckTree checks that the aggregation tree T_root^hops of a graph from [Data] follows the paper's definition. On this
// tree it also checks lemmas 1 and 2 and, for an untrained network of every kind, theorem 1.
func CheckTree(g *datasets.Graph, root int32, hops int, masked ...int32) {
	args := []string{"tree", "--check", "--data", nameOf(g), "--root", idOf(g, root), "--hops", strconv.Itoa(hops)}
	for i, v := range masked {
		if i == 0 {
			args = append(args, "--mask", idOf(g, v))
		} else {
			args[len(args)-1] += "," + idOf(g, v)
		}
	}
	preformatted(string(command(args...)))
}

// MaskingCurves charts, against the keep rate, the expected share of the aggregation tree T_root^hops that survives
// masking.
func MaskingCurves(g *datasets.Graph, root int32, hops int) {
	ctx, stop := notebook.UntilStopped()
	defer stop()
	size := plots.Series{Name: "tree nodes"}
	replicas := plots.Series{Name: "replicas of the root"}
	sum := func(x []float64) (total float64) {
		for _, v := range x {
			total += v
		}
		return total
	}
	whole := Must1(aggtree.Expect(ctx, g.Edges, root, hops, 1))
	for p := 1; p <= 10; p++ {
		e := Must1(aggtree.Expect(ctx, g.Edges, root, hops, float64(p)/10))
		x := float64(p) / 10
		size.X, size.Y = append(size.X, x), append(size.Y, e.Total()/whole.Total())
		if all := sum(whole.Root) - 1; all > 0 {
			replicas.X, replicas.Y = append(replicas.X, x), append(replicas.Y, (sum(e.Root)-1)/all)
		}
	}
	series := []plots.Series{size}
	if len(replicas.X) > 0 {
		series = append(series, replicas)
	}
	Chart(plots.Chart{ID: "masking", Height: 320, Series: series,
		Title:  fmt.Sprintf("The %d-aggregation tree of node %d under node masking", hops, root),
		XLabel: "keep rate p (probability that a node is kept)", YLabel: "expected share of the unmasked tree"})
}

// Repetition divides the number of nodes of each k-aggregation tree by the number of distinct nodes. Repetition shows
// the median over trees, for k from 1 to hops.
func Repetition(g *datasets.Graph, hops int) {
	ctx, stop := notebook.UntilStopped()
	defer stop()
	var rows [][]any
	for k := 1; k <= hops; k++ {
		all := Must1(aggtree.Summaries(ctx, g.Edges, k, nil))
		var repetition, share []float64
		largest := uint64(0)
		for _, s := range all {
			if x := s.Repetition(); !math.IsNaN(x) {
				repetition, share = append(repetition, x), append(share, 100*s.RootShare())
			}
			largest = max(largest, s.Nodes)
		}
		rows = append(rows, []any{k, stats.Median(repetition), stats.Median(share), largest})
	}
	Rows("Repetition in the k-aggregation trees of "+g.Name,
		[]string{"k", "copies per distinct node (median)", "root's share of its own tree (median, %)",
			"largest tree"}, rows...)
}

// Twins shows, for k from 0 to hops, the largest number of groups of nodes that a GNN with k layers can tell apart. If
// alike is true, all nodes count as having the same features.
func Twins(g *datasets.Graph, hops int, alike bool) {
	ctx, stop := notebook.UntilStopped()
	defer stop()
	colours := make([]uint64, g.Edges.NumNodes())
	if !alike {
		colours = g.Features.RowHashes()
	}
	var rows [][]any
	for k := 0; k <= hops; k++ {
		groups := Must1(aggtree.GroupAll(ctx, g.Edges, k, colours, nil))
		together, largest := 0, 0
		for _, members := range groups {
			if len(members) > 1 {
				together += len(members)
			}
			largest = max(largest, len(members))
		}
		rows = append(rows, []any{k, len(groups), together, largest})
	}
	title := "Nodes of " + g.Name + " that no GNN of k layers can tell apart"
	if alike {
		title += ", features aside"
	}
	Rows(title, []string{"layers k", "groups", "nodes with a twin", "largest group"}, rows...)
}
