package layerwise

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
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
	f.to, f.size = make([]parcel, f.Shards), 0
	defer func() { f.to = nil }() // runners keep functions
	scan, spills := f.scanNodes, 0
	if f.Edges {
		scan = f.scanEdges
	}
	spill := func() error {
		spills++
		return f.spill(fmt.Sprintf("%s-%d-%d-edges=%t", sentKind, number, spills, f.Edges), emit)
	}
	return f.guard(ctx, func() error {
		err := scan(ctx, f.Files[number], func(id string, grows int, put func(*parcel)) error {
			put(&f.to[f.shardOf(id)])
			if f.size += grows; f.size < spilled {
				return nil
			}
			return spill()
		})
		if err != nil {
			return err
		}
		return spill()
	})
}

func (f *readFn) spill(file string, emit func(int, string)) error {
	all := make([][]byte, f.Shards)
	for shard, p := range f.to {
		if len(p.IDs)+len(p.A) == 0 {
			continue
		}
		if p.rows != nil {
			p.Features = p.rows.Finish()
		}
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(p); err != nil {
			return err
		}
		all[shard] = b.Bytes()
		emit(shard, file)
	}
	f.to, f.size = make([]parcel, f.Shards), 0
	return f.write(graphStep, file, all)
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
func (r *run) parcels(shard int, files func(*string) bool) (all []parcel, err error) {
	for file := ""; files(&file); {
		var sent [][]byte
		var p parcel
		if err := r.read(graphStep, file, &sent); err != nil {
			return nil, err
		}
		if err := gob.NewDecoder(bytes.NewReader(sent[shard])).Decode(&p); err != nil {
			return nil, fmt.Errorf("%s: %w: run the same program everywhere", r.path(graphStep, file), err)
		}
		all = append(all, p)
	}
	return all, nil
}

// nodeIDs are a shard's nodes by number, and what was counted there.
type nodeIDs struct {
	IDs, Labels []string
	Counts      Counts
}

// named is a shard's part of the graph with neighbours by name: node v's are Near[Offsets[v]:Offsets[v+1]].
type named struct {
	Offsets []int64
	Near    []string
}

// nodesFn writes a shard's nodes, with their neighbours by name.
type nodesFn struct{ run }

// ProcessElement joins the nodes and edges of a shard, and emits whether it has nodes.
func (f *nodesFn) ProcessElement(ctx context.Context, shard int, files func(*string) bool) (_ int, there bool, err error) {
	err = f.guard(ctx, func() error {
		there, err = f.join(shard, files)
		return err
	})
	return shard, there, err
}

func (f *nodesFn) join(shard int, files func(*string) bool) (there bool, err error) {
	all, err := f.parcels(shard, files)
	if err != nil {
		return false, err
	}
	known, err := f.trained()
	if err != nil {
		return false, err
	}
	type place struct {
		id          string
		parcel, row int
	}
	var places []place
	near := map[string][]string{}
	for i, p := range all {
		for j, id := range p.IDs {
			places = append(places, place{id, i, j})
		}
		for j, a := range p.A {
			near[a] = append(near[a], p.B[j])
		}
	}
	// By their ids, so that who writes a shard again writes the same.
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.id, b.id) })
	nodes, names := nodeIDs{Counts: Counts{Nodes: int64(len(places))}}, named{Offsets: []int64{0}}
	x, row := datasets.NewFeatureBuilder(f.model.Features), []float32(nil)
	for i, v := range places {
		if i > 0 && v.id == places[i-1].id {
			return false, fmt.Errorf("the id %.80q is there twice in the files of nodes: ids must differ", v.id)
		}
		if _, is := known[v.id]; is {
			return false, fmt.Errorf("node %.80q is one that the model was trained on: only nodes that are new can be "+
				"predicted from a cache", v.id)
		}
		row = all[v.parcel].Features.Row(v.row, row)
		if f.model.Settings.NormalizeFeatures {
			datasets.NormalizeRow(row)
		}
		x.Add(row)
		nodes.IDs, nodes.Labels = append(nodes.IDs, v.id), append(nodes.Labels, all[v.parcel].Labels[v.row])
		names.Near = append(names.Near, nodes.Counts.different(v.id, near[v.id])...)
		names.Offsets = append(names.Offsets, int64(len(names.Near)))
		delete(near, v.id)
	}
	for id := range near {
		if _, is := known[id]; is {
			continue
		}
		where := "which no file of nodes has"
		if f.Cache != "" {
			where = "which is neither in the files of nodes nor among the nodes that the model knew"
		}
		return false, fmt.Errorf("an edge names node %.80q, %s: add it there, or remove the edge", id, where)
	}
	if len(places) == 0 {
		return false, nil
	}
	return true, errors.Join(f.write(graphStep, f.file(idsKind, shard), nodes),
		f.write(graphStep, f.file(rowsKind, shard), x.Finish()), f.write(graphStep, f.file(namesKind, shard), names))
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

