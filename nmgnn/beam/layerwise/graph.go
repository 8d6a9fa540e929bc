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
	"nodemask/nmgnn/internal/safetensors"
)

// The step of the graph sends nodes, and edges both ways, to the shards that their ids give, in batches: a runner's work for
// an element is many times that of a node. All that comes behind reads shards where they were written, and shuffles nothing.

// batch is how many numbers and ids go to a shard at once.
const batch = 1 << 16

// parcel is some of what goes to a shard: nodes, or edges from the shard's nodes A to B.
type parcel struct {
	IDs, Labels []string
	Features    datasets.Features
	A, B        []string

	rows *datasets.FeatureBuilder
	size int
}

// parcels collects what goes to each shard.
type parcels struct {
	run  *run
	to   []parcel
	emit func(int, []byte)
}

// add changes what goes to a node's shard, which grows by so many numbers and ids, and sends it if it is large.
func (p *parcels) add(id string, grows int, change func(*parcel)) error {
	shard := p.run.shardOf(id)
	change(&p.to[shard])
	if p.to[shard].size += grows; p.to[shard].size < batch {
		return nil
	}
	return p.send(shard)
}

func (p *parcels) send(shard int) error {
	one := p.to[shard]
	p.to[shard] = parcel{}
	if one.size == 0 {
		return nil
	}
	if one.rows != nil {
		one.Features = one.rows.Finish()
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(one); err != nil {
		return err
	}
	p.emit(shard, b.Bytes())
	return nil
}

func (r *run) shardOf(id string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // cannot fail
	return int(h.Sum32() % uint32(r.Shards))
}

// readFn reads files of nodes or edges.
type readFn struct {
	run
	Edges bool
}

// ProcessElement emits what a file has for each shard.
func (f *readFn) ProcessElement(ctx context.Context, path string, emit func(int, []byte)) error {
	to := &parcels{&f.run, make([]parcel, f.Shards), emit}
	scan := f.nodes
	if f.Edges {
		scan = f.edges
	}
	err := scan(ctx, path, to)
	for shard := 0; shard < f.Shards && err == nil; shard++ {
		err = to.send(shard)
	}
	return fault(err)
}

func (f *readFn) nodes(ctx context.Context, path string, to *parcels) error {
	return scanNodes(ctx, path, func(id, label []byte, features []float32) error {
		if len(features) != f.model.Features {
			return fmt.Errorf("%d features: expected %d, as the model was trained with", len(features), f.model.Features)
		}
		name := string(id)
		return to.add(name, 2+len(features), func(p *parcel) {
			if p.rows == nil {
				p.rows = datasets.NewFeatureBuilder(f.model.Features)
			}
			p.IDs, p.Labels = append(p.IDs, name), append(p.Labels, string(label))
			p.rows.Add(features)
		})
	})
}

func (f *readFn) edges(ctx context.Context, path string, to *parcels) error {
	return scanEdges(ctx, path, func(source, target []byte) error {
		ends := [2]string{string(source), string(target)}
		for i, a := range ends {
			if i == 1 && a == ends[0] {
				break // a loop, once
			}
			if err := to.add(a, 2, func(p *parcel) { p.A, p.B = append(p.A, a), append(p.B, ends[1-i]) }); err != nil {
				return err
			}
		}
		return nil
	})
}

// nodesFn writes a shard's nodes, and their neighbours by name.
type nodesFn struct{ run }

// ProcessElement joins the nodes and edges of a shard.
func (f *nodesFn) ProcessElement(ctx context.Context, shard int, some func(*[]byte) bool) (int, bool, error) {
	there := false
	err := f.guard(ctx, func() (err error) {
		there, err = f.write(shard, some)
		return err
	})
	return shard, there, err
}

// write reports whether the shard has nodes.
func (f *nodesFn) write(shard int, some func(*[]byte) bool) (bool, error) {
	names := map[string][]string{}
	var all []parcel
	type place struct{ parcel, row int }
	var places []place
	for raw := []byte(nil); some(&raw); {
		var p parcel
		if err := gob.NewDecoder(bytes.NewReader(raw)).Decode(&p); err != nil {
			return false, fmt.Errorf("a message between workers is damaged (%w): run the command again", err)
		}
		for i, a := range p.A {
			names[a] = append(names[a], p.B[i])
		}
		p.A, p.B = nil, nil
		for i := range p.IDs {
			places = append(places, place{len(all), i})
		}
		all = append(all, p)
	}
	id := func(p place) string { return all[p.parcel].IDs[p.row] }
	// By their ids, so that who writes a shard again writes the same.
	slices.SortFunc(places, func(p, q place) int { return cmp.Compare(id(p), id(q)) })
	known, err := f.ofCache()
	if err != nil {
		return false, err
	}
	var ids, labels, near []string
	var counts Counts
	ends := make([]int64, 1, len(places)+1)
	x, row := datasets.NewFeatureBuilder(f.model.Features), []float32(nil)
	for i, p := range places {
		v := id(p)
		if i > 0 && v == ids[i-1] {
			return false, fmt.Errorf("the id %.80q is there twice in the files of nodes: ids must differ", v)
		}
		if _, is := known[v]; is {
			return false, fmt.Errorf("node %.80q is one that the model was trained on: only nodes that are new can be predicted from "+
				"a cache", v)
		}
		row = all[p.parcel].Features.Row(p.row, row)
		if f.model.Settings.NormalizeFeatures {
			datasets.NormalizeRow(row)
		}
		x.Add(row)
		ids, labels = append(ids, v), append(labels, all[p.parcel].Labels[p.row])
		near = append(near, counts.different(v, names[v])...)
		ends = append(ends, int64(len(near)))
		delete(names, v)
	}
	for v := range names {
		if _, is := known[v]; is {
			continue
		}
		if f.Cache != "" {
			return false, fmt.Errorf("an edge names node %.80q, which is neither in the files of nodes nor among the nodes that the "+
				"model knew: add it there, or remove the edge", v)
		}
		return false, fmt.Errorf("an edge names node %.80q, which no file of nodes has: add it there, or remove the edge", v)
	}
	if len(ids) == 0 {
		return false, nil
	}
	file := f.builder(graphStep, nodesKind, shard)
	addTexts(file, "ids", ids)
	addTexts(file, "labels", labels)
	addFeatures(file, x.Finish())
	counts.Nodes = int64(len(ids))
	safetensors.Add(file, "counts", []int64{counts.Nodes, counts.Edges, counts.Loops, counts.Repeats}, 4)
	if err := file.WriteFile(f.path(graphStep, nodesKind, shard)); err != nil {
		return false, err
	}
	file = f.builder(graphStep, namesKind, shard)
	addTexts(file, "near", near)
	safetensors.Add(file, "offsets", ends, len(ends))
	return true, file.WriteFile(f.path(graphStep, namesKind, shard))
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
	listed := int64(0)
	for _, u := range ids {
		switch strings.Compare(u, v) {
		case 0:
			c.Loops++
		case 1:
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
	file, err := f.read(graphStep, namesKind, shard)
	if err != nil {
		return err
	}
	names, err := texts(file, "near")
	if err != nil {
		return err
	}
	ends, _, err := safetensors.Get[int64](file, "offsets", safetensors.Any)
	if err != nil {
		return err
	}
	refs, err := f.lookUp(names)
	if err != nil {
		return err
	}
	n := near{offsets: make([]int64, 1, len(ends))}
	for _, ref := range refs {
		if of, _ := referred(ref); of != shard && !f.leftOut(ref) {
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
			if f.leftOut(ref) {
				continue
			}
			of, number := referred(ref)
			if of != shard {
				number = at[ref]
			}
			n.indices = append(n.indices, number)
		}
		n.offsets = append(n.offsets, int64(len(n.indices)))
		n.degrees = append(n.degrees, int32(n.offsets[v+1]-n.offsets[v]))
	}
	to := f.builder(graphStep, nearKind, shard)
	safetensors.Add(to, "offsets", n.offsets, len(n.offsets))
	safetensors.Add(to, "indices", n.indices, len(n.indices))
	safetensors.Add(to, "degrees", n.degrees, len(n.degrees))
	safetensors.Add(to, "halo", n.halo, len(n.halo))
	return to.WriteFile(f.path(graphStep, nearKind, shard))
}

func (f *nearFn) leftOut(ref int64) bool {
	of, _ := referred(ref)
	return f.Apart && of < f.Shards
}

// lookUp returns where nodes lie.
func (f *nearFn) lookUp(names []string) ([]int64, error) {
	known, err := f.ofCache()
	if err != nil {
		return nil, err
	}
	refs, left := make([]int64, len(names)), make([][]int32, f.Shards)
	for i, u := range names {
		if number, is := known[u]; is {
			refs[i] = reference(f.Shards, int(number))
			continue
		}
		of := f.shardOf(u)
		left[of] = append(left[of], int32(i))
	}
	for of, places := range left {
		if len(places) == 0 {
			continue
		}
		file, err := f.read(graphStep, nodesKind, of)
		if err != nil {
			return nil, err
		}
		ids, err := texts(file, "ids")
		if err != nil {
			return nil, err
		}
		numbers := make(map[string]int32, len(ids))
		for v, id := range ids {
			numbers[id] = int32(v)
		}
		for _, i := range places {
			number, is := numbers[names[i]]
			if !is {
				return nil, fmt.Errorf("%s: node %.80q is not there: the files in the work folder do not belong together: "+
					"delete it", f.path(graphStep, nodesKind, of), names[i])
			}
			refs[i] = reference(of, int(number))
		}
	}
	return refs, nil
}

// buildGraph reads a graph and writes its shards.
func buildGraph(s beam.Scope, r run, in Input, apart bool) {
	files := func(of string, paths []string) beam.PCollection {
		f := &readFn{r, of == "edges"}
		return beam.ParDo(s.Scope(of), f, beam.Reshuffle(s, beam.CreateList(s, paths)))
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
