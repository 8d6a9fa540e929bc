package layerwise

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"nodemask/datasets"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/internal/safetensors"
)

// Files of a shard: its nodes, from the step of the graph on; the ids of their neighbours; where these lie.
const (
	nodesKind = "rows"
	namesKind = "names"
	nearKind  = "near"
)

var shardKind = safetensors.Kind{Name: "shard", Remedy: "delete the folder and run the command again"}

// run is what all functions on workers know: where the shards are, which files are of this run, and its model.
type run struct {
	Work, Key string
	Shards    int
	Saved     []byte // the model, by encodeModel
	Cache     string // file of the model's cache; "": none

	model *cached.Model
	cache *cached.Cache
	known map[string]int32 // its nodes' numbers
	open  map[string]*safetensors.File
}

// Setup decodes the model.
func (r *run) Setup() (err error) {
	r.open = map[string]*safetensors.File{}
	r.model, err = decodeModel(r.Saved)
	return fault(err)
}

// Teardown closes what a function has opened.
func (r *run) Teardown() error {
	var all []error
	for _, f := range r.open {
		all = append(all, f.Close())
	}
	r.open = nil
	if r.cache != nil {
		all = append(all, r.cache.Close())
		r.cache = nil
	}
	return errors.Join(all...)
}

func (r *run) folder(step string) string { return filepath.Join(r.Work, step) }

// path is where a step writes a shard: graph/rows-00003-of-00008.shard.
func (r *run) path(step, kind string, shard int) string {
	return filepath.Join(r.folder(step), fmt.Sprintf("%s-%05d-of-%05d.shard", kind, shard, r.Shards))
}

const ofKey = "of"

// of names a shard in its own metadata, so that another that was copied over it is found.
func (r *run) of(step, kind string, shard int) map[string]string {
	return map[string]string{ofKey: fmt.Sprintf("%s %s %s %d", r.Key, step, kind, shard)}
}

func (r *run) builder(step, kind string, shard int) *safetensors.Builder {
	return safetensors.New(shardKind.Name, r.of(step, kind, shard))
}

