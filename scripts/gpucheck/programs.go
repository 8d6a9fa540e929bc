//go:build cgo && linux && amd64

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gomlx/go-xla/compute/xla"
	"k8s.io/klog/v2"

	"nodemask/datasets"
	"nodemask/internal/kernels/fused"
	"nodemask/internal/kernels/fused/triton"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/train"
)

// writer makes the programs that a GPU would be given, with XLA for the CPU at hand: go-xla logs each before it
// compiles it.
type writer struct {
	scatter, ours *backend.Backend // the same, with the plan that GPUs have, and with kernels of our own
	log           bytes.Buffer
}

// with returns the backend that has kernels of our own or not.
func (w *writer) with(ours bool) *backend.Backend {
	if ours {
		return w.ours
	}
	return w.scatter
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
	if err := fused.ForGPU(b, nil); err != nil {
		return nil, err
	}
	w := &writer{scatter: &backend.Backend{Backend: a, ID: "xla:cpu", Plugin: link, KernelsLost: errors.New("as XLA compiles them")},
		ours: &backend.Backend{Backend: b, ID: "xla:cpu", Plugin: link}}
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

// epoch returns the program of one epoch with validation, keep rate 0.5.
func (w *writer) epoch(model string, ours bool, g *datasets.Graph) ([]byte, error) {
	p, m, err := built(model, g)
	if err != nil {
		return nil, err
	}
	split, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: 10, Seed: 1})
	if err != nil {
		return nil, err
	}
	view, err := datasets.NewView(g, split, datasets.Transductive, datasets.AllEdges)
	if err != nil {
		return nil, err
	}
	return w.logged(func() error {
		t, err := train.New(w.with(ours), m, g, view, train.OptionsOf(p, view))
		if err == nil {
			t.Close()
		}
		return err
	})
}

// evaluation returns the program of one pass over the graph.
func (w *writer) evaluation(model string, ours bool, g *datasets.Graph) ([]byte, error) {
	_, m, err := built(model, g)
	if err != nil {
		return nil, err
	}
	weights, err := infer.Untrained(w.scatter, m, g.Features.Width, 1)
	if err != nil {
		return nil, err
	}
	return w.logged(func() error {
		_, err := weights.Represent(w.with(ours), g.Edges, g.Features, infer.Options{})
		return err
	})
}

func built(model string, g *datasets.Graph) (hyper.Parameters, nmgnn.Model, error) {
	p, err := hyper.For(model)
	if err != nil {
		return p, nmgnn.Model{}, err
	}
	p = p.WithMasking(0.5)
	return p, nmgnn.Build(p, g.NumClasses()), nil
}

// graphs are what programs are made for, by their names in the bounds.
var graphs = []struct{ name, data string }{{"cora", "cora"}, {"pubmed", "pubmed"}, {"reddit", "reddit-like:scale=0.02"}}

func open(data string) (*datasets.Graph, error) {
	g, err := datasets.Open(context.Background(), data, datasets.OpenOptions{})
	if err != nil {
		return nil, fmt.Errorf("gpucheck: %w", err)
	}
	return g, nil
}

// sum is one of our own kernels, of a matrix with so many columns and entries.
type sum struct {
	name             string
	columns, entries int
	triton.Sum
}

// sums are the kernels that an epoch on a graph would call.
func sums(g *datasets.Graph) []sum {
	n, entries := g.NumNodes(), int(g.Edges.NumEdges())
	all := []sum{
		{"sum masked", n, entries, triton.Sum{Rows: n, Width: 64, Heard: true}},
		{"sum transposed", n, entries, triton.Sum{Rows: n, Width: 64, Wanted: true}},
		{"sum weighed", n, entries, triton.Sum{Rows: n, Width: 64, Heads: 8, Positions: true, Wanted: true}},
	}
	if x := g.Features; x.IsSparse() {
		all = append(all, sum{"features dropped", x.Width, len(x.Columns),
			triton.Sum{Rows: n, Width: 64, Heads: 1, Dropped: true}},
			sum{"features transposed", n, len(x.Columns), triton.Sum{Rows: x.Width, Width: 64, Heads: 1, Positions: true,
				Dropped: true}})
	}
	return all
}
