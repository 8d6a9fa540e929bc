package nb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nodemask/advice"
	"nodemask/internal/checkout"
	"nodemask/nb/internal/notebook"
	"nodemask/nb/worker"
	"nodemask/paper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/paper/report"
	"nodemask/plots"
)

// Train runs trials of each experiment, unless they are stored. The stop button ends training and keeps finished
// trials. [Compare] shows the results.
func Train(trials int, cells ...record.Cell) {
	run(worker.Training{Cells: cells, Trials: trials}, false)
	if _, shared := described(cells); shared != "" {
		Markdown("*" + shared + "*")
	}
}

// Again runs each experiment's trial of this seed, unless this machine has run that trial. It shows the trial's macro
// F1 next to the one that the project recorded.
func Again(seed uint64, cells ...record.Cell) {
	run(worker.Training{Cells: cells, Trials: 1, FirstSeed: seed}, false)
	labels, shared := described(cells)
	t := plots.Table{ID: "again", Title: fmt.Sprintf("Macro F1 of seed %d in percent", seed), TextColumns: 1,
		Header: []string{"cell", "run here", "recorded"}, Caption: strings.TrimSpace(shared + " Where another kind of " +
			"processor or backend computed a trial, it rounded otherwise, which changes the epoch kept.")}
	here, recorded := trained(cells), Recorded()
	for i, c := range cells {
		t.Rows = append(t.Rows, plots.Fields(labels[i], f1Of(here, c, seed), f1Of(recorded, c, seed)))
	}
	Table(t)
}

func f1Of(r *record.Results, c record.Cell, seed uint64) string {
	for _, trial := range r.Trials(c) {
		if trial.Seed == seed {
			return fmt.Sprintf("%.4f", trial.MacroF1)
		}
	}
	return ""
}

func run(t worker.Training, quiet bool) {
	check(t.Cells)
	ctx, stop := notebook.UntilStopped()
	defer stop()
	p := notebook.NewProgress(titleOf(t.Cells), t.Trials*len(t.Cells))
	p.Kept, p.Quiet = true, quiet
	p.Order, _ = described(t.Cells)
	labels := map[string]string{}
	for i, c := range t.Cells {
		labels[c.Key()] = p.Order[i]
	}
	defer p.Tick()()
	ran, err := trainInto(ctx, p, labels, t)
	stopped := errors.Is(err, context.Canceled)
	if err != nil && !stopped {
		Must(err)
	}
	live := trained(t.Cells)
	for _, c := range t.Cells {
		all := live.Trials(c)
		if i := slices.IndexFunc(all, func(r record.Record) bool { return r.Seed == t.FirstSeed }); i >= 0 {
			all = all[:i+1]
		}
		if len(all) > 0 {
			last := all[len(all)-1]
			p.Finished(labels[c.Key()], last.Seed, last.TrainLosses, last.ValidationLosses, last.BestEpoch, last.MacroF1)
		}
	}
	p.End(ran, stopped)
	for _, c := range t.Cells {
		for _, trial := range live.Trials(c) {
			if trial.ValidationF1 > 50+collapseMargin {
				continue
			}
			if constant := 100 * advice.ConstantF1(Data(c.Data)); trial.ValidationF1 <= constant+collapseMargin {
				Markdown(notebook.Collapsed(labels[c.Key()], trial.Seed, trial.ValidationF1, constant, c.Parameters))
				break
			}
		}
	}
}

// A collapsed trial beats a constant prediction by at most this many percentage points of macro F1 (see
// stats.Metrics.Collapsed).
const collapseMargin = 3

func trainInto(ctx context.Context, p *notebook.Progress, labels map[string]string, t worker.Training) (ran int,
	err error) {
	project, err := checkout.Root()
	if err != nil {
		return 0, err
	}
	t.Cells = slices.Clone(t.Cells)
	for i := range t.Cells {
		t.Cells[i].History = true // stores trials' losses, so that later runs can show them
	}
	for _, part := range Must1(byStore(t)) {
		before := ran
		err = worker.Train(ctx, project, part, func(e worker.Event) {
			switch {
			case e.Backend != "":
				p.RunsOn(e.Backend)
			case e.Epoch != nil:
				p.Epoch(labels[e.Epoch.Cell], e.Epoch.Seed, float64(e.Epoch.TrainLoss), float64(e.Epoch.ValidationLoss))
			case e.Trials != nil:
				ran = before + e.Trials.Done - e.Trials.Before
				p.Trials(before+e.Trials.Done, before+e.Trials.Before)
			}
		})
		if err != nil {
			break
		}
	}
	return ran, err
}

func byStore(t worker.Training) (parts []worker.Training, err error) {
	for _, c := range t.Cells {
		folder, err := storeOf(c.Data)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(parts, func(p worker.Training) bool { return p.Store == folder })
		if i < 0 {
			part := t
			part.Store, part.Cells = folder, nil
			i, parts = len(parts), append(parts, part)
		}
		parts[i].Cells = append(parts[i].Cells, c)
	}
	return parts, nil
}

func check(cells []record.Cell) {
	for _, c := range cells {
		Must(c.Parameters.Check())
	}
}

// Label describes an experiment by its differences from the paper's experiment or from the model's preset, whichever
// text is shorter: "GIN + NM, p = 0.9".
func Label(c record.Cell) string {
	ofPaper := report.Label(c)
	preset := c.Label(record.NewCell(c.Data, c.Parameters.Model, c.Setting, c.TrainPercent), paper.MaskedKeepRate)
	if slices.Contains(judge.Models(), c.Parameters.Model) {
		preset += ", preset"
	}
	if len(preset) < len(ofPaper) {
		return preset
	}
	return ofPaper
}

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
