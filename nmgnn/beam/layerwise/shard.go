package layerwise

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"nodemask/datasets"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/internal/safetensors"
)

// run is what all functions on workers know: where files are, which of them are of this run, and its model.
type run struct {
	Work, Key string
	Shards    int
	Saved     []byte // the model, by encodeModel
	Cache     string // file of the model's cache; "": none

	model *cached.Model
	cache *cached.Cache
	known map[string]int32 // the cache's nodes
	open  map[string]*shardFile
}

// Setup decodes the model.
func (r *run) Setup() (err error) {
	r.open = map[string]*shardFile{}
	r.model, err = decodeModel(r.Saved)
	return fault(err)
}

// close closes what was opened.
func (r *run) close() error {
	var all []error
	for _, f := range r.open {
		all = append(all, f.Close())
	}
	if r.cache != nil {
		all = append(all, r.cache.Close())
	}
	r.open, r.cache, r.known = map[string]*shardFile{}, nil, nil
	return errors.Join(all...)
}

// guard calls a function on a worker and closes what it has opened: runners keep functions. What goes wrong in files that
// are mapped is an error of it.
func (r *run) guard(ctx context.Context, do func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return fault(errors.Join(safetensors.Guard(r.Work, do), r.close()))
}

func (r *run) folder(step string) string { return filepath.Join(r.Work, step) }

func (r *run) path(step, name string) string { return filepath.Join(r.folder(step), name) }

// Kinds of a shard's files: its nodes, with ids, labels and features in the step of the graph, and what a layer has made of
// them in its own, which the next reads as features; its part of the graph; and that with neighbours by name.
const (
	nodes      = "rows"
	neighbours = "near"
	named      = "names"
)

// file is what a shard's file is called: rows-00003-of-00008.shard.
func (r *run) file(kind string, shard int) string {
	return fmt.Sprintf("%s-%05d-of-%05d.shard", kind, shard, r.Shards)
}

var shardKind = safetensors.Kind{Name: "shard", Remedy: "delete the folder and run the command again"}

const ofKey = "of"

// create begins a file. It says what it is, so that another that was copied over it is found.
func (r *run) create(step, name string) *safetensors.Builder {
	return safetensors.New(shardKind.Name, map[string]string{ofKey: r.Key + " " + step + " " + name})
}

// shardFile is a file that create began. The first error of getting something from it stays in err.
type shardFile struct {
	*safetensors.File
	err error
}

// read opens a file and checks all of it. It stays open until close.
func (r *run) read(step, name string) (*shardFile, error) {
	path := r.path(step, name)
	if f := r.open[path]; f != nil {
		return f, nil
	}
	f, err := safetensors.Open(path, shardKind)
	if err == nil {
		of, missing := f.Metadata(ofKey)
		if err = missing; err == nil && of != r.Key+" "+step+" "+name {
			err = fmt.Errorf("it is %.120q", of)
		}
		if err != nil {
			_ = f.Close() // the error that matters is the other one
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("a shard that a step wrote is gone: %w: delete the folder %s and run the command again",
			err, r.folder(step))
	case err != nil:
		return nil, fmt.Errorf("%s: the file is damaged, or another was copied over it (%.160s): delete the folder and "+
			"run the command again", path, strings.TrimPrefix(err.Error(), path+": "))
	}
	r.open[path] = &shardFile{File: f}
	return r.open[path], nil
}

// get returns a tensor of one axis; after an error nothing.
func get[T safetensors.Number](f *shardFile, name string) (values []T) {
	if f.err == nil {
		values, _, f.err = safetensors.Get[T](f.File, name, safetensors.Any)
	}
	return values
}

func add[T safetensors.Number](b *safetensors.Builder, name string, values []T) {
	safetensors.Add(b, name, values, len(values))
}

// addTexts adds names as their bytes and where each ends.
func addTexts(b *safetensors.Builder, name string, all []string) {
	ends, text := make([]int64, len(all)), []byte{}
	for i, s := range all {
		text = append(text, s...)
		ends[i] = int64(len(text))
	}
	add(b, name+".ends", ends)
	add(b, name+".text", text)
}

// getTexts returns copies of what addTexts added.
func getTexts(f *shardFile, name string) []string {
	ends, text := get[int64](f, name+".ends"), string(get[uint8](f, name+".text"))
	all, begin := make([]string, len(ends)), int64(0)
	for i, end := range ends {
		if end < begin || end > int64(len(text)) {
			f.err = errors.Join(f.err, fmt.Errorf("%s: text %d ends at %d of %d bytes", name, i, end, len(text)))
			return nil
		}
		all[i], begin = text[begin:end], end
	}
	return all
}

func addFeatures(b *safetensors.Builder, x datasets.Features) {
	if x.IsSparse() {
		add(b, "offsets", x.Offsets)
		add(b, "columns", x.Columns)
	}
	add(b, "values", append(x.Values, x.Dense...))
	add(b, "width", []int64{int64(x.Width)})
}

// rows returns what a layer, counted from 0, reads of all nodes of a shard, or of the cache, which comes behind the shards.
func (r *run) rows(layer, shard int) (x datasets.Features, err error) {
	if shard == r.Shards {
		c, err := r.cached()
		if err != nil || layer == 0 {
			return c.Features, err
		}
		h := c.Hidden[layer-1]
		return datasets.Features{Rows: h.Rows, Width: h.Width, Dense: h.Values}, nil
	}
	f, err := r.read(layerName(layer), r.file(nodes, shard))
	if err != nil {
		return x, err
	}
	values, width := get[float32](f, "values"), get[int64](f, "width")
	if f.err == nil && (len(width) != 1 || width[0] < 1) {
		f.err = fmt.Errorf("rows of %v numbers", width)
	}
	if f.err != nil {
		return x, f.err
	}
	x.Width = int(width[0])
	if f.Has("offsets") {
		x.Offsets, x.Columns, x.Values = get[int64](f, "offsets"), get[int32](f, "columns"), values
		x.Rows = len(x.Offsets) - 1
	} else {
		x.Dense, x.Rows = values, len(values)/x.Width
	}
	return x, f.err
}

// degrees returns |N_v| of all nodes of a shard, or of the cache.
func (r *run) degrees(shard int) ([]int32, error) {
	if shard == r.Shards {
		c, err := r.cached()
		return c.Degrees, err
	}
	f, err := r.read(graphStep, r.file(neighbours, shard))
	if err != nil {
		return nil, err
	}
	return get[int32](f, "degrees"), f.err
}

// cached opens the cache, once for each function that reads some of it.
func (r *run) cached() (*cached.Cache, error) {
	if r.cache == nil {
		c, err := cached.LoadCache(r.Cache, r.model)
		if err != nil {
			return &cached.Cache{}, err
		}
		r.cache = c
	}
	return r.cache, nil
}

// check returns an error unless all that a step wrote for shards is there, as it was written. It adds up what the shards of
// the graph have counted: runners' own counters may miss some.
func (r run) check(step string, shards []int) (c Counts, err error) {
	r.open = map[string]*shardFile{}
	defer func() { _ = r.close() }() // files were only read
	for _, shard := range shards {
		f, err := r.read(step, r.file(nodes, shard))
		if err != nil {
			return c, err
		}
		if step != graphStep {
			continue
		}
		if _, err := r.read(step, r.file(neighbours, shard)); err != nil {
			return c, err
		}
		n := get[int64](f, "counts")
		if f.err != nil {
			return c, f.err
		}
		c = Counts{c.Nodes + n[0], c.Edges + n[1], c.Loops + n[2], c.Repeats + n[3]}
	}
	return c, nil
}
