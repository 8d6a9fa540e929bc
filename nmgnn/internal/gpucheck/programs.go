//go:build cgo && linux && amd64

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/gomlx/go-xla/compute/xla"
	"k8s.io/klog/v2"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/kernels/fused"
	"nodemask/nmgnn/internal/kernels/fused/triton"
	"nodemask/nmgnn/train"
)

// writer makes the programs that a GPU would be given, with XLA for the CPU at hand: go-xla logs each before it
// compiles it.
type writer struct {
	backends map[bool]*backend.Backend // the same, with kernels of our own or not: then with the plan that GPUs have
	log      bytes.Buffer
}

// newWriter opens XLA for the CPU by another name, by which it has none of the CPU's kernels.
func newWriter(scratch string) (*writer, error) {
	cpu, err := backend.Open("xla:cpu")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return nil, err
	}
	link := filepath.Join(scratch, "plugin.so")
	if err := errors.Join(os.RemoveAll(link), os.Symlink(cpu.Plugin, link)); err != nil {
		return nil, err
	}
	a, err := xla.New(link)
	if err != nil {
		return nil, err
	}
	b, err := xla.New(link)
	if err != nil {
		return nil, err
	}
	fused.OnGPU(a)
	if err := fused.ForGPU(b, nil); err != nil {
		return nil, err
	}
	w := &writer{backends: map[bool]*backend.Backend{true: {Backend: b, ID: "xla:cpu", Plugin: link},
		false: {Backend: a, ID: "xla:cpu", Plugin: link, KernelsLost: errors.New("as XLA compiles them")}}}
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	return w, errors.Join(flags.Set("logtostderr", "false"), flags.Set("alsologtostderr", "false"),
		flags.Set("stderrthreshold", "FATAL"), flags.Set("v", "2"))
}

// logged returns the longest program that is compiled while f runs.
func (w *writer) logged(f func() error) ([]byte, error) {
	w.log.Reset()
	klog.SetOutput(&w.log)
	err := f()
	klog.Flush()
	var longest []byte
	for rest := w.log.Bytes(); ; {
		_, after, found := bytes.Cut(rest, []byte("StableHLO program:\n"))
		if !found {
			break
		}
		end := bytes.Index(after, []byte("\n}\n"))
		if end < 0 {
			return nil, errors.New("gpucheck: a program in go-xla's log has no end")
		}
		if program := after[:end+3]; len(program) > len(longest) {
			longest = program
		}
		rest = after[end:]
	}
	if longest == nil {
		return nil, errors.Join(errors.New("gpucheck: go-xla logged no program"), err)
	}
	if bytes.Contains(longest, []byte(triton.Target)) {
		err = nil // XLA for the CPU refuses those
	}
	return bytes.Clone(longest), err
}

// together is how many trials share a program, where that is checked.
const together = 8

// program returns the program of one epoch of so many trials, with validation; of 0 trials, that of one pass over the
// graph.
func (w *writer) program(trials int, model string, ours bool, g *datasets.Graph) ([]byte, error) {
	p, m, err := built(model, g)
	if err != nil {
		return nil, err
	}
	if trials == 0 {
		weights, err := infer.Untrained(w.backends[false], m, g.Features.Width, 1)
		if err != nil {
			return nil, err
		}
		return w.logged(func() error {
			_, err := weights.Represent(w.backends[ours], g.Edges, g.Features, infer.Options{})
			return err
		})
	}
	view, o, err := setting(p, g)
	if err != nil {
		return nil, err
	}
	o.Together = trials
	return w.logged(func() error {
		t, err := train.New(w.backends[ours], m, g, view, o)
		if err == nil {
			t.Close()
		}
		return err
	})
}

// built is a model with masking, keep rate 0.5.
func built(model string, g *datasets.Graph) (hyper.Parameters, nmgnn.Model, error) {
	p, err := hyper.For(model)
	if err != nil {
		return p, nmgnn.Model{}, err
	}
	p = p.WithMasking(0.5)
	return p, nmgnn.Build(p, g.NumClasses()), nil
}