// read opens a shard and checks all of it. It stays open until Teardown.
func (r *run) read(step, kind string, shard int) (*safetensors.File, error) {
	path := r.path(step, kind, shard)
	if f := r.open[path]; f != nil {
		return f, nil
	}
	f, err := safetensors.Open(path, shardKind)
	if err == nil {
		var of string
		if of, err = f.Metadata(ofKey); err == nil && of != r.of(step, kind, shard)[ofKey] {
			err = fmt.Errorf("it is shard %.120q", of)
		}
		if err != nil {
			_ = f.Close() // the error that matters is the other one
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("a shard that a step wrote is gone: %w: delete the folder %s and run the command again",
			err, filepath.Dir(path))
	case err != nil:
		return nil, fmt.Errorf("%s: the file is damaged, or another was copied over it (%.160s): delete the folder and "+
			"run the command again", path, strings.TrimPrefix(err.Error(), path+": "))
	}
	r.open[path] = f
	return f, nil
}

// addTexts adds names as their bytes and where each ends.
func addTexts(b *safetensors.Builder, name string, all []string) {
	ends, text := make([]int64, len(all)), []byte{}
	for i, s := range all {
		text = append(text, s...)
		ends[i] = int64(len(text))
	}
	safetensors.Add(b, name+".ends", ends, len(all))
	safetensors.Add(b, name+".text", text, len(text))
}

// texts returns copies of what addTexts added.
func texts(f *safetensors.File, name string) ([]string, error) {
	ends, _, err := safetensors.Get[int64](f, name+".ends", safetensors.Any)
	if err != nil {
		return nil, err
	}
	raw, _, err := safetensors.Get[uint8](f, name+".text", safetensors.Any)
	if err != nil {
		return nil, err
	}
	text, all, begin := string(raw), make([]string, len(ends)), int64(0)
	for i, end := range ends {
		if end < begin || end > int64(len(text)) {
			return nil, fmt.Errorf("tensor %s.ends: %d after %d of %d bytes", name, end, begin, len(text))
		}
		all[i], begin = text[begin:end], end
	}
	return all, nil
}

func addFeatures(b *safetensors.Builder, x datasets.Features) {
	if !x.IsSparse() {
		safetensors.Add(b, "features", x.Dense, x.Rows, x.Width)
		return
	}
	safetensors.Add(b, "features.offsets", x.Offsets, x.Rows+1)
	safetensors.Add(b, "features.columns", x.Columns, len(x.Columns))
	safetensors.Add(b, "features.values", x.Values, len(x.Values))
}

// rowsOf returns what a layer, counted from 0, reads of all nodes of a shard, or of the cache, which comes behind the shards.
func (r *run) rowsOf(layer, shard int) (x datasets.Features, err error) {
	if shard == r.Shards {
		c, err := r.cached()
		if err != nil || layer == 0 {
			return c.Features, err
		}
		h := c.Hidden[layer-1]
		return datasets.Features{Rows: h.Rows, Width: h.Width, Dense: h.Values}, nil
	}
	f, err := r.read(layerName(layer), nodesKind, shard)
	if err != nil {
		return x, err
	}
	if !f.Has("features.offsets") {
		var shape []int
		x.Dense, shape, err = safetensors.Get[float32](f, "features", safetensors.Any, safetensors.Any)
		if err == nil {
			x.Rows, x.Width = shape[0], shape[1]
		}
		return x, err
	}
	if x.Offsets, _, err = safetensors.Get[int64](f, "features.offsets", safetensors.Any); err != nil {
		return x, err
	}
	if x.Columns, _, err = safetensors.Get[int32](f, "features.columns", safetensors.Any); err != nil {
		return x, err
	}
	x.Values, _, err = safetensors.Get[float32](f, "features.values", safetensors.Any)
	x.Rows, x.Width = len(x.Offsets)-1, r.model.Features
	return x, err
}

// degreesOf returns |N_v| of all nodes of a shard, or of the cache.
func (r *run) degreesOf(shard int) ([]int32, error) {
	if shard == r.Shards {
		c, err := r.cached()
		return c.Degrees, err
	}
	f, err := r.read(graphStep, nearKind, shard)
	if err != nil {
		return nil, err
	}
	degrees, _, err := safetensors.Get[int32](f, "degrees", safetensors.Any)
	return degrees, err
}

// cached opens the cache, once for each worker that reads some of it.
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

// near is a shard's part of the graph: node v's neighbours are at Indices[Offsets[v]:Offsets[v+1]], the shard's own nodes
// by their number, others behind them in the order of halo.
type near struct {
	offsets []int64
	indices []int32
	degrees []int32
	halo    []int64 // references, ascending
}

// A reference is a node's shard, or the number of shards for a node of the cache, and its number there.
func reference(shard int, node int) int64 { return int64(shard)<<32 | int64(node) }

func referred(ref int64) (shard int, node int32) { return int(ref >> 32), int32(ref) }

func (r *run) near(shard int) (n near, err error) {
	f, err := r.read(graphStep, nearKind, shard)
	if err != nil {
		return n, err
	}
	if n.offsets, _, err = safetensors.Get[int64](f, "offsets", safetensors.Any); err != nil {
		return n, err
	}
	if n.indices, _, err = safetensors.Get[int32](f, "indices", safetensors.Any); err != nil {
		return n, err
	}
	if n.halo, _, err = safetensors.Get[int64](f, "halo", safetensors.Any); err != nil {
		return n, err
	}
	n.degrees, err = r.degreesOf(shard)
	return n, err
}

// check returns an error unless all that a step wrote is there, as it was written.
func (r run) check(step string, shards []int) error {
	r.open = map[string]*safetensors.File{}
	defer func() { _ = r.Teardown() }() // files were only read
	kinds := []string{nodesKind}
	if step == graphStep {
		kinds = append(kinds, nearKind)
	}
	for _, kind := range kinds {
		for _, shard := range shards {
			if _, err := r.read(step, kind, shard); err != nil {
				return err
			}
		}
	}
	return nil
}

// written lists the shards of the graph.
func (r *run) written() (shards []int) {
	for shard := range r.Shards {
		if _, err := os.Stat(r.path(graphStep, nodesKind, shard)); err == nil {
			shards = append(shards, shard)
		}
	}
	return shards
}

// guard calls a function on a worker: what goes wrong in files that are mapped is an error of it.
func (r *run) guard(ctx context.Context, do func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return fault(safetensors.Guard(r.Work, do))
}
