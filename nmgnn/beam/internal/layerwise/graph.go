package layerwise

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"nodemask/datasets"
)

// An edge goes to the shards of both its nodes. Steps pass data in files, because Prism, Beam's local runner, keeps
// several copies of passed data in memory.

// parcel holds nodes of one shard, and edges between node A[i] of that shard and node B[i] of any shard.
type parcel struct {
	IDs, Labels []string
	Features    datasets.Features
	A, B        []string
}

func add(x *datasets.Features, row []float32) {
	if x.Rows == 0 {
		*x = datasets.Features{Width: len(row), Offsets: []int64{0}}
	}
	for j, value := range row {
		if value != 0 {
			x.Columns, x.Values = append(x.Columns, int32(j)), append(x.Values, value)
		}
	}
	x.Rows++
	x.Offsets = append(x.Offsets, int64(len(x.Values)))
}

func packed(x datasets.Features) datasets.Features { return x.Stored(x.Density() <= 0.25) }

// dealer splits the rows of an input file by shard, writes them to files, and emits these files' names for each shard.
type dealer struct {
	*run
	name        string
	emit        func(int, string)
	to          []parcel
	size, files int
}

// spilled is the number of feature values and ids in memory above which a [dealer] writes them to a file.
const spilled = 1 << 20

func (d *dealer) parcel(id string, grows int) (*parcel, error) {
	if d.size += grows; d.size > spilled {
		if err := d.spill(); err != nil {
			return nil, err
		}
	}
	return &d.to[d.shardOf(id)], nil
}

func (d *dealer) spill() error {
	d.files++
	file, all := fmt.Sprintf("%s-%d", d.name, d.files), make([][]byte, d.Shards)
	for shard, p := range d.to {
		if len(p.IDs)+len(p.A) == 0 {
			continue
		}
		p.Features = packed(p.Features)
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(p); err != nil {
			return err
		}
		all[shard] = b.Bytes()
		d.emit(shard, file)
	}
	d.to, d.size = make([]parcel, d.Shards), 0
	return d.write(graphStep, file, all)
}

func (r *run) shardOf(id string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return int(h.Sum32() % uint32(r.Shards))
}

const (
	ofNodes = "nodes"
	ofEdges = "edges"
)

type filesFn struct {
	run
	Kind  string
	Files []string
}

func (f *filesFn) ProcessElement(ctx context.Context, number int, emit func(int, string)) error {
	d := &dealer{run: &f.run, name: fmt.Sprintf("%s-%s-%d", sentKind, f.Kind, number), emit: emit,
		to: make([]parcel, f.Shards)}
	deal := d.nodes
	if f.Kind == ofEdges {
		deal = d.edges
	}
	return f.guard(ctx, func() error {
		if err := deal(ctx, f.Files[number]); err != nil {
			return err
		}
		return d.spill()
	})
}

func (d *dealer) nodes(ctx context.Context, path string) error {
	return datasets.ScanNodes(ctx, path, func(id, label string, features []float32) error {
		if len(features) != d.model.Features {
			return fmt.Errorf("%d features: expected %d, as the model was trained with", len(features), d.model.Features)
		}
		name := strings.Clone(id) // a substring would keep the whole line in memory
		p, err := d.parcel(name, 2+len(features))
		if err != nil {
			return err
		}
		p.IDs, p.Labels = append(p.IDs, name), append(p.Labels, strings.Clone(label))
		add(&p.Features, features)
		return nil
	})
}

func (d *dealer) edges(ctx context.Context, path string) error {
	put := func(a, b string) error {
		p, err := d.parcel(a, 2)
		if err == nil {
			p.A, p.B = append(p.A, a), append(p.B, b)
		}
		return err
	}
	return datasets.ScanEdges(ctx, path, func(source, target string) error {
		a, b := strings.Clone(source), strings.Clone(target)
		if err := put(a, b); err != nil || a == b {
			return err
		}
		return put(b, a)
	})
}

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

type nodeIDs struct {
	IDs, Labels []string
	Counts      Counts
}

// named holds a shard's edges: node v's neighbours have the ids Near[Offsets[v]:Offsets[v+1]].
type named struct {
	Offsets []int64
	Near    []string
}

type nodesFn struct{ run }

