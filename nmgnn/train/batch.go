package train

import (
	"errors"
	"slices"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn/internal/safetensors"
)

type shape struct {
	own int // largest number of nodes in a cluster
	// nodes is a batch's number of rows: room for the largest cluster, the most outside neighbours of any cluster,
	// and a filler row if filler is set.
	nodes  int
	edges  int // largest number of edges into a cluster's nodes
	values int // largest number of sparse feature values in a batch
	filler bool
}

// batch holds a cluster's nodes (own), their neighbours outside the cluster (halo), and all edges into the own nodes.
type batch struct {
	own, halo []int32    // cluster nodes and outside neighbours: ascending node numbers in the graph
	edges     *csr.Graph // a row for each cluster node, then empty rows for outside neighbours
}

type places struct {
	of    []int32 // each node's row in the batch; -1 if not in the batch
	halo  []int32
	local csr.Graph
}

const nowhere, next = -1, -2

func newPlaces(nodes int) *places { return &places{of: slices.Repeat([]int32{nowhere}, nodes)} }

// surround returns a cluster's halo (outside neighbours) and the number of edges into the cluster's nodes. Halo nodes
// for which skip returns true do not count, nor do their edges.
func (p *places) surround(g *csr.Graph, cluster []int32, skip func(u int32) bool) (halo []int32, edges int) {
	for i, v := range cluster {
		p.of[v] = int32(i)
	}
	halo = p.halo[:0]
	for _, v := range cluster {
		for _, u := range g.Neighbours(v) {
			switch p.of[u] {
			case nowhere:
				if skip != nil && skip(u) {
					continue
				}
				p.of[u] = next
				halo = append(halo, u)
			}
			edges++
		}
	}
	p.halo = halo
	return halo, edges
}

func (p *places) forget(own, halo []int32) {
	for _, nodes := range [][]int32{own, halo} {
		for _, v := range nodes {
			p.of[v] = nowhere
		}
	}
}

// cut returns the batch of a cluster, without halo nodes for which skip returns true. The batch is valid until the next
// call.
func (p *places) cut(g *csr.Graph, cluster []int32, s shape, skip func(u int32) bool) batch {
	halo, edges := p.surround(g, cluster, skip)
	p.sort(halo)
	for i, u := range halo {
		p.of[u] = int32(s.own + i)
	}
	l := &p.local
	l.Offsets = slices.Grow(l.Offsets[:0], s.nodes+1)
	l.Indices = slices.Grow(l.Indices[:0], max(edges, s.edges))[:0]
	for _, v := range cluster {
		l.Offsets = append(l.Offsets, int64(len(l.Indices)))
		// Column numbers must ascend, and cluster nodes have lower numbers than halo nodes.
		outside, row := 0, g.Neighbours(v)
		for _, u := range row {
			switch at := p.of[u]; {
			case at >= int32(s.own):
				outside++
			case at >= 0:
				l.Indices = append(l.Indices, at)
			}
		}
		for _, u := range row {
			if outside == 0 {
				break
			}
			if at := p.of[u]; at >= int32(s.own) {
				l.Indices = append(l.Indices, at)
				outside--
			}
		}
	}
	s.pad(l)
	p.forget(cluster, halo)
	return batch{own: cluster, halo: halo, edges: l}
}

// pad adds empty rows to l until l has s.nodes rows. If s.filler is set, pad then adds self-loops of the last node
// until l has s.edges edges.
func (s shape) pad(l *csr.Graph) {
	for len(l.Offsets) <= s.nodes {
		l.Offsets = append(l.Offsets, int64(len(l.Indices)))
	}
	if s.filler {
		for len(l.Indices) < s.edges {
			l.Indices = append(l.Indices, int32(s.nodes-1))
		}
		l.Offsets[s.nodes] = int64(len(l.Indices))
	}
}

// For many nodes, one scan over all nodes is faster than sorting.
func (p *places) sort(nodes []int32) {
	if len(nodes) < len(p.of)/16 {
		slices.Sort(nodes)
		return
	}
	i := 0
	for v, at := range p.of {
		if at == next {
			nodes[i] = int32(v)
			i++
		}
	}
}

func shapeOf(phase datasets.Phase, clusters [][]int32, x datasets.Features, filler bool) shape {
	p := newPlaces(phase.Edges.NumNodes())
	var s shape
	around := 0
	for _, own := range clusters {
		halo, edges := p.surround(phase.Edges, own, nil)
		values := 0
		if x.IsSparse() {
			for _, nodes := range [][]int32{own, halo} {
				for _, v := range nodes {
					row := phase.Nodes[v]
					values += int(x.Offsets[row+1] - x.Offsets[row])
				}
			}
		}
		s.own, s.edges, s.values, around = max(s.own, len(own)), max(s.edges, edges), max(s.values, values),
			max(around, len(halo))
		p.forget(own, halo)
	}
	s.nodes = s.own + around
	if s.filler = filler; filler {
		s.nodes++
		s.edges++ // so that no batch is without edges
		s.values++
	}
	return s
}

// Spill moves the graph's edges and dense features to unnamed memory-mapped files in $TMPDIR, so that the system can
// free their memory. The files last until the program ends.
func Spill(g *datasets.Graph) error {
	if err := g.Check(); err != nil {
		return err
	}
	edges, err := safetensors.NewArray[int32](len(g.Edges.Indices))
	if err != nil {
		return err
	}
	features, err := safetensors.NewArray[float32](len(g.Features.Dense))
	if err != nil {
		return errors.Join(err, edges.Close())
	}
	copy(edges.Values, g.Edges.Indices)
	g.Edges.Indices = edges.Values
	if len(features.Values) > 0 {
		copy(features.Values, g.Features.Dense)
		g.Features.Dense = features.Values
	}
	return nil
}

// If readAs normalizes dense features, the array own holds the result; otherwise own is nil.
func readAs(x datasets.Features, normalized bool) (read datasets.Features, own *safetensors.Array[float32], err error) {
	switch {
	case !normalized:
		return x, nil, nil
	case x.IsSparse():
		return x.RowNormalized(), nil, nil
	}
	if own, err = safetensors.NewArray[float32](len(x.Dense)); err != nil {
		return x, nil, err
	}
	const rows = 4096
	for begin := 0; begin < x.Rows; begin += rows {
		end := min(begin+rows, x.Rows)
		part := datasets.Features{Rows: end - begin, Width: x.Width, Dense: x.Dense[begin*x.Width : end*x.Width]}
		copy(own.Values[begin*x.Width:], part.RowNormalized().Dense)
	}
	return datasets.Features{Rows: x.Rows, Width: x.Width, Dense: own.Values}, own, nil
}
