package nb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/paper"
	"nodemask/record"
	"nodemask/record/measure"
)

// Train runs so many trials of each cell, with a progress bar and the losses as they fall. Trials that an earlier cell or
// session ran are not run again. The stop button ends it; finished trials are kept. [Compare] shows what came out.
func Train(trials int, cells ...record.Cell) {
	ctx, stop := interruptible()
	defer stop()
	store := record.OpenStore(Must1(liveFolder()))
	cells = slices.Clone(cells)
	for i := range cells {
		cells[i].History = true // for the losses to be drawn where nothing is left to be run
	}
	l := newLive(titleOf(cells), trials*len(cells))
	opened := map[string]*datasets.Graph{}
	begin, ran := time.Now(), 0
	err := measure.Missing(ctx, Backend(), store, cells, measure.Options{Trials: trials,
		Open: func(ctx context.Context, data string) (*datasets.Graph, error) {
			if opened[data] == nil {
				g, err := datasets.Open(ctx, data, datasets.OpenOptions{})
				if err != nil {
					return nil, err
				}
				opened[data] = g
			}
			return opened[data], nil
		},
		Epoch: func(c record.Cell, seed uint64, _ int, e train.Epoch) { l.epoch(Label(c), seed, e) },
		Progress: func(s measure.State) {
			if s.Last != nil {
				ran++
			}
			l.trials(s.Done, s.Before)
		}})
	stopped := errors.Is(err, context.Canceled)
	if err != nil && !stopped {
		Must(err)
	}
	took := time.Since(begin)
	live := Live()
	for _, c := range cells {
		if all := live.Trials(c); len(all) > 0 {
			l.remember(Label(c), all[len(all)-1])
		}
	}
	l.end(summaryOf(ran, trials*len(cells), stopped, took))
}

// summaryOf is what became of a piece of work.
func summaryOf(ran, of int, stopped bool, took time.Duration) string {
	if stopped {
		return fmt.Sprintf("Stopped: %d trials were finished, and are kept. Run the cell again to go on.", ran)
	}
	if ran == 0 {
		return fmt.Sprintf("All %d trials were there already; nothing was run.", of)
	}
	return fmt.Sprintf("%d of %d trials run in %.1f s, compiling included.", ran, of, took.Seconds())
}

// TrainExperiment runs trials of an experiment on any graph, with a progress bar and the losses as they fall. Its results
// are for this cell of the notebook alone: save what is to stay. The stop button ends it with the trials that are
// finished; with none, it ends the notebook's cell.
func TrainExperiment(trials int, x train.Experiment) []*train.Result {
	ctx, stop := interruptible()
	defer stop()
	name := hyper.Title(x.Parameters.Model)
	if x.Parameters.KeepRate.Active() {
		name += " + NM"
	}
	l := newLive(name+" on "+x.Graph.Name, trials)
	begin, done := time.Now(), 0
	all, err := x.Run(ctx, Backend(), train.Seeds(1, trials), train.RunOptions{
		Progress: func(p train.Progress) { l.epoch(name, p.Seed, p.Last) },
		Done: func(int, *train.Result) {
			done++
			l.trials(done, 0)
		}})
	stopped := errors.Is(err, context.Canceled)
	if err != nil && !stopped {
		Must(err)
	}
	var finished []*train.Result
	for _, r := range all {
		if r != nil {
			finished = append(finished, r)
		}
	}
	l.end(summaryOf(done, trials, stopped, time.Since(begin)))
	if len(finished) == 0 {
		os.Exit(1)
	}
	return finished
}

// Label returns a cell in a few words, without what it shares with every other: "GIN + NM, p = 0.5".
func Label(c record.Cell) string { return c.Label(paper.MaskedKeepRate) }

// titleOf is what cells have in common.
func titleOf(cells []record.Cell) string {
	if len(cells) == 0 {
		return "nothing"
	}
	c := cells[0]
	parts := []string{c.Data, string(c.Setting), fmt.Sprintf("%d %% to train on", c.TrainPercent)}
	for _, other := range cells[1:] {
		if other.Data != c.Data {
			parts[0] = "several data sets"
		}
		if other.Setting != c.Setting {
			parts[1] = "both settings"
		}
		if other.TrainPercent != c.TrainPercent {
			parts[2] = "several sizes"
		}
	}
	return strings.Join(parts, ", ")
}
