package layerwise

import (
	"context"
	"path/filepath"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"nodemask/nmgnn/beam/rows"
)

// readNodesFn reads files of nodes.
type readNodesFn struct {
	Saved []byte
	model *rows.Model
}

// Setup decodes the model.
func (f *readNodesFn) Setup() (err error) {
	f.model, err = decodeModel(f.Saved)
	return err
}

// ProcessElement emits a file's nodes, as the first layer reads them.
func (f *readNodesFn) ProcessElement(ctx context.Context, path string, emit func(string, Node)) error {
	return fault(scanNodes(ctx, path, func(id, label []byte, features []float32) error {
		row, err := f.model.First(append([]float32(nil), features...))
		if err != nil {
			return err
		}
		emit(string(id), Node{Label: string(label), Row: row})
		return nil
	}))
}

// readEdgesFn reads files of edges.
type readEdgesFn struct{}

// ProcessElement emits a file's edges.
func (*readEdgesFn) ProcessElement(ctx context.Context, path string, emit func(Pair, bool)) error {
	return fault(scanEdges(ctx, path, func(source, target []byte) error {
		p := Pair{string(source), string(target)}
		if p.A > p.B {
			p.A, p.B = p.B, p.A
		}
		if p.A == p.B {
			loops.Inc(ctx, 1)
		}
		emit(p, true)
		return nil
	}))
}

// Counters of what is read.
var (
	loops   = beam.NewCounter("nodemask", "loops")
	edges   = beam.NewCounter("nodemask", "edges")
	repeats = beam.NewCounter("nodemask", "repeats")
	nodes   = beam.NewCounter("nodemask", "nodes")
)

// bothWaysFn makes neighbours of the ends of different edges. Of a loop it makes "", which is no node's id, so that its node is
// looked for.
func bothWaysFn(ctx context.Context, p Pair, times func(*bool) bool, emit func(string, string)) {
	n := int64(-1)
	for is := false; times(&is); {
		n++
	}
	if p.A == p.B {
		emit(p.A, "")
		return
	}
	repeats.Inc(ctx, n)
	edges.Inc(ctx, 1)
	emit(p.A, p.B)
	emit(p.B, p.A)
}

// different reads edges, and returns the neighbours of each node once, as KV<id, id>, and "" for a node with a loop.
func different(s beam.Scope, files []string) beam.PCollection {
	read := beam.ParDo(s.Scope("edges"), &readEdgesFn{}, filesOf(s, files))
	return beam.ParDo(s.Scope("both ways"), bothWaysFn, beam.GroupByKey(s, read))
}

// filesOf is a collection of names, which workers share.
func filesOf(s beam.Scope, files []string) beam.PCollection {
	return beam.Reshuffle(s, beam.CreateList(s, files))
}

// adjacencyFn joins nodes with their neighbours.
type adjacencyFn struct{ Hot int }

// ProcessElement emits a node with its degree, its neighbours in chunks, and its id if it has very many.
func (f *adjacencyFn) ProcessElement(ctx context.Context, id string, found func(*Node) bool, near func(*string) bool, emit func(string, Node), adjacent func(string, Near), hot func(string)) error {
	var n, again Node
	if !found(&n) {
		return faultf("an edge names node %.80q, which no file of nodes has: add it there, or remove the edge", id)
	}
	if found(&again) {
		return faultf("the id %.80q is there twice in the files of nodes: ids must differ", id)
	}
	var ids []string
	for u := ""; near(&u); {
		if u == "" {
			continue
		}
		n.Row.Degree++
		if ids = append(ids, u); len(ids) == chunk {
			adjacent(id, Near{ids})
			ids = nil
		}
	}
	if len(ids) > 0 {
		adjacent(id, Near{ids})
	}
	if n.Row.Degree >= f.Hot {
		hot(id)
	}
	nodes.Inc(ctx, 1)
	emit(id, n)
	return nil
}

// shardFn gives a record the shard that it belongs to.
type shardFn struct{ Shards int }

func (f shardFn) of(id string) int { return int(hash(id) % uint32(f.Shards)) }

// nodeShardFn is shardFn for nodes.
type nodeShardFn struct{ shardFn }

