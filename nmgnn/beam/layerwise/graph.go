package layerwise

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"nodemask/datasets"
)

// The step of the graph deals nodes, and edges both ways, out to the shards that their ids give. What goes there lies in
// files, of which a runner is sent the names alone: Prism keeps all that it is sent in memory, several times.

// parcel is some of what goes to a shard: nodes, and edges from the shard's nodes A to B.
type parcel struct {
	IDs, Labels []string
	Features    datasets.Features
	A, B        []string

	rows *datasets.FeatureBuilder
}

// sent is what files of parcels are called.
const sent = "sent"

// spilled is how many numbers and ids a function holds before it writes them to a file.
const spilled = 1 << 20

// readFn reads files of nodes or edges.
type readFn struct {
	run
	Files []string
	Edges bool

	to   []parcel
	size int
}

// ProcessElement emits the names of files that have something for a shard.
func (f *readFn) ProcessElement(ctx context.Context, number int, emit func(int, string)) error {
	f.to = make([]parcel, f.Shards)
	scan, spills := f.scanNodes, 0
	if f.Edges {
		scan = f.scanEdges
	}
	spill := func() error {
		name := fmt.Sprintf("%s-%d-%d-edges=%t", sent, number, spills, f.Edges)
		spills++
		return f.spill(name, emit)
	}
	defer func() { f.to = nil }() // runners keep functions
	err := scan(ctx, f.Files[number], func(id string, grows int, put func(*parcel)) error {
		put(&f.to[f.shardOf(id)])
		if f.size += grows; f.size < spilled {
			return nil
		}
		return spill()
	})
	if err == nil {
		err = spill()
	}
	return fault(err)
}

func (f *readFn) spill(name string, emit func(int, string)) error {
	var b bytes.Buffer
	ends := make([]int64, 1, f.Shards+1)
	for shard, p := range f.to {
		if p.rows != nil {
			p.Features = p.rows.Finish()
		}
		if len(p.IDs)+len(p.A) > 0 {
			emit(shard, name)
			if err := gob.NewEncoder(&b).Encode(p); err != nil {
				return err
			}
		}
		ends = append(ends, int64(b.Len()))
	}
	file := f.create(graphStep, name)
	add(file, "ends", ends)
	add(file, "parcels", b.Bytes())
	f.to, f.size = make([]parcel, f.Shards), 0
	return file.WriteFile(f.path(graphStep, name))
}

func (r *run) shardOf(id string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // cannot fail
	return int(h.Sum32() % uint32(r.Shards))
}

// sendFunc puts something, of so many numbers and ids, into the parcel for a node's shard.
type sendFunc func(id string, grows int, put func(*parcel)) error

func (f *readFn) scanNodes(ctx context.Context, path string, send sendFunc) error {
	return scanNodes(ctx, path, func(id, label []byte, features []float32) error {
		if len(features) != f.model.Features {
			return fmt.Errorf("%d features: expected %d, as the model was trained with", len(features), f.model.Features)
		}
		name := string(id)
		return send(name, 2+len(features), func(p *parcel) {
			if p.rows == nil {
				p.rows = datasets.NewFeatureBuilder(f.model.Features)
			}
			p.IDs, p.Labels = append(p.IDs, name), append(p.Labels, string(label))
			p.rows.Add(features)
		})
	})
}

func (f *readFn) scanEdges(ctx context.Context, path string, send sendFunc) error {
	return scanEdges(ctx, path, func(source, target []byte) error {
		a, b := string(source), string(target)
		put := func(from, to string) error {
			return send(from, 2, func(p *parcel) { p.A, p.B = append(p.A, from), append(p.B, to) })
		}
		if err := put(a, b); err != nil || a == b { // a loop, once
			return err
		}
		return put(b, a)
	})
}

// parcels reads what goes to a shard.
func (r *run) parcels(shard int, names func(*string) bool) (all []parcel, err error) {
	for name := ""; names(&name); {
		f, err := r.read(graphStep, name)
		if err != nil {
			return nil, err
		}
		ends, raw := get[int64](f, "ends"), get[uint8](f, "parcels")
		if f.err != nil {
			return nil, f.err
		}
		var p parcel
		if err := gob.NewDecoder(bytes.NewReader(raw[ends[shard]:ends[shard+1]])).Decode(&p); err != nil {
			return nil, fmt.Errorf("%s: %w: run the same program everywhere", r.path(graphStep, name), err)
		}
		all = append(all, p)
	}
	return all, nil
}

// nodesFn writes a shard's nodes, with their neighbours by name.
type nodesFn struct{ run }

