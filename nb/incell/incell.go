// Package incell trains on graphs, or with layers, built in a notebook cell. Such cells link GoMLX and XLA, so they
// start a second later than cells that use [nb.Train].
package incell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/nb"
	"nodemask/nb/internal/notebook"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/paper/measure"
	"nodemask/paper/record"
)

// Backend opens the backend that $GOMLX_BACKEND names, by default the best usable one. On failure it ends the notebook
// cell. Open one backend per cell, as each XLA backend has its own threads.
func Backend() *backend.Backend {
	b := nb.Must1(backend.Open(""))
	b.KeepMemory()
	return b
}

// Experiment returns the experiment that c describes, on the graph g.
func Experiment(c record.Cell, g *datasets.Graph) train.Experiment { return measure.Experiment(c, g) }

// Train runs trials of an experiment and returns their results, which are not saved outside this notebook cell. The
// stop button ends training: Train then returns the finished trials. If no trial has finished, Train ends the cell.
func Train(trials int, x train.Experiment) []*train.Result {
	ctx, stop := notebook.UntilStopped()
	defer stop()
	name := nameOf(x)
	p := notebook.NewProgress(name+" on "+x.Graph.Name, trials)
	p.Order = []string{name}
	defer p.Tick()()
	done := 0
	b := Backend()
	p.RunsOn(b.String())
	all, err := x.Run(ctx, b, hyper.Seeds(1, trials), train.RunOptions{
		Progress: func(e train.Progress) { p.Epoch(name, e.Seed, e.Last.TrainLoss, e.Last.ValidationLoss) },
		Done: func(int, *train.Result) {
			done++
			p.Trials(done, 0)
		}})
	stopped := errors.Is(err, context.Canceled)
	if err != nil && !stopped {
		nb.Must(err)
	}
	finished := slices.DeleteFunc(all, func(r *train.Result) bool { return r == nil })
	if len(finished) > 0 {
		last := finished[len(finished)-1]
		var onTrain, onValidation []float64
		for _, e := range last.History {
			onTrain, onValidation = append(onTrain, e.TrainLoss), append(onValidation, e.ValidationLoss)
		}
		p.Finished(name, last.Seed, onTrain, onValidation, last.BestEpoch, 100*last.Test.MacroF1)
	}
	p.End(done, stopped)
	if len(finished) == 0 {
		os.Exit(1)
	}
	for _, r := range finished {
		if constant, _ := r.Validation.Constant(); r.Validation.Collapsed() {
			nb.Markdown(notebook.Collapsed(name, r.Seed, 100*r.Validation.MacroF1, 100*constant, x.Parameters))
		}
	}
	return finished
}

func nameOf(x train.Experiment) string {
	name := hyper.Title(x.Parameters.Model)
	if x.Own != nil && len(x.Own.Layers) > 0 {
		_, name, _ = strings.Cut(fmt.Sprintf("%T", x.Own.Layers[0]), ".")
	}
	if x.Parameters.KeepRate.Active() {
		name += " + NM"
	}
	return name
}
