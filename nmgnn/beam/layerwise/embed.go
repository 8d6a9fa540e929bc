// Package layerwise runs saved models over graphs that are too large for one machine, as pipelines of Apache Beam: each layer of
// each node once, by k rounds of joins and sums over edges.
//
// [Embed] computes every node of a graph. Each step, that of reading the graph and that of each layer, is a pipeline of its own,
// which writes its nodes to files: a step that is done is not done again when a run that was cut off starts anew. [Predict] computes nodes
// that arrive later from a cache, in one pipeline.
//
// What a layer computes of a node is package rows. Sums over neighbours are added up where they are sent from, too, so that a node with
// very many neighbours takes little more than others.
package layerwise

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"nodemask/nmgnn/beam/rows"
	"nodemask/nmgnn/cached"
)

// Options say how a graph is computed. Folders must be there for every worker, at the same path.
type Options struct {
	// Work is a folder for what is between steps. What is done there is not done again.
	Work string
	// Shards is how many files a step writes; 0: 8. A worker holds one in memory, and what is sent to it.
	Shards int
	// Progress is told of each step, and whether an earlier run had done it already; nil: nobody is.
	Progress func(step string, before bool)
	// Run runs a pipeline; nil: on the runner that Beam's flags choose.
	Run func(ctx context.Context, p *beam.Pipeline) (beam.PipelineResult, error)
}

func (o Options) withDefaults() (Options, error) {
	if o.Shards == 0 {
		o.Shards = 8
	}
	if o.Shards < 1 || o.Shards > 1<<17 {
		return o, fmt.Errorf("layerwise: %d shards: expected 1 to %d", o.Shards, 1<<17)
	}
	if o.Progress == nil {
		o.Progress = func(string, bool) {}
	}
	if o.Run == nil {
		o.Run = func(ctx context.Context, p *beam.Pipeline) (beam.PipelineResult, error) {
			return nil, beamx.Run(ctx, p)
		}
	}
	return o, nil
}

// Output says what is written.
type Output struct {
	Folder string
	// Layer is the one whose output is written, from 1 on; 0: the logits.
	Layer int
	// CSV writes CSV in place of Parquet.
	CSV bool
}

// Counts is what was read.
type Counts struct {
	Nodes   int64 `json:"nodes"`
	Edges   int64 `json:"edges"`   // different ones
	Loops   int64 `json:"loops"`   // left out
	Repeats int64 `json:"repeats"` // left out
}

// Register tells Beam what runs on workers. A program calls it once, before beam.Init.
func Register() {
	registerWire()
	registerFunctions()
}

