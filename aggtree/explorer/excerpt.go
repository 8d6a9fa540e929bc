package explorer

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"nodemask/csr"
	"nodemask/internal/svg"
)

// Limits of the part of a graph that is embedded in a page. In a graph of n nodes and m adjacency entries (two per
// edge), at most √n·(√m)^k walks of k hops start at a node. So the counts for up to 5 hops fit JavaScript's 53-bit
// integers.
const (
	mostEmbeddedEntries = 200_000
	mostEmbeddedNodes   = 50_000
)

type excerpt struct {
	ids      []int32 // graph nodes in the HTML page, ascending
	has      []bool  // has[i]: the HTML page lists the neighbours of graph node ids[i]
	complete int     // number of nodes whose neighbours the HTML page lists
}

// newExcerpt chooses the graph nodes of the HTML page, breadth first from root. The page lists all neighbours of a
// node or none. So each path of an aggregation tree on the page is correct up to and including the first node whose
// neighbours are not listed.
func newExcerpt(g *csr.Graph, root int32, hops, mostNodes int, mostEntries int64) excerpt {
	n := g.NumNodes()
	if n <= mostNodes && g.NumEdges() <= mostEntries {
		e := excerpt{ids: make([]int32, n), has: slices.Repeat([]bool{true}, n), complete: n}
		for v := range e.ids {
			e.ids[v] = int32(v)
		}
		return e
	}
	has := map[int32]bool{root: false}
	complete := 0
	level := []int32{root}
	entries := int64(0)
	for range hops + 1 {
		var next []int32
		for _, v := range level {
			var fresh []int32
			row := g.Neighbours(v)
			for _, u := range row {
				if _, found := has[u]; !found {
					fresh = append(fresh, u)
				}
			}
			if entries+int64(len(row)) > mostEntries || len(has)+len(fresh) > mostNodes {
				continue
			}
			entries += int64(len(row))
			has[v] = true
			complete++
			for _, u := range fresh {
				has[u] = false
			}
			next = append(next, fresh...)
		}
		level = next
	}
	e := excerpt{ids: slices.Sorted(maps.Keys(has)), complete: complete}
	for _, v := range e.ids {
		e.has = append(e.has, has[v])
	}
	return e
}

func (e excerpt) place(v int32) int32 {
	i, _ := slices.BinarySearch(e.ids, v)
	return int32(i)
}

// embeddedGraph is what readGraph in src/core.js reads; its fields are described there.
type embeddedGraph struct {
	Nodes   int     `json:"nodes"`
	Entries int     `json:"entries"`
	Rows    string  `json:"rows"`
	IDs     []int32 `json:"ids,omitempty"`
}

func (e excerpt) encode(g *csr.Graph) embeddedGraph {
	d := embeddedGraph{Nodes: len(e.ids)}
	if d.Nodes < g.NumNodes() {
		d.IDs = e.ids
	}
	var rows []byte
	for i, v := range e.ids {
		if !e.has[i] {
			rows = binary.AppendUvarint(rows, 0)
			continue
		}
		row := g.Neighbours(v)
		rows = binary.AppendUvarint(rows, uint64(len(row))+1)
		before := int32(0)
		for _, u := range row {
			u = e.place(u)
			rows = binary.AppendUvarint(rows, uint64(u-before))
			before = u
		}
		d.Entries += len(row)
	}
	d.Rows = base64.StdEncoding.EncodeToString(rows)
	return d
}

// embedded is the JSON that src/state.js reads. Its nodes are numbered from 0 within the excerpt.
type embedded struct {
	Graph    embeddedGraph `json:"graph"`
	AllNodes int           `json:"allNodes"`
	Complete int           `json:"complete"`
	Root     int32         `json:"root"`
	Hops     int           `json:"hops"`
	MostHops int           `json:"mostHops"`
	KeepRate float64       `json:"keepRate"`
	Seed     string        `json:"seed"` // as JavaScript's integers have 53 bits
	Names    []string      `json:"names,omitempty"`
	Colours  []int32       `json:"colours,omitempty"`
	Classes  []string      `json:"classes,omitempty"`
	Mask     []int32       `json:"mask,omitempty"`
	Train    []int32       `json:"train,omitempty"`
	Title    string        `json:"title,omitempty"`
}

func (o Options) embed(g *csr.Graph, root int32, hops int, part excerpt) *embedded {
	d := &embedded{
		Graph: part.encode(g), AllNodes: g.NumNodes(), Complete: part.complete, Root: part.place(root), Hops: hops,
		MostHops: max(offeredHops, hops),
		KeepRate: cmp.Or(o.KeepRate, 1), Seed: fmt.Sprint(o.Seed), Title: svg.Plain(o.Title),
	}
	if len(o.Labels) > 0 {
		d.Colours = make([]int32, len(part.ids))
		for _, class := range o.Classes {
			d.Classes = append(d.Classes, svg.Plain(class))
		}
	}
	for i, v := range part.ids {
		if int(v) < len(o.Names) && o.Names[v] != "" {
			if d.Names == nil {
				d.Names = make([]string, len(part.ids))
			}
			d.Names[i] = svg.Plain(o.Names[v])
		}
		if d.Colours != nil {
			if d.Colours[i] = -1; int(v) < len(o.Labels) {
				d.Colours[i] = max(o.Labels[v], -1)
			}
		}
		if _, in := slices.BinarySearch(o.Train, v); in {
			d.Train = append(d.Train, int32(i))
		}
		if o.Mask != nil && o.Mask[v] {
			d.Mask = append(d.Mask, int32(i))
		}
	}
	return d
}
