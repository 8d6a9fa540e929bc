package layerwise

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"nodemask/nmgnn/beam/rows"
)

// The steps of a graph work on shards: a node and its neighbours lie in the shard that its id gives, so that joining a node with its
// neighbours takes no shuffle. What is shuffled goes in batches for a shard, since a runner's work for an element is many times that of
// a sum. Before it is sent, what one shard sends to a node is added up, so that a node of very many neighbours takes no more than a part
// from each shard.

// batch is how many nodes, edges or sums go to a shard at once.
const batch = 1 << 13

// buckets collects what goes to each shard.
type buckets[T any] struct {
	all  []T
	size []int
	emit func(int, T)
}

func newBuckets[T any](shards int, emit func(int, T)) *buckets[T] {
	return &buckets[T]{make([]T, shards), make([]int, shards), emit}
}

// add changes what goes to a shard, which grows by so many, and sends it if it is large.
func (b *buckets[T]) add(shard, grows int, change func(*T)) {
	change(&b.all[shard])
	if b.size[shard] += grows; b.size[shard] >= batch {
		b.send(shard)
	}
}

func (b *buckets[T]) send(shard int) {
	var none T
	if b.size[shard] > 0 {
		b.emit(shard, b.all[shard])
	}
	b.all[shard], b.size[shard] = none, 0
}

// finish sends the rest.
func (b *buckets[T]) finish() {
	for shard := range b.all {
		b.send(shard)
	}
}

// sums adds up terms for each node of each shard.
type sums struct {
	shardFn
	to   []map[string]rows.Part
	emit func(int, Terms)
}

func (s *sums) add(id string, p rows.Part) {
	shard := s.of(id)
	if s.to[shard] == nil {
		s.to[shard] = make(map[string]rows.Part, batch)
	}
	s.to[shard][id] = s.to[shard][id].Add(p)
	if len(s.to[shard]) >= batch {
		s.send(shard)
	}
}

func (s *sums) send(shard int) {
	if len(s.to[shard]) == 0 {
		return
	}
	var t Terms
	for id, p := range s.to[shard] {
		t.IDs, t.Parts = append(t.IDs, id), append(t.Parts, p)
	}
	s.emit(shard, t)
	clear(s.to[shard])
}

func (s *sums) finish() {
	for shard := range s.to {
		s.send(shard)
	}
}

// listNodesFn reads files of nodes, in batches for shards.
type listNodesFn struct {
	shardFn
	Nodes readNodesFn
}

// Setup decodes the model.
func (f *listNodesFn) Setup() error { return f.Nodes.Setup() }

// ProcessElement emits a file's nodes.
func (f *listNodesFn) ProcessElement(ctx context.Context, path string, emit func(int, Records)) error {
	to := newBuckets(f.Shards, emit)
	err := f.Nodes.ProcessElement(ctx, path, func(id string, n Node) {
		to.add(f.of(id), 1, func(r *Records) { r.All = append(r.All, Record{id, n}) })
	})
	to.finish()
	return err
}

// listEdgesFn reads files of edges, in batches for the shards of both ends.
type listEdgesFn struct{ shardFn }

// ProcessElement emits a file's edges both ways, and those of a node with itself once.
func (f *listEdgesFn) ProcessElement(ctx context.Context, path string, emit func(int, Pairs)) error {
	to := newBuckets(f.Shards, emit)
	send := func(a, b string) {
		to.add(f.of(a), 1, func(p *Pairs) { p.A, p.B = append(p.A, a), append(p.B, b) })
	}
	err := scanEdges(ctx, path, func(source, target []byte) error {
		a, b := string(source), string(target)
		if send(a, b); a != b {
			send(b, a)
		}
		return nil
	})
	to.finish()
	return fault(err)
}

// graphFn writes a shard's nodes and their neighbours.
type graphFn struct {
	shardFn
	Folder string
}

// ProcessElement joins the nodes and edges of a shard.
func (f *graphFn) ProcessElement(shard int, listed func(*Records) bool, pairs func(*Pairs) bool) (int, bool, error) {
	return shard, true, f.write(shard, listed, pairs)
}

