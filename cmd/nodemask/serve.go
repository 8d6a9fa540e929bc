package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"nodemask/advice"
	"nodemask/datasets"
	"nodemask/nb/worker"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/theorem"
	"nodemask/nmgnn/train"
	"nodemask/paper/measure"
	"nodemask/paper/record"
)

func newServeCommand() *cobra.Command {
	return &cobra.Command{
		Use:    worker.Subcommand,
		Short:  "Do what a notebook's cell asks for on standard input",
		Hidden: true,
		RunE: func(c *cobra.Command, _ []string) error {
			return serve(c.Context(), c.InOrStdin(), c.OutOrStdout())
		},
	}
}

// serve answers one request with events, and ends with its input.
func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	var r worker.Request
	if err := json.NewDecoder(in).Decode(&r); err != nil {
		return misusef("the request: %w", err)
	}
	if err := r.Sound(); err != nil {
		return misuse{err}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	var writing sync.Mutex
	events := json.NewEncoder(out)
	send := func(e worker.Event) {
		writing.Lock()
		defer writing.Unlock()
		if events.Encode(e) != nil {
			cancel()
		}
	}
	var err error
	switch {
	case r.Train != nil:
		err = serveTraining(ctx, *r.Train, send)
	case r.Check != nil:
		err = serveCheck(ctx, *r.Check, send)
	case r.Advise != nil:
		err = serveAdvice(ctx, *r.Advise, send)
	default:
		err = serveExplain(ctx, *r.Explain, send)
	}
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted: finished trials are kept")
	}
	return err
}

func serveTraining(ctx context.Context, t worker.Training, send func(worker.Event)) error {
	b, err := backend.Open("")
	if err != nil {
		return err
	}
	b.KeepMemory()
	send(worker.Event{Backend: b.Summary()})
	return measure.Missing(ctx, b, record.Open(t.Store), t.Cells,
		measure.Options{Seeds: hyper.Seeds(max(t.FirstSeed, 1), cmp.Or(t.Trials, 10)),
			Open: func(ctx context.Context, data string) (*datasets.Graph, error) {
				return datasets.Open(ctx, data, openOptions(""))
			},
			Epoch: func(c record.Cell, seed uint64, _ int, e train.Epoch) {
				send(worker.Event{Epoch: &worker.Epoch{Cell: c.Key(), Seed: seed, TrainLoss: worker.Number(e.TrainLoss),
					ValidationLoss: worker.Number(e.ValidationLoss)}})
			},
			Progress: func(s measure.State) {
				send(worker.Event{Trials: &worker.Trials{Done: s.Done, Before: s.Before}})
			}})
}

func serveAdvice(ctx context.Context, x worker.Advising, send func(worker.Event)) error {
	g, err := datasets.Open(ctx, x.Data, openOptions(""))
	if err != nil {
		return err
	}
	o := advice.Options{Graph: g, Data: x.Data, Models: x.Models, Budget: x.Budget, Jobs: usualJobs()}
	a, err := advise(ctx, io.Discard, o, "", "", func(doing string) { send(worker.Event{Doing: doing}) })
	if a != nil {
		send(worker.Event{Advice: a})
	}
	return err
}

func serveCheck(ctx context.Context, c worker.Check, send func(worker.Event)) error {
	o := theorem.Options{Mask: c.Mask}
	return theorem.CheckModels(ctx, c.Graph, c.Root, c.Hops, 1, o, func(name string, check theorem.Result) error {
		send(worker.Event{Theorem: &worker.Theorem{Model: name, Holds: check.Holds(),
			Difference: worker.Number(check.Difference)}})
		return nil
	})
}