// ProcessElement emits a node with its shard.
func (f *nodeShardFn) ProcessElement(id string, n Node, emit func(int, Record)) {
	emit(f.of(id), Record{id, n})
}

// nearShardFn is shardFn for neighbours.
type nearShardFn struct{ shardFn }

// ProcessElement emits neighbours with their shard.
func (f *nearShardFn) ProcessElement(id string, n Near, emit func(int, Adjacent)) {
	emit(f.of(id), Adjacent{id, n.IDs})
}

// firstShardFn puts all in one shard.
func firstShardFn(id string) (int, string) { return 0, id }

// writeFn says where shards are written.
type writeFn struct {
	Folder string
	Shards int
}

func (f writeFn) path(kind string, shard int) string {
	return filepath.Join(f.Folder, shardName(kind, shard, f.Shards))
}

// writeNodesFn writes shards of nodes.
type writeNodesFn struct{ writeFn }

// ProcessElement writes a shard.
func (f *writeNodesFn) ProcessElement(shard int, records func(*Record) bool) error {
	return fault(writeShard(f.path("rows", shard), func(row *nodeRow) bool {
		var r Record
		if !records(&r) {
			return false
		}
		*row = nodeRow{ID: r.ID, Label: r.Node.Label, Degree: int64(r.Node.Row.Degree), H: r.Node.Row.H, Scores: r.Node.Row.Scores}
		return true
	}))
}

// writeNearFn writes shards of neighbours.
type writeNearFn struct{ writeFn }

// ProcessElement writes a shard.
func (f *writeNearFn) ProcessElement(shard int, records func(*Adjacent) bool) error {
	return fault(writeShard(f.path("near", shard), func(row *nearRow) bool {
		var a Adjacent
		if !records(&a) {
			return false
		}
		*row = nearRow{a.ID, a.Near}
		return true
	}))
}

// writeHotFn writes a shard of ids.
type writeHotFn struct{ writeFn }

// ProcessElement writes a shard.
func (f *writeHotFn) ProcessElement(shard int, ids func(*string) bool) error {
	return fault(writeShard(f.path("hot", shard), func(row *hotRow) bool { return ids(&row.ID) }))
}

// writeNodes writes KV<id, Node> to shards.
func writeNodes(s beam.Scope, folder string, shards int, nodes beam.PCollection) {
	s = s.Scope("write nodes")
	beam.ParDo0(s, &writeNodesFn{writeFn{folder, shards}}, beam.GroupByKey(s, beam.ParDo(s, &nodeShardFn{shardFn{shards}}, nodes)))
}

// buildGraph reads a graph and writes it to shards: nodes with their degrees, neighbours, and the ids of nodes with very many.
func buildGraph(s beam.Scope, m []byte, in Input, folder string, o Options) {
	read := beam.ParDo(s.Scope("nodes"), &readNodesFn{Saved: m}, filesOf(s, in.Nodes))
	all, near, hot := beam.ParDo3(s.Scope("adjacency"), &adjacencyFn{o.Hot}, beam.CoGroupByKey(s, read, different(s, in.Edges)))
	writeNodes(s, folder, o.Shards, all)
	s = s.Scope("write neighbours")
	beam.ParDo0(s, &writeNearFn{writeFn{folder, o.Shards}}, beam.GroupByKey(s, beam.ParDo(s, &nearShardFn{shardFn{o.Shards}}, near)))
	beam.ParDo0(s, &writeHotFn{writeFn{folder, 1}}, beam.GroupByKey(s, beam.ParDo(s, firstShardFn, hot)))
}

// loadNodesFn reads shards of nodes.
type loadNodesFn struct{}

// ProcessElement emits a shard's nodes.
func (*loadNodesFn) ProcessElement(ctx context.Context, path string, emit func(string, Node)) error {
	if path == "" {
		return nil
	}
	return fault(readShard(ctx, path, func(row *nodeRow) { emit(row.ID, row.node()) }))
}

// loadNearFn reads shards of neighbours.
type loadNearFn struct{}

// ProcessElement emits a shard's neighbours.
func (*loadNearFn) ProcessElement(ctx context.Context, path string, emit func(string, Near)) error {
	if path == "" {
		return nil
	}
	return fault(readShard(ctx, path, func(row *nearRow) { emit(row.ID, Near{row.Near}) }))
}