// ProcessElement joins the nodes and edges of a shard, and emits whether it has nodes.
func (f *nodesFn) ProcessElement(ctx context.Context, shard int, names func(*string) bool) (_ int, there bool, err error) {
	err = f.guard(ctx, func() error {
		there, err = f.write(shard, names)
		return err
	})
	return shard, there, err
}

func (f *nodesFn) write(shard int, names func(*string) bool) (there bool, err error) {
	all, err := f.parcels(shard, names)
	if err != nil {
		return false, err
	}
	known, err := f.ofCache()
	if err != nil {
		return false, err
	}
	type node struct {
		id, label   string
		parcel, row int
	}
	var found []node
	near := map[string][]string{}
	for i, p := range all {
		for j, id := range p.IDs {
			found = append(found, node{id, p.Labels[j], i, j})
		}
		for j, a := range p.A {
			near[a] = append(near[a], p.B[j])
		}
	}
	// By their ids, so that who writes a shard again writes the same.
	slices.SortFunc(found, func(a, b node) int { return cmp.Compare(a.id, b.id) })
	var ids, labels, ends []string
	var counts Counts
	offsets := make([]int64, 1, len(found)+1)
	x, row := datasets.NewFeatureBuilder(f.model.Features), []float32(nil)
	for i, v := range found {
		if i > 0 && v.id == ids[i-1] {
			return false, fmt.Errorf("the id %.80q is there twice in the files of nodes: ids must differ", v.id)
		}
		if _, trained := known[v.id]; trained {
			return false, fmt.Errorf("node %.80q is one that the model was trained on: only nodes that are new can be "+
				"predicted from a cache", v.id)
		}
		row = all[v.parcel].Features.Row(v.row, row)
		if f.model.Settings.NormalizeFeatures {
			datasets.NormalizeRow(row)
		}
		x.Add(row)
		ids, labels = append(ids, v.id), append(labels, v.label)
		ends = append(ends, counts.different(v.id, near[v.id])...)
		offsets = append(offsets, int64(len(ends)))
		delete(near, v.id)
	}
	for id := range near {
		if _, trained := known[id]; trained {
			continue
		}
		files := "which no file of nodes has"
		if f.Cache != "" {
			files = "which is neither in the files of nodes nor among the nodes that the model knew"
		}
		return false, fmt.Errorf("an edge names node %.80q, %s: add it there, or remove the edge", id, files)
	}
	if len(ids) == 0 {
		return false, nil
	}
	file := f.create(graphStep, f.file(nodes, shard))
	addTexts(file, "ids", ids)
	addTexts(file, "labels", labels)
	addFeatures(file, x.Finish())
	add(file, "counts", []int64{int64(len(ids)), counts.Edges, counts.Loops, counts.Repeats})
	if err := file.WriteFile(f.path(graphStep, f.file(nodes, shard))); err != nil {
		return false, err
	}
	file = f.create(graphStep, f.file(named, shard))
	addTexts(file, "near", ends)
	add(file, "offsets", offsets)
	return true, file.WriteFile(f.path(graphStep, f.file(named, shard)))
}

// ofCache returns the numbers of the nodes that the model knew; nil without a cache.
func (r *run) ofCache() (map[string]int32, error) {
	if r.Cache == "" || r.known != nil {
		return r.known, nil
	}
	c, err := r.cached()
	r.known = make(map[string]int32, len(c.IDs))
	for i, id := range c.IDs {
		r.known[id] = int32(i)
	}
	return r.known, err
}

// different returns a node's neighbours without itself, each once, and counts edges where they are seen from their lesser
// end.
func (c *Counts) different(v string, ids []string) []string {
	slices.Sort(ids)
	count := func(listed int64) int64 {
		for _, u := range ids {
			if v < u {
				listed++
			}
			if v == u {
				c.Loops++
			}
		}
		return listed
	}
	listed := count(0)
	ids = slices.DeleteFunc(slices.Compact(ids), func(u string) bool { return u == v })
	once := count(0)
	c.Edges += once
	c.Repeats += listed - once
	return ids
}

// near is a shard's part of the graph: node v's neighbours are at indices[offsets[v]:offsets[v+1]], the shard's own nodes
// by their number, others behind them in the order of halo.
type near struct {
	offsets          []int64
	indices, degrees []int32
	halo             []int64 // references, ascending
}

// A reference is a node's shard, or the number of shards for a node of the cache, and its number there.
func reference(shard, node int) int64 { return int64(shard)<<32 | int64(node) }

func referred(ref int64) (shard int, node int32) { return int(ref >> 32), int32(ref) }

func (r *run) near(shard int) (n near, err error) {
	f, err := r.read(graphStep, r.file(neighbours, shard))
	if err != nil {
		return n, err
	}
	return near{get[int64](f, "offsets"), get[int32](f, "indices"), get[int32](f, "degrees"), get[int64](f, "halo")}, f.err
}