func (f *graphFn) write(shard int, listed func(*Records) bool, pairs func(*Pairs) bool) error {
	near := map[string][]string{}
	var p Pairs
	for pairs(&p) {
		for i, v := range p.A {
			near[v] = append(near[v], p.B[i])
		}
	}
	var all []Record
	known := map[string]bool{}
	var some Records
	for listed(&some) {
		for _, r := range some.All {
			if known[r.ID] {
				return faultf("the id %.80q is there twice in the files of nodes: ids must differ", r.ID)
			}
			known[r.ID] = true
			all = append(all, r)
		}
	}
	count := Counts{Nodes: int64(len(all))}
	for v, ids := range near {
		if !known[v] {
			return faultf("an edge names node %.80q, which no file of nodes has: add it there, or remove the edge", v)
		}
		slices.Sort(ids)
		near[v] = count.different(v, ids)
	}
	i := 0
	err := writeShard(filepath.Join(f.Folder, shardName("rows", shard, f.Shards)), func(row *nodeRow) bool {
		if i == len(all) {
			return false
		}
		all[i].Node.Row.Degree = len(near[all[i].ID])
		*row = rowOf(all[i].ID, all[i].Node)
		i++
		return true
	})
	if err != nil {
		return fault(err)
	}
	i, at := 0, 0
	err = writeShard(filepath.Join(f.Folder, shardName("near", shard, f.Shards)), func(row *nearRow) bool {
		for ; i < len(all); i, at = i+1, 0 {
			if ids := near[all[i].ID]; at < len(ids) {
				end := min(at+chunk, len(ids))
				*row = nearRow{all[i].ID, ids[at:end]}
				at = end
				return true
			}
		}
		return false
	})
	if err != nil {
		return fault(err)
	}
	return fault(replace(filepath.Join(f.Folder, countsName(shard)), func(w io.Writer) error {
		return json.NewEncoder(w).Encode(count)
	}))
}

// different returns a node's neighbours without itself, each once, of a sorted list, and counts edges where they are seen from their
// lesser end.
func (c *Counts) different(v string, ids []string) []string {
	listed := int64(0)
	for _, u := range ids {
		switch {
		case u == v:
			c.Loops++
		case v < u:
			listed++
		}
	}
	ids = slices.DeleteFunc(slices.Compact(ids), func(u string) bool { return u == v })
	once := int64(0)
	for _, u := range ids {
		if v < u {
			once++
		}
	}
	c.Edges += once
	c.Repeats += listed - once
	return ids
}

func rowOf(id string, n Node) nodeRow {
	return nodeRow{ID: id, Label: n.Label, Degree: int64(n.Row.Degree), H: n.Row.H, Scores: n.Row.Scores}
}

// buildGraph reads a graph and writes its shards: nodes with their degrees, and neighbours.
func buildGraph(s beam.Scope, m []byte, in Input, folder string, shards int) {
	all := beam.ParDo(s.Scope("nodes"), &listNodesFn{shardFn{shards}, readNodesFn{Saved: m}}, filesOf(s, in.Nodes))
	pairs := beam.ParDo(s.Scope("edges"), &listEdgesFn{shardFn{shards}}, filesOf(s, in.Edges))
	end(s, beam.ParDo(s.Scope("graph"), &graphFn{shardFn{shards}, folder}, beam.CoGroupByKey(s, all, pairs)))
}

// stepFn is a part of a layer's step: the layer, the shards, and where the nodes before it and their neighbours are.
type stepFn struct {
	shardFn
	one
	Rows, Near string
}

// sent calls each for what the layer makes of each node of a shard.
func (f *stepFn) sent(ctx context.Context, shard int, each func(id string, n Node, s rows.Sent) error) error {
	var failed error
	err := readShard(ctx, filepath.Join(f.Rows, shardName("rows", shard, f.Shards)), func(row *nodeRow) {
		if failed != nil {
			return
		}
		n := row.node()
		s, err := f.model.Send(f.Layer, n.Row)
		if err == nil {
			err = each(strings.Clone(row.ID), n, s)
		}
		failed = err
	})
	if err == nil {
		err = failed
	}
	return err
}

func (f *stepFn) neighbours(ctx context.Context, shard int, each func(row *nearRow)) error {
	return readShard(ctx, filepath.Join(f.Near, shardName("near", shard, f.Shards)), each)
}

// termsFn sends the terms of a shard's nodes.
type termsFn struct{ stepFn }

// ProcessElement emits what a shard's nodes add to the sums of others.
func (f *termsFn) ProcessElement(ctx context.Context, shard int, emit func(int, Terms)) error {
	messages := map[string]rows.Part{}
	err := f.sent(ctx, shard, func(id string, _ Node, s rows.Sent) error {
		messages[id] = f.model.Term(f.Layer, s, nil)
		return nil
	})
	if err != nil {
		return fault(err)
	}
	to := &sums{f.shardFn, make([]map[string]rows.Part, f.Shards), emit}
	err = f.neighbours(ctx, shard, func(row *nearRow) {
		for _, v := range row.Near {
			to.add(strings.Clone(v), messages[row.ID])
		}
	})
	to.finish()
	return fault(err)
}

// asksFn asks for the terms of the neighbours of a shard's nodes.
type asksFn struct{ stepFn }

