package layerwise

import (
	"context"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"nodemask/nmgnn/cached"
)

// atOnce is how many of a cache's nodes one element stands for.
const atOnce = 4096

// Arrivals says what arrives, and the cache that it is predicted from.
type Arrivals struct {
	Input
	// Cache is the file of the model's cache. Every worker opens it, and sends each row of a node that an edge names once.
	Cache string
	// Apart leaves out edges among new nodes, as if each arrived alone.
	Apart bool
}

// Predict computes nodes that arrive after training from a cache (section 4 of the paper; see package cached) in one pipeline, and
// writes for each id, predicted class, its probability, how many neighbours the model knew, how many arrive with it, and its logits.
// Output.Layer and Options.Work mean nothing to it.
func Predict(ctx context.Context, m *cached.Model, a Arrivals, out Output, o Options) error {
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	if err := checkColumns(m, a.Nodes); err != nil {
		return err
	}
	model, saved, err := encodeModel(m)
	if err != nil {
		return err
	}
	c, err := cached.LoadCache(a.Cache, m)
	if err != nil {
		return err
	}
	count := len(c.IDs)
	if err := c.Close(); err != nil {
		return err
	}
	ranges := []Range{{0, min(count, atOnce)}}
	for begin := atOnce; begin < count; begin += atOnce {
		ranges = append(ranges, Range{begin, min(count, begin+atOnce)})
	}
	if err := out.replaces(o.Shards, append(slices.Concat(a.Nodes, a.Edges), a.Cache)...); err != nil {
		return err
	}
	if err := out.check(o.Shards); err != nil {
		return err
	}

	p, s := beam.NewPipelineWithRoot()
	nodes := beam.ParDo(s.Scope("nodes"), &readNodesFn{Saved: saved}, filesOf(s, a.Nodes))
	kept := beam.ParDo(s.Scope("cache"), &readCacheFn{Saved: saved, Path: a.Cache}, beam.Reshuffle(s, beam.CreateList(s, ranges)))
	near := different(s, a.Edges)
	used, ties := beam.ParDo2(s.Scope("ties"), &tieFn{}, beam.CoGroupByKey(s, nodes, kept, near))
	all, from, to := beam.ParDo3(s.Scope("arrive"), &arriveFn{a.Apart}, beam.CoGroupByKey(s, nodes, ties))
	for i := range model.Layers() {
		senders := beam.Flatten(s, all, beam.ParDo(s.Scope("kept"), &keptFn{i}, used))
		all = layer(s.Scope(layerName(i+1)), saved, i, model.Attends(i), senders, graph{from: from, to: to})
	}
	writeNewcomers(s, o, m, saved, all, out)
	if _, err := o.Run(ctx, p); err != nil {
		return pipelineError(ctx, "predicting", err)
	}
	return nil
}

// readCacheFn reads a cache.
type readCacheFn struct {
	Saved []byte
	Path  string
	cache *cached.Cache
}

// open opens the cache, once for each worker that reads some of it.
func (f *readCacheFn) open() error {
	if f.cache != nil {
		return nil
	}
	m, err := decodeSaved(f.Saved)
	if err != nil {
		return err
	}
	f.cache, err = cached.LoadCache(f.Path, m)
	return fault(err)
}

// ProcessElement emits the nodes of a range.
func (f *readCacheFn) ProcessElement(r Range, emit func(string, Kept)) error {
	if err := f.open(); err != nil {
		return err
	}
	if r.Begin < 0 || r.End > len(f.cache.IDs) {
		return faultf("%s: %d nodes: expected %d or more: the file was changed while it was in use", f.Path, len(f.cache.IDs), r.End)
	}
	for v := r.Begin; v < r.End; v++ {
		k := Kept{Degree: int(f.cache.Degrees[v]), H: [][]float32{f.cache.Features.Row(v, nil)}}
		for _, h := range f.cache.Hidden {
			k.H = append(k.H, h.Row(v))
		}
		emit(f.cache.IDs[v], k)
	}
	return nil
}

// Teardown closes the cache.
func (f *readCacheFn) Teardown() error {
	if f.cache == nil {
		return nil
	}
	defer func() { f.cache = nil }()
	return f.cache.Close()
}

// tieFn tells each neighbour of a node whether the model knew the node.
type tieFn struct{}

// ProcessElement emits a node that the model knew, if an edge names it, and ties to its neighbours.
func (*tieFn) ProcessElement(id string, nodes func(*Node) bool, kept func(*Kept) bool, near func(*string) bool, use func(string, Kept), tie func(string, Tie)) error {
	var n, again Node
	var k Kept
	isNew, known := nodes(&n), kept(&k)
	switch {
	case isNew && nodes(&again):
		return faultf("the id %.80q is there twice in the files of nodes: ids must differ", id)
	case isNew && known:
		return faultf("node %.80q is one that the model was trained on: only nodes that are new can be predicted from a cache", id)
	}
	named := false
	for u := ""; near(&u); {
		if !isNew && !known {
			return faultf("an edge names node %.80q, which is neither in the files of nodes nor among the nodes that the model knew: add it there, or remove the edge", id)
		}
		if u != "" {
			tie(u, Tie{id, known})
			named = true
		}
	}
	if known && named {
		use(id, k)
	}
	return nil
}

// arriveFn joins new nodes with their neighbours.
type arriveFn struct{ Apart bool }

// ProcessElement emits a new node with its degree, and who sends to whom.
func (f *arriveFn) ProcessElement(id string, nodes func(*Node) bool, ties func(*Tie) bool, emit func(string, Node), from, to func(string, Near)) {
	var n Node
	if !nodes(&n) {
		return // the model knew it: nothing is computed
	}
	var t Tie
	var ids []string
	for ties(&t) {
		switch {
		case t.Known:
			n.Known++
		case f.Apart:
			continue
		default:
			n.Linked++
		}
		n.Row.Degree++
		from(t.ID, Near{[]string{id}})
		if ids = append(ids, t.ID); len(ids) == chunk {
			to(id, Near{ids})
			ids = nil
		}
	}
	if len(ids) > 0 {
		to(id, Near{ids})
	}
	emit(id, n)
}

// keptFn makes a node of what a cache has of it behind a layer.
type keptFn struct{ Layer int }

// ProcessElement emits the node, which sends and is not computed.
func (f *keptFn) ProcessElement(id string, k Kept, emit func(string, Node)) error {
	if f.Layer >= len(k.H) {
		return faultf("node %.80q: %d layers in the cache: expected more than %d", id, len(k.H), f.Layer)
	}
	n := Node{Cached: true}
	n.Row.Degree, n.Row.H = k.Degree, k.H[f.Layer]
	emit(id, n)
	return nil
}