// near is a shard's part of the graph: node v's neighbours are Indices[Offsets[v]:Offsets[v+1]], the shard's own nodes by
// their number, others behind them in the order of Halo.
type near struct {
	Offsets []int64
	Indices []int32
	Halo    []int64 // references, ascending
}

// A reference is a node's shard, or the number of shards for a node of the cache, and its number there.
func reference(shard, node int) int64 { return int64(shard)<<32 | int64(node) }

func referred(ref int64) (shard int, node int32) { return int(ref >> 32), int32(ref) }

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
	return shard, true, f.guard(ctx, func() error { return f.find(shard) })
}

func (f *nearFn) find(shard int) error {
	var names named
	if err := f.read(graphStep, f.file(namesKind, shard), &names); err != nil {
		return err
	}
	refs, err := f.lookUp(names.Near)
	if err != nil {
		return err
	}
	n := near{Offsets: []int64{0}}
	leftOut := func(ref int64) bool { return f.Apart && ref < reference(f.Shards, 0) }
	for _, ref := range refs {
		if of, _ := referred(ref); of != shard && !leftOut(ref) {
			n.Halo = append(n.Halo, ref)
		}
	}
	slices.Sort(n.Halo)
	n.Halo = slices.Compact(n.Halo)
	own := len(names.Offsets) - 1
	at := make(map[int64]int32, len(n.Halo))
	for i, ref := range n.Halo {
		at[ref] = int32(own + i)
	}
	var degrees []int32
	for v := range own {
		for _, ref := range refs[names.Offsets[v]:names.Offsets[v+1]] {
			of, number := referred(ref)
			if of != shard {
				number = at[ref]
			}
			if !leftOut(ref) {
				n.Indices = append(n.Indices, number)
			}
		}
		n.Offsets = append(n.Offsets, int64(len(n.Indices)))
		degrees = append(degrees, int32(n.Offsets[v+1]-n.Offsets[v]))
	}
	return errors.Join(f.write(graphStep, f.file(nearKind, shard), n), f.write(graphStep, f.file(degreesKind, shard), degrees))
}

// lookUp returns where nodes lie.
func (f *nearFn) lookUp(names []string) ([]int64, error) {
	known, err := f.trained()
	if err != nil {
		return nil, err
	}
	refs, left := make([]int64, len(names)), make([][]int32, f.Shards)
	for i, u := range names {
		if number, is := known[u]; is {
			refs[i] = reference(f.Shards, int(number))
		} else {
			left[f.shardOf(u)] = append(left[f.shardOf(u)], int32(i))
		}
	}
	for of, places := range left {
		if len(places) == 0 {
			continue
		}
		var nodes nodeIDs
		if err := f.read(graphStep, f.file(idsKind, of), &nodes); err != nil {
			return nil, err
		}
		numbers := make(map[string]int, len(nodes.IDs))
		for v, id := range nodes.IDs {
			numbers[id] = v
		}
		for _, i := range places {
			number, there := numbers[names[i]]
			if !there {
				return nil, fmt.Errorf("%s: node %.80q is not there: the files in the work folder do not belong together: "+
					"delete it", f.path(graphStep, f.file(idsKind, of)), names[i])
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
	sent := beam.GroupByKey(s, beam.Flatten(s, files("nodes", in.Nodes), files("edges", in.Edges)))
	written := beam.GroupByKey(s, beam.ParDo(s.Scope("shards"), &nodesFn{r}, sent))
	end(s, beam.ParDo(s.Scope("near"), &nearFn{r, apart}, written))
}

// endFn takes what says that a shard is written.
func endFn(int, func(*bool) bool) {}

// end ends a pipeline behind what writes shards. While a function without output works, Prism's loops never rest.
func end(s beam.Scope, written beam.PCollection) {
	beam.ParDo0(s.Scope("end"), endFn, beam.GroupByKey(s, written))
}