// ProcessElement emits what a shard's nodes ask of others.
func (f *asksFn) ProcessElement(ctx context.Context, shard int, emit func(int, Askings)) error {
	targets := map[string][]float32{}
	err := f.sent(ctx, shard, func(id string, _ Node, s rows.Sent) error {
		targets[id] = s.Target
		return nil
	})
	if err != nil {
		return fault(err)
	}
	to := newBuckets(f.Shards, emit)
	err = f.neighbours(ctx, shard, func(row *nearRow) {
		of := make([][]string, f.Shards)
		for _, u := range row.Near {
			of[f.of(u)] = append(of[f.of(u)], strings.Clone(u))
		}
		for shard, ids := range of {
			if len(ids) > 0 {
				to.add(shard, len(ids), func(a *Askings) {
					a.All = append(a.All, Asking{Ask{strings.Clone(row.ID), targets[row.ID]}, ids})
				})
			}
		}
	})
	to.finish()
	return fault(err)
}

// scoresFn answers what is asked of a shard's nodes.
type scoresFn struct{ stepFn }

// ProcessElement emits the terms that a shard's nodes are asked for.
func (f *scoresFn) ProcessElement(ctx context.Context, shard int, askings func(*Askings) bool, emit func(int, Terms)) error {
	sent := map[string]rows.Sent{}
	err := f.sent(ctx, shard, func(id string, _ Node, s rows.Sent) error {
		sent[id] = rows.Sent{Message: s.Message, Source: s.Source}
		return nil
	})
	if err != nil {
		return fault(err)
	}
	to := &sums{f.shardFn, make([]map[string]rows.Part, f.Shards), emit}
	var a Askings
	for askings(&a) {
		for _, one := range a.All {
			for _, u := range one.Of {
				s, is := sent[u]
				if !is {
					return faultf("node %.80q is asked, but is not there: the files in the work folder do not belong together: delete it", u)
				}
				to.add(one.Ask.From, f.model.Term(f.Layer, s, one.Ask.Target))
			}
		}
	}
	to.finish()
	return nil
}

// rowsFn writes a shard's nodes behind the layer.
type rowsFn struct {
	stepFn
	Folder string
}

// ProcessElement adds up the terms of a shard's nodes, and computes them.
func (f *rowsFn) ProcessElement(ctx context.Context, shard int, _ func(*bool) bool, terms func(*Terms) bool) (int, bool, error) {
	return shard, true, f.write(ctx, shard, terms)
}

func (f *rowsFn) write(ctx context.Context, shard int, terms func(*Terms) bool) error {
	sum := map[string]rows.Part{}
	var t Terms
	for terms(&t) {
		for i, id := range t.IDs {
			sum[id] = sum[id].Add(t.Parts[i])
		}
	}
	var done []nodeRow
	err := f.sent(ctx, shard, func(id string, n Node, s rows.Sent) error {
		part := rows.Part{}.Add(f.model.Own(f.Layer, s)).Add(sum[id])
		n.Row = f.model.Finish(f.Layer, s.Root, part)
		done = append(done, rowOf(id, n))
		return nil
	})
	if err != nil {
		return fault(err)
	}
	i := 0
	return fault(writeShard(filepath.Join(f.Folder, shardName("rows", shard, f.Shards)), func(row *nodeRow) bool {
		if i == len(done) {
			return false
		}
		*row = done[i]
		i++
		return true
	}))
}

// markFn makes a key of a shard's number.
func markFn(shard int) (int, bool) { return shard, true }

// endFn takes what says that a shard is written.
func endFn(int, func(*bool) bool) {}

// end ends a pipeline behind what writes shards. While a function without output works, Prism's loops never rest.
func end(s beam.Scope, written beam.PCollection) {
	beam.ParDo0(s.Scope("end"), endFn, beam.GroupByKey(s, written))
}

// shardLayer computes the nodes behind a layer and writes their shards.
func shardLayer(s beam.Scope, f stepFn, attends bool, folder string, shards []int) {
	all := beam.Reshuffle(s, beam.CreateList(s, shards))
	var terms beam.PCollection
	if attends {
		asked := beam.ParDo(s.Scope("ask"), &asksFn{f}, all)
		terms = beam.ParDo(s.Scope("score"), &scoresFn{f}, beam.GroupByKey(s, asked))
	} else {
		terms = beam.ParDo(s.Scope("term"), &termsFn{f}, all)
	}
	// A shard that no term goes to has nodes, too.
	marks := beam.ParDo(s.Scope("mark"), markFn, all)
	end(s, beam.ParDo(s.Scope("rows"), &rowsFn{f, folder}, beam.CoGroupByKey(s, marks, terms)))
}
