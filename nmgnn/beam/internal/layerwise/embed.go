// Package layerwise runs saved models over graphs too large for one machine, as Apache Beam pipelines that compute each
// layer's output once for each node.
//
// One pipeline reads the graph and divides it into shards by node id; then one pipeline runs for each layer. Shards are
// files; Beam passes only their names from step to step.
package layerwise

import (
	"bytes"
	"cmp"
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
	"reflect"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"nodemask/internal/ended"
	"nodemask/internal/wholefile"
	"nodemask/nmgnn/cached"
)

// Options configure a run. All folders that a run uses, including Work, must have the same path on every worker.
type Options struct {
	// Work is the folder for intermediate results. A step whose finished results are there is skipped.
	Work string
	// Shards is the number of files per step; 0 means 8. A worker holds one shard per CPU in memory.
	Shards int
	// Progress, if not nil, is called after each step. Its second argument is true if an earlier run had finished the
	// step.
	Progress func(step string, before bool)
	// Run runs a pipeline; nil means that Beam's flags choose the runner.
	Run func(ctx context.Context, p *beam.Pipeline) error
}

func (o Options) withDefaults() (Options, error) {
	if o.Shards = cmp.Or(o.Shards, 8); o.Shards < 1 || o.Shards > 1<<17 {
		return o, fmt.Errorf("layerwise: %d shards: expected 1 to %d", o.Shards, 1<<17)
	}
	if o.Progress == nil {
		o.Progress = func(string, bool) {}
	}
	if o.Run == nil {
		o.Run = beamx.Run
	}
	return o, nil
}

// Counts is the size of the input graph.
type Counts struct {
	Nodes int64 `json:"nodes"`
	Edges int64 `json:"edges"` // distinct, without self-loops
}

// Register registers the workers' functions with Beam. Call it once, before beam.Init.
func Register() {
	for _, function := range []any{filesFn{}, nodesFn{}, nearFn{}, layerFn{}, outputFn{}} {
		beam.RegisterType(reflect.TypeOf(function))
	}
	beam.RegisterFunction(endFn)
}

// Embed writes a row for every node: id, class, predicted class, its probability and the output of layer out.Layer (0:
// the logits). The columns are those of 'nodemask predict --all'. It returns the graph's size.
func Embed(ctx context.Context, m *cached.Model, in Input, out Output, o Options) (Counts, error) {
	if out.Layer < 0 || out.Layer > m.Settings.Layers {
		return Counts{}, fmt.Errorf("layerwise: layer %d: expected 1 to %d, or 0 for the logits", out.Layer,
			m.Settings.Layers)
	}
	return compute(ctx, m, Arrivals{Input: in}, out, o)
}

// Arrivals are new nodes and the cache to predict them from.
type Arrivals struct {
	Input
	// Cache is the path of the file with the model and its cache; every worker maps that file into memory.
	Cache string
}

const workFolder = ".nodemask-beam"

// Predict predicts new nodes from a cache (see package cached). For each new node it writes the id, the predicted
// class and its probability, the numbers of neighbouring train nodes and new nodes, and the logits. It ignores
// Output.Layer and Options.Work.
func Predict(ctx context.Context, m *cached.Model, a Arrivals, out Output, o Options) error {
	c, err := cached.LoadCache(a.Cache, m)
	if err != nil {
		return err
	}
	if err := c.Close(); err != nil {
		return err
	}
	out.Layer, o.Work = 0, filepath.Join(out.Folder, workFolder)
	defer os.RemoveAll(o.Work)
	if err := os.RemoveAll(o.Work); err != nil { // a killed run may have left this folder
		return err
	}
	_, err = compute(ctx, m, a, out, o)
	return err
}