// nearFn writes where the neighbours of a shard's nodes lie.
type nearFn struct {
	run
	Apart bool // new nodes see those of the cache alone
}

// ProcessElement looks a shard's neighbours up in the shards that they belong to, all of which are written.
func (f *nearFn) ProcessElement(ctx context.Context, shard int, written func(*bool) bool) (int, bool, error) {
	there := false
	if !written(&there) || !there {
		return shard, false, nil
	}
	return shard, true, f.guard(ctx, func() error { return f.write(shard) })
}

func (f *nearFn) write(shard int) error {
	file, err := f.read(graphStep, f.file(named, shard))
	if err != nil {
		return err
	}
	names, ends := getTexts(file, "near"), get[int64](file, "offsets")
	if file.err != nil {
		return file.err
	}
	refs, err := f.lookUp(names)
	if err != nil {
		return err
	}
	n := near{offsets: make([]int64, 1, len(ends))}
	leftOut := func(ref int64) bool { return f.Apart && ref < reference(f.Shards, 0) }
	for _, ref := range refs {
		if of, _ := referred(ref); of != shard && !leftOut(ref) {
			n.halo = append(n.halo, ref)
		}
	}
	slices.Sort(n.halo)
	n.halo = slices.Compact(n.halo)
	own := len(ends) - 1
	at := make(map[int64]int32, len(n.halo))
	for i, ref := range n.halo {
		at[ref] = int32(own + i)
	}
	for v := range own {
		for _, ref := range refs[ends[v]:ends[v+1]] {
			of, number := referred(ref)
			if of != shard {
				number = at[ref]
			}
			if !leftOut(ref) {
				n.indices = append(n.indices, number)
			}
		}
		n.offsets = append(n.offsets, int64(len(n.indices)))
		n.degrees = append(n.degrees, int32(n.offsets[v+1]-n.offsets[v]))
	}
	to := f.create(graphStep, f.file(neighbours, shard))
	add(to, "offsets", n.offsets)
	add(to, "indices", n.indices)
	add(to, "degrees", n.degrees)
	add(to, "halo", n.halo)
	return to.WriteFile(f.path(graphStep, f.file(neighbours, shard)))
}

// lookUp returns where nodes lie.
func (f *nearFn) lookUp(names []string) ([]int64, error) {
	known, err := f.ofCache()
	if err != nil {
		return nil, err
	}
	refs, left := make([]int64, len(names)), make([][]int32, f.Shards)
	for i, u := range names {
		if number, trained := known[u]; trained {
			refs[i] = reference(f.Shards, int(number))
		} else {
			left[f.shardOf(u)] = append(left[f.shardOf(u)], int32(i))
		}
	}
	for of, places := range left {
		if len(places) == 0 {
			continue
		}
		file, err := f.read(graphStep, f.file(nodes, of))
		if err != nil {
			return nil, err
		}
		numbers := map[string]int{}
		for v, id := range getTexts(file, "ids") {
			numbers[id] = v
		}
		if file.err != nil {
			return nil, file.err
		}
		for _, i := range places {
			number, there := numbers[names[i]]
			if !there {
				return nil, fmt.Errorf("%s: node %.80q is not there: the files in the work folder do not belong together: "+
					"delete it", f.path(graphStep, f.file(nodes, of)), names[i])
			}
			refs[i] = reference(of, number)
		}
	}
	return refs, nil
}

// buildGraph reads a graph and writes its shards.
func buildGraph(s beam.Scope, r run, in Input, apart bool) {
	files := func(of string, paths []string) beam.PCollection {
		numbers := make([]int, len(paths))
		for i := range numbers {
			numbers[i] = i
		}
		f := &readFn{run: r, Files: paths, Edges: of == "edges"}
		return beam.ParDo(s.Scope(of), f, beam.Reshuffle(s, beam.CreateList(s, numbers)))
	}
	dealt := beam.GroupByKey(s, beam.Flatten(s, files("nodes", in.Nodes), files("edges", in.Edges)))
	written := beam.GroupByKey(s, beam.ParDo(s.Scope("shards"), &nodesFn{r}, dealt))
	end(s, beam.ParDo(s.Scope("near"), &nearFn{r, apart}, written))
}

// endFn takes what says that a shard is written.
func endFn(int, func(*bool) bool) {}

// end ends a pipeline behind what writes shards. While a function without output works, Prism's loops never rest.
func end(s beam.Scope, written beam.PCollection) {
	beam.ParDo0(s.Scope("end"), endFn, beam.GroupByKey(s, written))
}
