package explorer

import (
	"fmt"
	"slices"

	"nodemask/csr"
	"nodemask/internal/svg"
)

// embedded is read by src/state.js. Nodes are numbered within the excerpt.
type embedded struct {
	Graph    embeddedGraph `json:"graph"`
	AllNodes int           `json:"allNodes"`
	Complete int           `json:"complete"` // with all their neighbours
	Root     int32         `json:"root"`
	Hops     int           `json:"hops"`
	MostHops int           `json:"mostHops"`
	KeepRate float64       `json:"keepRate"`
	Seed     string        `json:"seed"` // a string, as JavaScript's integers end at 53 bits
	Names    []string      `json:"names,omitempty"`
	Colours  []int         `json:"colours,omitempty"`
	Classes  []string      `json:"classes,omitempty"`
	Mask     []int32       `json:"mask,omitempty"`
	Train    []int32       `json:"train,omitempty"`
	Title    string        `json:"title,omitempty"`
}

func (o Options) embed(g *csr.Graph, root int32, hops int, part excerpt) *embedded {
	d := &embedded{
		Graph: part.encode(g), AllNodes: g.NumNodes(), Complete: part.full, Root: part.place(root), Hops: hops,
		MostHops: max(offeredHops, hops),
		KeepRate: o.KeepRate, Seed: fmt.Sprint(o.Seed), Title: svg.Plain(o.Title),
	}
	if o.Colours != nil {
		d.Colours = make([]int, part.size)
		for _, class := range o.Classes {
			d.Classes = append(d.Classes, svg.Plain(class))
		}
	}
	for i, v := range part.nodes() {
		if int(v) < len(o.Names) && o.Names[v] != "" {
			if d.Names == nil {
				d.Names = make([]string, part.size)
			}
			d.Names[i] = svg.Plain(o.Names[v])
		}
		if d.Colours != nil {
			if d.Colours[i] = -1; int(v) < len(o.Colours) {
				d.Colours[i] = max(o.Colours[v], -1)
			}
		}
		if _, in := slices.BinarySearch(o.Train, v); in {
			d.Train = append(d.Train, i)
		}
		if o.Mask != nil && o.Mask[v] {
			d.Mask = append(d.Mask, i)
		}
	}
	return d
}
