package layerwise

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"nodemask/datasets"
	"nodemask/internal/ended"
	"nodemask/internal/wholefile"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/internal/safetensors"
)

// run's exported fields are what Beam sends to each worker.
type run struct {
	Work, Key string
	Shards    int
	Saved     []byte // the model, encoded
	Cache     string // the file with the model's cache; "" means no cache

	model *cached.Model
	cache *cached.Cache
	known map[string]int32 // each cached node's position in the cache, by the node's id
}

func (r *run) Setup() error {
	r.model = &cached.Model{}
	if err := gob.NewDecoder(bytes.NewReader(r.Saved)).Decode(r.model); err != nil {
		return fault(fmt.Errorf("the model that a worker was sent cannot be read: %w: run the same program everywhere", err))
	}
	return nil
}

func (r *run) Teardown() error {
	if r.cache == nil {
		return nil
	}
	defer func() { r.cache = nil }()
	return r.cache.Close()
}

// turns limits a worker to one shard per CPU at a time; otherwise, Beam's runner Prism would load all shards at once.
var turns = make(chan struct{}, runtime.GOMAXPROCS(0))

// A fault in the memory-mapped cache becomes an error.
func (r *run) guard(ctx context.Context, do func() error) error {
	select {
	case <-ctx.Done():
		return ended.Err(ctx)
	case turns <- struct{}{}:
	}
	defer func() { <-turns }()
	return fault(safetensors.Guard(r.Cache, do))
}

const (
	idsKind     = "ids"     // nodeIDs
	rowsKind    = "rows"    // datasets.Features: the nodes' features, or a layer's output
	namesKind   = "names"   // named
	nearKind    = "near"    // near
	degreesKind = "degrees" // []int32, |N_v| per node
	sentKind    = "sent"    // [][]byte, encoded parcels by shard
)

func (r *run) file(kind string, shard int) string {
	return fmt.Sprintf("%s-%05d-of-%05d.shard", kind, shard, r.Shards)
}

func (r *run) path(step, file string) string { return filepath.Join(r.Work, step, file) }

// r.of returns the header of a step's file. The header contains the file's name, so that [run.read] notices if another
// file was copied over this file.
func (r *run) of(step, file string) string { return r.Key + " " + step + " " + file }

func (r *run) write(step, file string, value any) error {
	path := r.path(step, file)
	err := wholefile.Write(path, 0o644, func(w io.Writer) error {
		sum := sha256.New()
		to := gob.NewEncoder(io.MultiWriter(w, sum))
		if err := cmp.Or(to.Encode(r.of(step, file)), to.Encode(value)); err != nil {
			return err
		}
		_, err := w.Write(sum.Sum(nil))
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// read decodes a step's file into value, a pointer. If value is nil, read only checks the file.
func (r *run) read(step, file string, value any) error {
	path := r.path(step, file)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("a shard that a step wrote is gone: %w: delete the folder %s and run the command again",
			err, filepath.Dir(path))
	}
	if err != nil {
		return err
	}
	size := max(0, len(raw)-sha256.Size)
	if sum := sha256.Sum256(raw[:size]); !bytes.Equal(sum[:], raw[size:]) {
		err = fmt.Errorf("checksum %x: expected %x", sum[:4], raw[size:min(size+4, len(raw))])
	}
	var of string
	from := gob.NewDecoder(bytes.NewReader(raw[:size]))
	if err == nil {
		err = from.Decode(&of)
	}
	if err == nil && of != r.of(step, file) {
		err = fmt.Errorf("it is %.120q", of)
	}
	if err == nil && value != nil {
		err = from.Decode(value)
	}
	if err != nil {
		return fmt.Errorf("%s: the file is damaged, or another was copied over it (%w): delete the folder and run the "+
			"command again", path, err)
	}
	return nil
}

func (r *run) check(step string, shards []int) (c Counts, err error) {
	for _, shard := range shards {
		var n nodeIDs
		err := r.read(step, r.file(rowsKind, shard), nil)
		if err == nil && step == graphStep {
			err = cmp.Or(r.read(step, r.file(nearKind, shard), nil), r.read(step, r.file(degreesKind, shard), nil),
				r.read(step, r.file(idsKind, shard), &n))
		}
		if err != nil {
			return c, err
		}
		c.Nodes, c.Edges = c.Nodes+n.Counts.Nodes, c.Edges+n.Counts.Edges
	}
	return c, nil
}

// rows returns the rows of a layer's input that belong to a shard's nodes. Layers and shards count from 0. The shard
// number r.Shards stands for the nodes in the model's cache.
func (r *run) rows(layer, shard int) (x datasets.Features, err error) {
	if shard < r.Shards {
		return x, r.read(layerName(layer), r.file(rowsKind, shard), &x)
	}
	c, err := r.cached()
	if err != nil || layer == 0 {
		return c.Features, err
	}
	h := c.Hidden[layer-1]
	return datasets.Features{Rows: h.Rows, Width: h.Width, Dense: h.Values}, nil
}

func (r *run) degrees(shard int) (all []int32, err error) {
	if shard < r.Shards {
		return all, r.read(graphStep, r.file(degreesKind, shard), &all)
	}
	c, err := r.cached()
	return c.Degrees, err
}

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

// trained returns a map from each cached node's id to the node's position in the cache, or nil without a cache.
func (r *run) trained() (map[string]int32, error) {
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