// Embed computes every node of a graph and writes it: id, class, predicted class, its probability, and the numbers of a layer. The
// columns are those of 'nodemask embed'.
func Embed(ctx context.Context, m *cached.Model, in Input, out Output, o Options) (Counts, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Counts{}, err
	}
	if out.Layer < 0 || out.Layer > m.Settings.Layers {
		return Counts{}, fmt.Errorf("layerwise: layer %d: expected 1 to %d, or 0 for the logits", out.Layer, m.Settings.Layers)
	}
	if err := out.replaces(o.Shards, slices.Concat(in.Nodes, in.Edges)...); err != nil { // before all is computed
		return Counts{}, err
	}
	if err := checkColumns(m, in.Nodes); err != nil {
		return Counts{}, err
	}
	model, saved, err := encodeModel(m)
	if err != nil {
		return Counts{}, err
	}
	key, err := keyOf(m, in, o)
	if err != nil {
		return Counts{}, err
	}
	folder := func(name string) string { return filepath.Join(o.Work, name) }
	graph, err := step(ctx, o, key, "graph", nil, func(s beam.Scope, into string) {
		buildGraph(s, saved, in, into, o.Shards)
	})
	if err != nil {
		return graph.Counts, err
	}
	shards := graph.shards(o.Shards)
	if len(shards) == 0 {
		return graph.Counts, fmt.Errorf("%s: no nodes: expected a line for each in the files of nodes", folder("graph"))
	}
	last, steps := "graph", map[string]done{"graph": graph}
	check := func(names ...string) error {
		for _, name := range names {
			if err := steps[name].check(folder(name)); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range model.Layers() {
		name := layerName(i + 1)
		if err := check("graph", last); err != nil {
			return graph.Counts, err
		}
		if steps[name], err = step(ctx, o, key, name, shards, func(s beam.Scope, into string) {
			f := stepFn{shardFn{o.Shards}, one{Saved: saved, Layer: i}, folder(last), folder("graph")}
			shardLayer(s, f, model.Attends(i), into, shards)
		}); err != nil {
			return graph.Counts, err
		}
		last = name
	}
	shown, read := "", []string{last}
	if out.Layer > 0 {
		shown = folder(layerName(out.Layer))
		read = append(read, layerName(out.Layer))
	}
	if err := check(read...); err != nil {
		return graph.Counts, err
	}
	return graph.Counts, writeOutput(ctx, o, m, saved, folder(last), shown, out, shards)
}

// layerName is the folder of a layer's output, counted from 1.
func layerName(number int) string { return fmt.Sprintf("layer%d", number) }

// doneFile is written when a step is done, and says of what.
const doneFile = "done.json"

type done struct {
	Key    string `json:"key"`
	Counts Counts `json:"counts"`
	// Files has the checksum of each shard that the step wrote.
	Files map[string]string `json:"files"`
}

// shards lists the shards that have a node, of so many.
func (d done) shards(of int) (there []int) {
	for shard := range of {
		if _, is := d.Files[shardName("rows", shard, of)]; is {
			there = append(there, shard)
		}
	}
	return there
}

// check returns an error unless all that the step wrote is in its folder: under each name, what was written under it.
func (d done) check(folder string) error {
	for _, name := range slices.Sorted(maps.Keys(d.Files)) {
		path := filepath.Join(folder, name)
		switch sum, err := notedSum(path); {
		case err != nil:
			return fmt.Errorf("a shard that a step wrote is gone: %w: delete the folder %s and run the command again", err, folder)
		case sum != d.Files[name]:
			return fmt.Errorf("%s: the file is damaged, or another was copied over it (checksum %s: expected %s): delete the folder and run the command again",
				path, sum, d.Files[name])
		}
	}
	return nil
}

// seal lists what a step has written for its shards; nil: for those that it counted, with their neighbours.
func seal(folder string, shards []int, of int) (files map[string]string, err error) {
	kinds := []string{"rows"}
	if shards == nil {
		kinds = append(kinds, "near")
		for shard := range of {
			if _, err := os.Stat(filepath.Join(folder, countsName(shard))); err == nil {
				shards = append(shards, shard)
			}
		}
	}
	files = map[string]string{}
	for _, kind := range kinds {
		for _, shard := range shards {
			name := shardName(kind, shard, of)
			if files[name], err = notedSum(filepath.Join(folder, name)); err != nil {
				return nil, fmt.Errorf("the step is done, but a shard is missing: %w: run the command again", err)
			}
		}
	}
	return files, nil
}

// step runs a pipeline that writes shards into a folder, unless that was done before. Shards are nil for the step that finds them.
func step(ctx context.Context, o Options, key, name string, shards []int, build func(s beam.Scope, into string)) (done, error) {
	folder := filepath.Join(o.Work, name)
	var before done
	raw, err := os.ReadFile(filepath.Join(folder, doneFile))
	switch {
	case err == nil:
		if err := json.Unmarshal(raw, &before); err != nil || before.Key != key {
			return done{}, fmt.Errorf("%s: what is done there belongs to another model, other files or another number of shards: choose another folder, or delete it", folder)
		}
		if err := before.check(folder); err != nil {
			return done{}, err
		}
		o.Progress(name, true)
		return before, nil
	case !errors.Is(err, fs.ErrNotExist):
		return done{}, err
	}
	if err := claim(folder); err != nil {
		return done{}, err
	}
	p, s := beam.NewPipelineWithRoot()
	build(s, folder)
	if _, err := o.Run(ctx, p); err != nil {
		return done{}, pipelineError(ctx, name, err)
	}
	now := done{Key: key}
	if now.Counts, err = countsOf(folder); err != nil {
		return done{}, err
	}
	if now.Files, err = seal(folder, shards, o.Shards); err != nil {
		return done{}, err
	}
	raw, err = json.Marshal(now)
	if err != nil {
		return done{}, err
	}
	err = replace(filepath.Join(folder, doneFile), func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	})
	if err == nil {
		o.Progress(name, false)
	}
	return now, err
}

