package main

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"nodemask/datasets"
	"nodemask/nb/worker"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/paper/measure"
	"nodemask/paper/record"
)

func newServeCommand() *cobra.Command {
	return &cobra.Command{
		Use:    worker.Subcommand,
		Short:  "Train what a notebook's cell asks for on standard input",
		Hidden: true,
		RunE: func(c *cobra.Command, _ []string) error {
			return serve(c.Context(), c.InOrStdin(), c.OutOrStdout())
		},
	}
}

func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	var t worker.Training
	if err := json.NewDecoder(in).Decode(&t); err != nil {
		return misusef("the request: %w", err)
	}
	b, err := backend.Open("")
	if err != nil {
		return err
	}
	b.KeepMemory()
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
	send(worker.Event{Backend: b.String()})
	return goesOn(measure.Missing(ctx, b, record.Open(t.Store), t.Cells,
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
			}}))
}