// setting is what it is trained on, and how.
func setting(p hyper.Parameters, g *datasets.Graph) (*datasets.View, train.Options, error) {
	split, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: 10, Seed: 1})
	if err != nil {
		return nil, train.Options{}, err
	}
	view, err := datasets.NewView(g, split, datasets.Transductive, datasets.AllEdges)
	if err != nil {
		return nil, train.Options{}, err
	}
	return view, train.OptionsOf(p, view), nil
}

// graphs are what programs are made for, by their names in the bounds.
var graphs = []struct {
	name, data string
	small      bool // an epoch is mostly launches: trials are trained together
}{{"cora", "cora", true}, {"pubmed", "pubmed", false}, {"reddit", "reddit-like:scale=0.02", false}}

func open(data string) (*datasets.Graph, error) {
	g, err := datasets.Open(context.Background(), data, datasets.OpenOptions{})
	if err != nil {
		return nil, fmt.Errorf("gpucheck: %w", err)
	}
	return g, nil
}

// alone is one of our own kernels, as a program.
type alone struct {
	name    string
	program string
}

// kernelsOf are the kernels that an epoch on a graph would call, and those that it would call for long rows, with 8
// heads.
func kernelsOf(g *datasets.Graph) (all []alone) {
	const width, heads = 64, 8
	n, entries := g.NumNodes(), int(g.Edges.NumEdges())
	one := [2]int{1, 1}
	perEntry, perHead, perRow := [2]int{entries, heads}, [2]int{n, heads}, [2]int{n, width}
	sizes := map[string][2]int{"heard": {n, 1}, "wanted": {n, 1}, "draw": {1, 3}, "scale": one, "slope": one,
		"offsets": {n + 1, 1}, "columns": {entries, 1}, "positions": {entries, 1}, "h": perRow, "x": perRow, "g": perRow,
		"y": perRow, "weights": perEntry, "alpha": perEntry, "kept": perEntry, "keep": perEntry, "d": perEntry,
		"source": perHead, "target": perHead, "total": perHead, "a": {1, width}}
	add := func(name string, k triton.Kernel, other map[string][2]int) {
		all = append(all, alone{name, k.Program(other)})
	}
	with := func(name string, size [2]int) map[string][2]int {
		other := maps.Clone(sizes)
		other[name] = size
		return other
	}
	add("sum masked", triton.Sum{Rows: n, Width: width, Heard: true}.Kernel(), sizes)
	add("sum transposed", triton.Sum{Rows: n, Width: width, Wanted: true}.Kernel(), sizes)
	add("sum weighed", triton.Sum{Rows: n, Width: width, Heads: heads, Positions: true, Wanted: true}.Kernel(), sizes)
	add("slopes weighed", triton.Sum{Rows: n, Width: width, Heads: heads, Positions: true, Leaky: true}.Kernel(),
		with("target", perRow))
	add("agreement long", triton.Agreement{Rows: n, Width: width, Heads: heads, Long: true}.Kernel(), with("y", perEntry))
	add("scores long", triton.Agreement{Rows: n, Width: width, Heads: heads, Leaky: true, Long: true}.Kernel(),
		with("y", perEntry))
	attend := triton.Attend{Rows: n, Width: width, Heads: heads, Dropout: true, Heard: true, Long: true}
	add("attention long", attend.Kernel(), sizes)
	add("gradient long", attend.Backward(), sizes)
	x := g.Features
	if !x.IsSparse() {
		return all
	}
	values := [2]int{len(x.Columns), 1}
	maps.Copy(sizes, map[string][2]int{"columns": values, "positions": values, "weights": values})
	add("features dropped", triton.Sum{Rows: n, Width: width, Heads: 1, Dropped: true}.Kernel(),
		with("h", [2]int{x.Width, width}))
	maps.Copy(sizes, map[string][2]int{"offsets": {x.Width + 1, 1}, "y": {x.Width, width}})
	add("features transposed", triton.Sum{Rows: x.Width, Width: width, Heads: 1, Positions: true, Dropped: true}.Kernel(),
		sizes)
	return all
}
