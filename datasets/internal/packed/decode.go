package packed

import (
	"encoding/binary"
	"fmt"
	"math"

	"nodemask/csr"
)

// cursor reads a payload. After the first fault it reads zeros, so callers look at err once a section.
type cursor struct {
	data []byte
	at   int
	err  error
}

func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("packed: payload byte %d: %w", c.at, fmt.Errorf(format, args...))
	}
}

// number reads a varint of no more than most.
func (c *cursor) number(what string, most uint64) uint64 {
	if c.err != nil {
		return 0
	}
	if c.at < len(c.data) && c.data[c.at] < 0x80 && uint64(c.data[c.at]) <= most { // nearly all are one byte
		c.at++
		return uint64(c.data[c.at-1])
	}
	n, width := binary.Uvarint(c.data[c.at:])
	switch {
	case width <= 0:
		c.fail("%s: the payload ends in the middle of a number, or the number is too long", what)
		return 0
	case n > most:
		c.fail("%s is %d: expected at most %d", what, n, most)
		return 0
	}
	c.at += width
	return n
}

// count reads how many entries follow, each of at least size bytes: more than fit is a fault, found before anything is
// allocated for them.
func (c *cursor) count(what string, size int) int {
	n := int(c.number(what, maxPayload))
	if left := len(c.data) - c.at; n > left/size {
		c.fail("%s is %d: expected at most %d, for %d bytes are left", what, n, left/size, left)
		return 0
	}
	return n
}

func (c *cursor) words(what string) []string {
	n := c.count(what, 1)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		size := c.count(what, 1)
		list[i] = string(c.data[c.at : c.at+size])
		c.at += size
	}
	return list
}

func decode(payload []byte) (*Graph, error) {
	c := &cursor{data: payload}
	g := &Graph{}
	if name := c.words("name"); len(name) == 1 {
		g.Name = name[0]
	} else {
		c.fail("%d names: expected 1", len(name))
	}
	g.Classes = c.words("classes")
	nodes := c.count("number of nodes", 1)
	g.NodeIDs = c.words("node names")
	if g.NodeIDs != nil && len(g.NodeIDs) != nodes {
		c.fail("%d node names for %d nodes", len(g.NodeIDs), nodes)
	}
	if c.err != nil {
		return nil, c.err
	}
	g.Labels = make([]int32, nodes)
	for v := range g.Labels {
		g.Labels[v] = int32(c.number("label", uint64(len(g.Classes)))) - 1
	}
	c.edges(g, nodes)
	c.features(g, nodes)
	if c.err == nil && c.at != len(payload) {
		c.fail("%d bytes follow the end", len(payload)-c.at)
	}
	if c.err != nil {
		return nil, c.err
	}
	return g, nil
}

// edges reads, for each node, its neighbours with a larger number.
func (c *cursor) edges(g *Graph, nodes int) {
	listed := int64(c.number("listed pairs", math.MaxInt32))
	loops := int64(c.number("self-loops", math.MaxInt32))
	duplicates := int64(c.number("duplicates", math.MaxInt32))
	var upper []csr.Edge
	for v := range int32(nodes) {
		last := v
		for range c.count("neighbours", 1) {
			gap := int32(c.number("gap between neighbours", uint64(nodes)))
			if c.err == nil && int(last)+int(gap)+1 >= nodes {
				c.fail("node %d has neighbour %d: expected at most %d", v, int(last)+int(gap)+1, nodes-1)
			}
			if c.err != nil {
				return
			}
			last += gap + 1
			upper = append(upper, csr.Edge{Node: v, Neighbour: last})
		}
	}
	if c.err != nil {
		return
	}
	edges, report, err := csr.FromEdges(nodes, upper, csr.Options{})
	if err != nil {
		c.fail("%w", err)
		return
	}
	if want := listed - loops - duplicates; report.Edges != want {
		c.fail("%d edges: expected %d (%d listed - %d self-loops - %d duplicates)", report.Edges, want, listed, loops, duplicates)
	}
	g.Edges = edges
	g.Report = csr.Report{Listed: listed, SelfLoops: loops, Duplicates: duplicates, Edges: report.Edges}
}

func (c *cursor) features(g *Graph, nodes int) {
	g.Width = c.count("width", 8)
	if c.err != nil {
		return
	}
	g.Weights = make([]float64, g.Width)
	for i := range g.Weights {
		w := math.Float64frombits(binary.LittleEndian.Uint64(c.data[c.at:]))
		// Counts are below 2³¹: such a weight can neither overflow float32 nor vanish.
		if !(w > 1e-20 && w < 1e20) {
			c.fail("weight %d is %v: expected a number from 1e-20 to 1e20", i, w)
			return
		}
		g.Weights[i] = w
		c.at += 8
	}
	if len(c.data)-c.at < 2*nodes {
		c.fail("%d bytes are left: expected a length and a size for each of %d nodes", len(c.data)-c.at, nodes)
		return
	}
	g.Lengths = make([]uint32, nodes)
	g.Offsets = make([]int64, nodes+1)
	for v := range nodes {
		g.Lengths[v] = uint32(c.number("row length", math.MaxInt32))
		if g.Lengths[v] == 0 {
			c.fail("row length is 0: expected at least 1")
		}
		g.Offsets[v+1] = g.Offsets[v] + int64(c.number("entries in a row", uint64(g.Width)))
	}
	entries := g.Offsets[nodes]
	if entries > int64(len(c.data)-c.at)/2 {
		c.fail("%d entries: expected at most %d, two bytes for each", entries, (len(c.data)-c.at)/2)
	}
	if c.err != nil {
		return
	}
	g.Columns = make([]int32, entries)
	for v := range nodes {
		last := -1
		for i := g.Offsets[v]; i < g.Offsets[v+1]; i++ {
			last += int(c.number("gap between columns", uint64(g.Width))) + 1
			if last >= g.Width {
				c.fail("row %d names column %d: expected at most %d", v, last, g.Width-1)
				return
			}
			g.Columns[i] = int32(last)
		}
	}
	g.Counts = make([]uint32, entries)
	for i := range g.Counts {
		g.Counts[i] = uint32(c.number("count", math.MaxInt32))
		if g.Counts[i] == 0 {
			c.fail("count %d is 0: expected at least 1", i)
			return
		}
	}
}