// ProcessElement gathers a shard's nodes and edges into three files. Without nodes it writes none and reports false.
func (f *nodesFn) ProcessElement(ctx context.Context, shard int, files func(*string) bool) (
	_ int, there bool, err error) {
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
	// Nodes are sorted by id, so that a shard that is written again stays the same.
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.id, b.id) })
	nodes, names := nodeIDs{Counts: Counts{Nodes: int64(len(places))}}, named{Offsets: []int64{0}}
	var x datasets.Features
	var row []float32
	for i, v := range places {
		if i > 0 && v.id == places[i-1].id {
			return false, fmt.Errorf("the id %.80q is there twice in the files of nodes: ids must differ", v.id)
		}
		if _, ok := known[v.id]; ok {
			return false, fmt.Errorf("node %.80q is one that the model was trained on: only nodes that are new can be "+
				"predicted from a cache", v.id)
		}
		row = all[v.parcel].Features.Row(v.row, row)
		if f.model.Settings.NormalizeFeatures {
			row = datasets.Features{Rows: 1, Width: len(row), Dense: row}.RowNormalized().Dense
		}
		add(&x, row)
		nodes.IDs, nodes.Labels = append(nodes.IDs, v.id), append(nodes.Labels, all[v.parcel].Labels[v.row])
		slices.Sort(near[v.id])
		for _, u := range slices.Compact(near[v.id]) {
			if u != v.id {
				names.Near = append(names.Near, u)
			}
			if v.id < u {
				nodes.Counts.Edges++
			}
		}
		names.Offsets = append(names.Offsets, int64(len(names.Near)))
		delete(near, v.id)
	}
	for id := range near {
		if _, ok := known[id]; ok {
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
	return true, cmp.Or(f.write(graphStep, f.file(idsKind, shard), nodes),
		f.write(graphStep, f.file(rowsKind, shard), packed(x)), f.write(graphStep, f.file(namesKind, shard), names))
}

// near holds a shard's edges: node v's neighbours are Refs[Offsets[v]:Offsets[v+1]], each packed by [reference].
type near struct{ Offsets, Refs []int64 }

// reference packs a shard's index and a node's index in that shard. The shard index run.Shards means that the node is
// in the model's cache.
func reference(shard, node int) int64 { return int64(shard)<<32 | int64(node) }

func referred(ref int64) (shard int, node int32) { return int(ref >> 32), int32(ref) }

type nearFn struct{ run }

// ProcessElement finds, for every neighbour of a shard's nodes, the neighbour's shard and index in that shard.
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
	n, degrees := near{names.Offsets, refs}, []int32{}
	for v, end := range names.Offsets[1:] {
		degrees = append(degrees, int32(end-names.Offsets[v]))
	}
	return cmp.Or(f.write(graphStep, f.file(nearKind, shard), n), f.write(graphStep, f.file(degreesKind, shard), degrees))
}

func (f *nearFn) lookUp(names []string) ([]int64, error) {
	known, err := f.trained()
	if err != nil {
		return nil, err
	}
	refs, left := make([]int64, len(names)), make([][]int32, f.Shards)
	for i, u := range names {
		if number, ok := known[u]; ok {
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
			number, ok := numbers[names[i]]
			if !ok {
				return nil, fmt.Errorf("%s: node %.80q is not there: the files in the work folder do not belong together: "+
					"delete it", f.path(graphStep, f.file(idsKind, of)), names[i])
			}
			refs[i] = reference(of, number)
		}
	}
	return refs, nil
}

func buildGraph(s beam.Scope, r run, in Input) {
	dealt := func(kind string, files []string) beam.PCollection {
		numbers := make([]int, len(files))
		for i := range numbers {
			numbers[i] = i
		}
		return beam.ParDo(s.Scope(kind), &filesFn{r, kind, files}, beam.Reshuffle(s, beam.CreateList(s, numbers)))
	}
	sent := beam.GroupByKey(s, beam.Flatten(s, dealt(ofNodes, in.Nodes), dealt(ofEdges, in.Edges)))
	written := beam.GroupByKey(s, beam.ParDo(s.Scope("shards"), &nodesFn{r}, sent))
	end(s, beam.ParDo(s.Scope("near"), &nearFn{r}, written))
}

func endFn(int, func(*bool) bool) {}

// end consumes the output of nearFn and layerFn, which nobody needs. These functions have an output because Prism,
// Beam's local runner, busy-loops while a function without output works.
func end(s beam.Scope, written beam.PCollection) {
	beam.ParDo0(s.Scope("end"), endFn, beam.GroupByKey(s, written))
}