// begunFile marks a folder as a step's, so that nobody else's is emptied.
const begunFile = "begun"

// claim makes a folder for a step, or empties what a run that was cut off has left of it.
func claim(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	there, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	begun := slices.ContainsFunc(there, func(e fs.DirEntry) bool { return e.Name() == begunFile })
	for _, e := range there {
		if !begun {
			return fmt.Errorf("%s: %s is there, which no step has written: choose another work folder", folder, e.Name())
		}
		if e.Name() != begunFile {
			if err := os.RemoveAll(filepath.Join(folder, e.Name())); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(folder, begunFile), nil, 0o644)
}

// countsOf adds up what the shards of a step say that they counted. Runners' own counters may miss some.
func countsOf(folder string) (c Counts, err error) {
	files, err := filepath.Glob(filepath.Join(escape(folder), "counts-*.json"))
	if err != nil {
		return c, err
	}
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			return c, err
		}
		var one Counts
		if err := json.Unmarshal(raw, &one); err != nil {
			return c, fmt.Errorf("%s: %w", path, err)
		}
		c.Nodes, c.Edges, c.Loops, c.Repeats = c.Nodes+one.Nodes, c.Edges+one.Edges, c.Loops+one.Loops, c.Repeats+one.Repeats
	}
	return c, nil
}

// keyOf is a hash of all that a step depends on: the model, the files with their sizes and times, and how it is computed.
func keyOf(m *cached.Model, in Input, o Options) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, "2", m.Fingerprint(), o.Shards) // 2: what is done says which shards there are
	for _, path := range append(append([]string(nil), in.Nodes...), in.Edges...) {
		info, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%q %d %d\n", path, info.Size(), info.ModTime().UnixNano())
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// encodeModel returns a model as rows computes it, and as workers are sent it.
func encodeModel(m *cached.Model) (*rows.Model, []byte, error) {
	r, err := rows.New(m)
	if err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(m); err != nil {
		return nil, nil, fmt.Errorf("layerwise: the model: %w", err)
	}
	return r, b.Bytes(), nil
}

func decodeSaved(b []byte) (*cached.Model, error) {
	m := &cached.Model{}
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(m); err != nil {
		return nil, faultf("the model that a worker was sent cannot be read: %w: run the same program everywhere", err)
	}
	return m, nil
}

func decodeModel(b []byte) (*rows.Model, error) {
	m, err := decodeSaved(b)
	if err != nil {
		return nil, err
	}
	return rows.New(m)
}

// Errors of workers come back as text inside the text of others. Marks tell what part of it is ours.
const (
	faultBegin = "⟦"
	faultEnd   = "⟧"
)

// fault marks an error of a worker.
func fault(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s%w%s", faultBegin, err, faultEnd)
}

func faultf(format string, args ...any) error { return fault(fmt.Errorf(format, args...)) }

// pipelineError is the error of a worker in that of a pipeline, or that one if there is none.
func pipelineError(ctx context.Context, step string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text := err.Error()
	if begin := strings.Index(text, faultBegin); begin >= 0 {
		if end := strings.Index(text[begin:], faultEnd); end >= 0 {
			return errors.New(text[begin+len(faultBegin) : begin+end])
		}
	}
	return fmt.Errorf("layerwise: %s: %w", step, err)
}
