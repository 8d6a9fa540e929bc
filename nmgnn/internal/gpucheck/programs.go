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
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/train"
)

// writer builds, with XLA's CPU backend, the programs that would run on GPUs, and takes their text from go-xla's log.
type writer struct {
	backend *backend.Backend
	log     bytes.Buffer
}

func newWriter(scratch string) (*writer, error) {
	cpu, err := backend.Open("xla:cpu")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return nil, err
	}
	link := filepath.Join(scratch, "plugin.so") // go-xla loads another path as another plugin, without our kernels
	if err := errors.Join(os.RemoveAll(link), os.Symlink(cpu.Plugin, link)); err != nil {
		return nil, err
	}
	b, err := xla.New(link)
	if err != nil {
		return nil, err
	}
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	return &writer{backend: &backend.Backend{Backend: b, ID: "xla:cuda", Plugin: link}}, errors.Join(
		flags.Set("logtostderr", "false"), flags.Set("alsologtostderr", "false"), flags.Set("stderrthreshold", "FATAL"),
		flags.Set("v", "2"))
}

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
	return bytes.Clone(longest), err
}

func (w *writer) program(model string, epoch bool, g *datasets.Graph) ([]byte, error) {
	p, m, err := built(model, g)
	if err != nil {
		return nil, err
	}
	if !epoch {
		weights, err := infer.Untrained(w.backend, m, g.Features.Width, 1)
		if err != nil {
			return nil, err
		}
		return w.logged(func() error {
			_, err := weights.Represent(w.backend, g.Edges, g.Features, infer.Options{})
			return err
		})
	}
	p.MaxEpochs = 1
	return w.logged(func() error {
		_, err := setting(p, g).Run(context.Background(), w.backend, []uint64{1}, train.RunOptions{})
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

func setting(p hyper.Parameters, g *datasets.Graph) train.Experiment {
	return train.Experiment{Graph: g, Parameters: p, Setting: datasets.Transductive, TrainPercent: 10, SplitSeed: 1}
}

// redditLike has a fiftieth of Reddit's nodes, and Reddit's mean degree and numbers of features and classes.
const redditLike = "sbm:nodes=4659,classes=41,degree=492,homophily=0.2,features=602"

func open(data string) (*datasets.Graph, error) {
	g, err := datasets.Open(context.Background(), data, datasets.OpenOptions{})
	if err != nil {
		return nil, fmt.Errorf("gpucheck: %w", err)
	}
	return g, nil
}