func compute(ctx context.Context, m *cached.Model, a Arrivals, out Output, o Options) (Counts, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Counts{}, err
	}
	inputs := slices.Concat(a.Nodes, a.Edges)
	if a.Cache != "" {
		inputs = append(inputs, a.Cache)
	}
	if err := out.check(o.Shards, inputs...); err != nil {
		return Counts{}, err
	}
	if err := checkColumns(ctx, m, a.Nodes); err != nil {
		return Counts{}, err
	}
	r := run{Work: o.Work, Shards: o.Shards, Cache: a.Cache}
	if r.Key, err = keyOf(m, inputs, o); err != nil {
		return Counts{}, err
	}
	var saved bytes.Buffer
	if err := gob.NewEncoder(&saved).Encode(m); err != nil {
		return Counts{}, fmt.Errorf("layerwise: the model: %w", err)
	}
	r.Saved = saved.Bytes()
	graph, err := step(ctx, o, r, graphStep, nil, func(s beam.Scope) { buildGraph(s, r, a.Input) })
	if err != nil {
		return graph.Counts, err
	}
	if len(graph.Shards) == 0 {
		if a.Cache != "" {
			return graph.Counts, nil
		}
		return graph.Counts, fmt.Errorf("%s: no nodes: expected a line for each in the files of nodes", r.path(graphStep, ""))
	}
	for i := range m.Settings.Layers {
		if _, err := step(ctx, o, r, layerName(i+1), graph.Shards, func(s beam.Scope) {
			end(s, beam.ParDo(s, &layerFn{r, i}, beam.Reshuffle(s, beam.CreateList(s, graph.Shards))))
		}); err != nil {
			return graph.Counts, err
		}
	}
	if err := os.MkdirAll(out.Folder, 0o755); err != nil {
		return graph.Counts, err
	}
	err = o.pipeline(ctx, "output", func(s beam.Scope) {
		beam.ParDo0(s, &outputFn{r, out}, beam.Reshuffle(s, beam.CreateList(s, graph.Shards)))
	})
	if err == nil {
		o.Progress("output", false)
	}
	return graph.Counts, err
}

const graphStep = "graph"

func layerName(number int) string {
	if number == 0 {
		return graphStep
	}
	return fmt.Sprintf("layer%d", number)
}

const doneFile = "done.json"

type done struct {
	Key    string `json:"key"`
	Counts Counts `json:"counts"`
	Shards []int  `json:"shards"` // numbers of the shards that have nodes
}

// step runs a pipeline that writes shards, unless an earlier run has finished this step. shardNumbers lists the shards
// to write; if it is nil, step finds out afterwards which shards were written.
func step(ctx context.Context, o Options, r run, name string, shardNumbers []int, build func(s beam.Scope)) (
	d done, err error) {
	folder := r.path(name, "")
	raw, err := os.ReadFile(filepath.Join(folder, doneFile))
	if err == nil {
		if err := json.Unmarshal(raw, &d); err != nil || d.Key != r.Key {
			return d, fmt.Errorf("%s: what is done there belongs to another model, other files or another number of "+
				"shards: choose another folder, or delete it", folder)
		}
		if _, err = r.check(name, d.Shards); err == nil {
			o.Progress(name, true)
		}
		return d, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	if err := claim(folder); err != nil {
		return d, err
	}
	if err := o.pipeline(ctx, name, build); err != nil {
		return d, err
	}
	d = done{Key: r.Key, Shards: shardNumbers}
	for shard := range o.Shards {
		if _, err := os.Stat(r.path(name, r.file(rowsKind, shard))); err == nil && shardNumbers == nil {
			d.Shards = append(d.Shards, shard)
		}
	}
	if d.Counts, err = r.check(name, d.Shards); err != nil {
		return d, err
	}
	for _, spent := range []string{sentKind, namesKind} {
		found, err := fs.Glob(os.DirFS(folder), spent+"-*")
		for _, file := range found {
			err = cmp.Or(err, os.Remove(filepath.Join(folder, file)))
		}
		if err != nil {
			return d, err
		}
	}
	if err := wholefile.Write(filepath.Join(folder, doneFile), 0o644, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(d)
	}); err != nil {
		return d, fmt.Errorf("%s: %w", folder, err)
	}
	o.Progress(name, false)
	return d, nil
}

func (o Options) pipeline(ctx context.Context, step string, build func(s beam.Scope)) error {
	p, s := beam.NewPipelineWithRoot()
	build(s)
	err := o.Run(ctx, p)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ended.Err(ctx)
	}
	if _, rest, found := strings.Cut(err.Error(), faultBegin); found {
		if ours, _, whole := strings.Cut(rest, faultEnd); whole {
			return errors.New(ours)
		}
	}
	return fmt.Errorf("layerwise: %s: %w", step, err)
}

// begunFile marks a folder in which a step has begun to write; claim empties only such folders.
const begunFile = "begun"

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

func keyOf(m *cached.Model, inputs []string, o Options) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, "3", m.Fingerprint(), o.Shards) // version 3: shards refer to neighbours by shard and number
	for _, path := range inputs {
		info, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%q %d %d\n", path, info.Size(), info.ModTime().UnixNano())
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Beam wraps a worker's error in other text; these marks show where the error begins and ends.
const (
	faultBegin = "⟦"
	faultEnd   = "⟧"
)

func fault(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s%w%s", faultBegin, err, faultEnd)
}
