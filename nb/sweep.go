package nb

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/internal/checkout"
	"nodemask/nb/internal/notebook"
	"nodemask/nb/worker"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
	"nodemask/paper/report"
	"nodemask/plots"
	"nodemask/stats"
)

// Swept holds the experiments of a [Sweep], one per model and keep rate, and their results.
type Swept struct {
	models  []string
	rates   []float64
	splits  int
	cells   map[string][]record.Cell // each model's experiments, one per keep rate, in the order of rates
	results *record.Results
}

// Sweep trains models at several keep rates on the same splits, and charts macro F1 over the keep rate, with 95 %
// bands. All else is as in [Experiment]. The stop button ends the sweep; running the notebook cell again continues the
// sweep. With NODEMASK_SMALL Sweep uses one split.
func Sweep[D string | *datasets.Graph](data D, models []string, rates []float64, splits int) *Swept {
	s := &Swept{models: models, rates: slices.Clone(rates), splits: UpTo(splits), cells: map[string][]record.Cell{}}
	slices.Sort(s.rates)
	if len(models) == 0 || len(rates) == 0 || splits < 1 {
		Must(fmt.Errorf("a sweep of %d models, %d keep rates and %d splits: expected at least one of each", len(models),
			len(rates), splits))
	}
	for _, model := range models {
		plain := Experiment(data, model)
		plain.Resplit = true
		for _, rate := range s.rates {
			Must1(hyper.NewKeepRate(rate))
			s.cells[model] = append(s.cells[model], plain.Masked(rate))
		}
	}
	all := s.all()
	run(worker.Training{Cells: all, Trials: s.splits}, true)
	s.results = trained(all)
	s.Show()
	return s
}

func (s *Swept) all() (cells []record.Cell) {
	for _, model := range s.models {
		cells = append(cells, s.cells[model]...)
	}
	return cells
}

// String returns a summary such as "Sweep(gin, gcn over 3 keep rates, 3 splits)".
func (s *Swept) String() string {
	return fmt.Sprintf("Sweep(%s over %d keep rates, %d splits)", strings.Join(s.models, ", "), len(s.rates), s.splits)
}

// Show shows the sweep's charts and table.
func (s *Swept) Show() {
	var charts []plots.Chart
	for _, model := range s.models {
		if c := s.chart(model); len(c.Series) > 0 {
			charts = append(charts, c)
		}
	}
	if len(charts) > 0 {
		Chart(charts...)
	}
	Table(s.table())
}

func (s *Swept) chart(model string) plots.Chart {
	c := plots.Chart{ID: "sweep-" + model, Title: hyper.Title(model), XLabel: "keep rate p (1: nothing is masked)",
		YLabel: "macro F1 on test nodes (%)", Caption: fmt.Sprintf("Mean of up to %d splits. A 95 %% interval takes three.", s.splits)}
	if len(s.models) > 1 {
		c.Width, c.Height = 400, 320 // two charts fit side by side in JupyterLab
	}
	line := plots.Series{Name: hyper.Title(model)}
	for i, rate := range s.rates {
		cell := s.cells[model][i]
		values := s.results.Values(cell, record.MacroF1)
		if len(values) == 0 {
			continue
		}
		mean := stats.Summarize(values).Mean
		low, high := mean, mean
		if len(values) > 2 {
			_, low, high, _ = stats.ConfidenceInterval(values, 0.05)
		}
		line.X, line.Y = append(line.X, rate), append(line.Y, mean)
		line.Low, line.High = append(line.Low, low), append(line.High, high)
		line.Notes = append(line.Notes, report.Described(s.results, cell))
	}
	if len(line.X) > 0 {
		c.Series = []plots.Series{line}
	}
	return c
}

func (s *Swept) table() plots.Table {
	_, shared := described(s.all())
	if s.all()[0].Setting == datasets.Inductive {
		shared += " Validation nodes are scored before test nodes arrive, so with fewer neighbours."
	}
	highest := s.rates[len(s.rates)-1]
	t := plots.Table{ID: "sweep", Title: "Macro F1 in percent, mean ± standard deviation (splits)", TextColumns: 1,
		Header: []string{"model", "keep rate", "test nodes", "validation nodes", fmt.Sprintf("beyond p = %v", highest),
			"95 % interval"}, Caption: shared}
	for _, model := range s.models {
		for i, rate := range s.rates {
			c := s.cells[model][i]
			gain, interval := "–", "–"
			var here, there []float64
			for a, b := range s.results.Pairs(c, s.cells[model][len(s.rates)-1]) {
				here, there = append(here, a.MacroF1), append(there, b.MacroF1)
			}
			if rate != highest && len(here) > 0 {
				gain = plots.Signed(stats.Summarize(here).Mean-stats.Summarize(there).Mean, 2)
				if test, err := stats.PairedTTest(here, there); err == nil && len(here) > 2 {
					interval = plots.Signed(test.Low, 2) + " to " + plots.Signed(test.High, 2)
				}
			}
			t.Rows = append(t.Rows, plots.Fields(hyper.Title(model), fmt.Sprint(rate), meanOf(s.results, c),
				stats.Summarize(s.validation(c)).Text(2), gain, interval))
		}
	}
	return t
}

