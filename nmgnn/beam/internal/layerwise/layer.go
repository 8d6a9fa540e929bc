package layerwise

import (
	"context"
	"fmt"
	"slices"
	"sync"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/internal/ended"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/infer"
)

// mostValues bounds the values that a call of [layerFn.part] reads from neighbours. A call for one node may read more.
const mostValues = 1 << 24

var opened = sync.OnceValues(func() (*backend.Backend, error) { return backend.Open("go") })

type layerFn struct {
	run
	Layer int
}

func (f *layerFn) ProcessElement(ctx context.Context, shard int) (int, bool, error) {
	return shard, true, f.guard(ctx, func() error { return f.compute(ctx, shard) })
}

func (f *layerFn) compute(ctx context.Context, shard int) error {
	var n near
	if err := f.read(graphStep, f.file(nearKind, shard), &n); err != nil {
		return err
	}
	own := len(n.Offsets) - 1
	width := int64(f.model.Features)
	if f.Layer > 0 {
		width = int64(f.model.Settings.Hidden)
	}
	var all datasets.Features
	for begin, end := 0, 0; begin < own; begin = end {
		if err := ended.Err(ctx); err != nil {
			return err
		}
		for end < own && (end == begin || (n.Offsets[end+1]-n.Offsets[begin])*width < mostValues) {
			end++
		}
		part, err := f.part(shard, n, begin, end)
		if err != nil {
			return err
		}
		all = datasets.Features{Rows: end, Width: part.Width, Dense: append(all.Dense, part.Values...)}
	}
	return f.write(layerName(f.Layer+1), f.file(rowsKind, shard), all)
}

// part computes the layer's output for a shard's nodes with numbers in [begin, end). The input has the rows of these
// nodes, then the rows of their neighbours.
func (f *layerFn) part(shard int, n near, begin, end int) (all infer.Representation, err error) {
	entries := n.Refs[n.Offsets[begin]:n.Offsets[end]]
	refs, first, last := []int64{}, reference(shard, begin), reference(shard, end)
	for ref := first; ref < last; ref++ {
		refs = append(refs, ref)
	}
	others := slices.Clone(entries)
	slices.Sort(others)
	refs = append(refs, slices.DeleteFunc(slices.Compact(others), func(u int64) bool { return first <= u && u < last })...)
	at := make(map[int64]int32, len(refs))
	for row, ref := range refs {
		at[ref] = int32(row)
	}
	edges := &csr.Graph{Offsets: make([]int64, len(refs)+1), Indices: make([]int32, len(entries))}
	for i, u := range entries {
		edges.Indices[i] = at[u]
	}
	for row := range refs {
		edges.Offsets[row+1] = n.Offsets[min(begin+row+1, end)] - n.Offsets[begin]
	}
	x, degrees, err := f.gather(f.Layer, refs)
	if err != nil {
		return all, err
	}
	return f.runModel(edges, x, infer.Options{Degrees: degrees}, func(m infer.Model, p nmgnn.Pass) *Node {
		return SliceAxis(m.Step(p, f.Layer, p.Features), 0, AxisRangeFromStart(end-begin))
	})
}

// gather returns the degrees of the nodes in refs and their rows of the layer's input. refs must be grouped by shard.
func (r *run) gather(layer int, refs []int64) (x datasets.Features, degrees []int32, err error) {
	for len(refs) > 0 {
		shard, _ := referred(refs[0])
		of, err := r.rows(layer, shard)
		if err != nil {
			return x, nil, err
		}
		all, err := r.degrees(shard)
		if err != nil {
			return x, nil, err
		}
		var nodes []int32
		for ; len(refs) > 0 && refs[0]>>32 == int64(shard); refs = refs[1:] {
			_, v := referred(refs[0])
			if v < 0 || int(v) >= min(of.Rows, len(all)) {
				return x, nil, fmt.Errorf("%s: node %d of shard %d: expected one of %d: the files in the work folder do not "+
					"belong together: delete it", r.Work, v, shard, min(of.Rows, len(all)))
			}
			nodes, degrees = append(nodes, v), append(degrees, all[v])
		}
		of = of.Select(nodes)
		if x.Rows == 0 {
			x = of
			continue
		}
		x.Append(of.Stored(x.IsSparse()))
	}
	return x, degrees, nil
}

func (r *run) readOut(x datasets.Features, layers []datasets.Features) (infer.Representation, error) {
	alone := &csr.Graph{Offsets: make([]int64, x.Rows+1)}
	return r.runModel(alone, x, infer.Options{}, func(m infer.Model, p nmgnn.Pass) *Node {
		var all []*Node
		for _, h := range layers {
			t := tensors.FromFlatDataAndDimensions(h.Dense, h.Rows, h.Width)
			all = append(all, ConstTensor(p.Features.Graph(), t))
		}
		return m.ReadOut(p, all)
	})
}

// runModel does not normalize the features: the step that read the graph has done so.
func (r *run) runModel(edges *csr.Graph, x datasets.Features, o infer.Options,
	do func(m infer.Model, p nmgnn.Pass) *Node) (y infer.Representation, err error) {
	b, err := opened()
	if err != nil {
		return y, err
	}
	m := r.model.Network()
	m.NormalizeFeatures = false
	all, err := m.Run(b, edges, x, o, func(p nmgnn.Pass) []*Node { return []*Node{do(m, p)} })
	if err != nil {
		return y, err
	}
	return all[0], nil
}
