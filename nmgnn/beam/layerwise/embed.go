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
	model, saved, err := encodeModel(m)
	if err != nil {
		return Counts{}, err
	}
	key, err := keyOf(m, in, o)
	if err != nil {
		return Counts{}, err
	}
	folder := func(name string) string { return filepath.Join(o.Work, name) }
	counts, err := step(ctx, o, key, "graph", func(s beam.Scope, into string) error {
		buildGraph(s, saved, in, into, o.Shards)
		return nil
	})
	if err != nil {
		return counts, err
	}
	shards, err := shardsIn(folder("graph"), o.Shards)
	if err != nil {
		return counts, err
	}
	last := "graph"
	for i := range model.Layers() {
		name := layerName(i + 1)
		if _, err := step(ctx, o, key, name, func(s beam.Scope, into string) error {
			f := stepFn{shardFn{o.Shards}, one{Saved: saved, Layer: i}, folder(last), folder("graph")}
			shardLayer(s, f, model.Attends(i), into, shards)
			return nil
		}); err != nil {
			return counts, err
		}
		last = name
	}
	shown := ""
	if out.Layer > 0 {
		shown = folder(layerName(out.Layer))
	}
	return counts, writeOutput(ctx, o, m, saved, folder(last), shown, out, shards)
}

// layerName is the folder of a layer's output, counted from 1.
func layerName(number int) string { return fmt.Sprintf("layer%d", number) }

// doneFile is written when a step is done, and says of what.
const doneFile = "done.json"

type done struct {
	Key    string `json:"key"`
	Counts Counts `json:"counts"`
}

// step runs a pipeline that writes into a folder, unless that was done before.
func step(ctx context.Context, o Options, key, name string, build func(s beam.Scope, into string) error) (Counts, error) {
	folder := filepath.Join(o.Work, name)
	var before done
	raw, err := os.ReadFile(filepath.Join(folder, doneFile))
	switch {
	case err == nil:
		if err := json.Unmarshal(raw, &before); err != nil || before.Key != key {
			return Counts{}, fmt.Errorf("%s: what is done there belongs to another model, other files or another number of shards: choose another folder, or delete it", folder)
		}
		o.Progress(name, true)
		return before.Counts, nil
	case !errors.Is(err, fs.ErrNotExist):
		return Counts{}, err
	}
	if err := claim(folder); err != nil {
		return Counts{}, err
	}
	p, s := beam.NewPipelineWithRoot()
	if err := build(s, folder); err != nil {
		return Counts{}, err
	}
	if _, err := o.Run(ctx, p); err != nil {
		return Counts{}, pipelineError(ctx, name, err)
	}
	counts, err := countsOf(folder)
	if err != nil {
		return Counts{}, err
	}
	now := done{Key: key, Counts: counts}
	raw, err = json.Marshal(now)
	if err != nil {
		return Counts{}, err
	}
	err = replace(filepath.Join(folder, doneFile), func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	})
	if err == nil {
		o.Progress(name, false)
	}
	return now.Counts, err
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
	fmt.Fprintln(h, m.Fingerprint(), o.Shards)
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