func (s *Swept) validation(c record.Cell) (f1 []float64) {
	for _, trial := range s.results.Trials(c) {
		f1 = append(f1, trial.ValidationF1)
	}
	return f1
}

// Best returns the sweep's best trial, which the function [Best] picks.
func (s *Swept) Best() *Trained { return Best(s.all()...) }

// Trained is a finished trial.
type Trained struct {
	cell  record.Cell
	trial record.Record
	model string // file of the saved model; "" until it is saved
}

// Best picks the experiment with the highest mean macro F1 on validation nodes, and returns its trial with the highest
// macro F1 on validation nodes. It ends the notebook's cell if there are no trials.
func Best(cells ...record.Cell) *Trained {
	results := trained(cells)
	var best *Trained
	highest := -1.0
	for _, c := range cells {
		var sum float64
		trials := results.Trials(c)
		for _, trial := range trials {
			sum += trial.ValidationF1
		}
		if mean := sum / float64(max(len(trials), 1)); len(trials) > 0 && mean > highest {
			highest = mean
			best = &Trained{cell: c, trial: slices.MaxFunc(trials, func(a, b record.Record) int {
				return cmp.Compare(a.ValidationF1, b.ValidationF1)
			})}
		}
	}
	if best == nil {
		Must(fmt.Errorf("nothing of %d experiments is trained yet: run nb.Train or nb.Sweep before", len(cells)))
	}
	return best
}

// String returns, for example, "GIN + NM, p = 0.7: seed 3, macro F1 81.20 % on test nodes, 79.00 % on validation
// nodes".
func (t *Trained) String() string {
	return fmt.Sprintf("%s: seed %d, macro F1 %.2f %% on test nodes, %.2f %% on validation nodes", Label(t.cell),
		t.trial.Seed, t.trial.MacroF1, t.trial.ValidationF1)
}

// Save writes the model to a safetensors file. In the inductive setting it adds a cache for predicting new nodes. Save
// reruns the trial, as stored trials hold no weights.
func (t *Trained) Save(path string) {
	t.save(expand(path))
	Markdown(fmt.Sprintf("Saved %s in `%s`.", t, t.model))
}

func (t *Trained) save(path string) {
	args := append(t.cell.Arguments(1), "--seed", fmt.Sprint(t.trial.Seed), "--save-model", path)
	if t.cell.Setting == datasets.Inductive {
		args = append(args, "--save-cache")
	}
	out := command(args...)
	var again record.Record
	Must(json.Unmarshal(out, &again))
	if fmt.Sprintf("%.2f", again.MacroF1) != fmt.Sprintf("%.2f", t.trial.MacroF1) {
		Markdown(fmt.Sprintf("*Run again, the trial has a macro F1 of %.2f %%, and had %.2f %%: another backend or another "+
			"machine.*", again.MacroF1, t.trial.MacroF1))
	}
	t.model = path
}

func (t *Trained) saved() {
	if t.model == "" {
		t.save(filepath.Join(Must1(storeOf(t.cell.Data)), "best.safetensors"))
	}
}

// Predict shows predictions for new nodes, from CSV files of nodes (id, features) and edges (source, target). It skips
// edges to nodes that are neither train nodes nor new. In the transductive setting Predict ends the notebook cell.
func (t *Trained) Predict(nodes, edges string) {
	if t.cell.Setting != datasets.Inductive {
		Must(fmt.Errorf("the model is of the %s setting, where no node arrives", t.cell.Setting))
	}
	t.saved()
	out := command("predict", "--model", t.model, "--nodes", expand(nodes), "--edges", expand(edges),
		"--skip-unknown-edges")
	table := plots.Table{ID: "predictions", Title: "Nodes that arrive", TextColumns: 2,
		Caption: "Of their neighbours, those count that the model was trained on, and those that arrive with them.",
		Header:  []string{"node", "class", "probability", "neighbours known", "neighbours new"}}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var p struct {
			ID, Class            string
			Probability          float64
			Neighbours, Arrivals int
		}
		Must(json.Unmarshal(lines.Bytes(), &p))
		table.Rows = append(table.Rows, plots.Fields(p.ID, p.Class, fmt.Sprintf("%.2f", p.Probability),
			fmt.Sprint(p.Neighbours), fmt.Sprint(p.Arrivals)))
	}
	Table(table)
}

// Explain calls [Explain] for the model.
func (t *Trained) Explain(node int32) {
	t.saved()
	Explain(t.model, t.cell.Data, node)
}

func command(args ...string) []byte {
	ctx, stop := notebook.UntilStopped()
	defer stop()
	return Must1(worker.Output(ctx, Must1(checkout.Root()), nil, args...))
}
