package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nodemask/datasets"
	"nodemask/internal/jobs"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/paper/judge"
	"nodemask/paper/measure"
	"nodemask/paper/record"
	"nodemask/paper/report"
	"nodemask/plots"
	"nodemask/stats"
)

// Parts of PROTOCOL.md that still run; the others are retired.
const depthPart, tunedPart = "depth", "tuned"

func parts() (all []string) {
	for _, part := range judge.Parts() {
		all = append(all, string(part))
	}
	return append(all, depthPart, tunedPart)
}

func partOf(names []string) (string, error) {
	for _, name := range names {
		if slices.Contains(parts(), name) {
			if len(names) > 1 {
				return "", misusef("%s is a part of a protocol: expected it alone", name)
			}
			return name, nil
		}
	}
	return "", nil
}

func addPart(flags *pflag.FlagSet, data, model *string) {
	flags.StringVar(data, "data", "all", "data set of a part")
	flags.StringVar(model, "model", "all", "model of a part")
}

type partRun struct {
	*cobra.Command
	*runFlags         // nil: show only
	part, data, model string
	folder            string // of all results
	store             *record.Store
	protocol          string
	seeds             []uint64
}

func openPart(c *cobra.Command, part, folder, data, model string) (partRun, error) {
	r := partRun{Command: c, part: part, folder: folder, data: data, model: model, protocol: judge.FirstProtocol(),
		seeds: hyper.Seeds(judge.FirstDepthSplit, judge.DepthSplits)}
	in := report.FirstFolder
	switch of := judge.Part(part); {
	case of == judge.Graphs:
		in, r.protocol, r.seeds = report.ThirdFolder, judge.ThirdProtocol(), of.Seeds()
	case slices.Contains(judge.Parts(), of):
		in, r.protocol, r.seeds = report.SecondFolder, judge.SecondProtocol(), of.Seeds()
	}
	if part == depthPart {
		if model != "all" && model != "gin" {
			return r, misusef("--model %s: the part depth is about GIN: leave --model out", model)
		}
		if r.data == "all" {
			r.data = "cora"
		}
	}
	r.store = record.OpenUnder(filepath.Join(folder, in), r.protocol)
	return r, nil
}

func (r partRun) run() error {
	if design, tunes := r.design(); tunes {
		return r.runTuned(design)
	}
	switch {
	case r.part == depthPart:
		return r.runDepth()
	case r.part == string(judge.Graphs) && r.runFlags == nil:
		return r.showGraphs()
	}
	return r.runReadings()
}

func newStatusCommand() *cobra.Command {
	var data, model string
	c := recordCommand("status PART", "Count recorded and missing trials of a part", cobra.ExactArgs(1),
		func(c *cobra.Command, folder string, args []string) error {
			part, err := partOf(args)
			if err != nil || part == "" {
				return misusef("no part %q: expected one of %v", args[0], parts())
			}
			r, err := openPart(c, part, folder, data, model)
			if err != nil {
				return err
			}
			return unlessInterrupted(c.Context(), r.status)
		})
	addPart(c.Flags(), &data, &model)
	return c
}

func (r partRun) status() error {
	if design, tunes := r.design(); tunes {
		design, err := r.chosen(design)
		if err != nil {
			return err
		}
		_, next, _, err := r.tuned(design)
		if err == nil {
			_, err = fmt.Fprintf(r.OutOrStdout(), "%s, %s: %d trainings left to look at on %d splits\n", r.data, r.part,
				len(next.Cells), len(next.Seeds))
		}
		return err
	}
	var cells []record.Cell
	if r.part == depthPart {
		for _, of := range r.depthCells() {
			for _, c := range of {
				cells = append(cells, c.Trained())
			}
		}
	} else {
		questions, err := r.questions()
		if err != nil {
			return err
		}
		if cells, err = judge.Cells(questions); err != nil {
			return err
		}
	}
	done, complete, err := r.results().Count(cells, r.seeds)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.OutOrStdout(), "%s, %s, %s: %d of %d trials; %d of %d trainings have all %d splits\n", r.part,
		r.data, r.model, done, len(cells)*len(r.seeds), complete, len(cells), len(r.seeds))
	return err
}

func (r partRun) results() *record.Results { return r.store.Results(nil, nil) }

func (r partRun) train(batch judge.Batch) error {
	b, err := openBackend(r.ErrOrStderr(), r.backend)
	if err != nil {
		return err
	}
	o := measure.Options{Seeds: batch.Seeds, Batch: 5, Protocol: r.protocol}
	if r.part == string(judge.Graphs) { // balanced over graphs, whenever it ends
		o.Batch = 1
		o.Pool, err = jobs.New(b, r.jobs, func(own *backend.Backend) *train.Runner {
			runner := train.NewRunner(own)
			runner.Programs = len(batch.Cells)
			return runner
		}, (*train.Runner).Close)
		if err != nil {
			return err
		}
		defer o.Pool.Close()
	}
	_, err = r.runFlags.train(r.Command, b, r.store, batch.Cells, o, func(last record.Record) string {
		return fmt.Sprintf("%s, %s, %s, %d%%, split %d, %d epochs in %.2f s", last.Data, last.Model, last.Setting, last.TrainPercent,
			last.Seed, last.Epochs, last.Seconds)
	})
	return err
}

func oneOrAll(flag, value string, known []string) ([]string, error) {
	if value == "all" {
		return known, nil
	}
	if !slices.Contains(known, value) {
		return nil, misusef("--%s %s: expected all or one of %s", flag, value, strings.Join(known, ", "))
	}
	return []string{value}, nil
}

func (r partRun) questions() (questions []judge.Question, err error) {
	data, err := oneOrAll("data", r.data, judge.Part(r.part).Data())
	if err != nil {
		return nil, err
	}
	models, err := oneOrAll("model", r.model, judge.Part(r.part).Models())
	if err != nil {
		return nil, err
	}
	for _, on := range data {
		for _, model := range models {
			for _, setting := range datasets.Settings() {
				q, err := judge.QuestionOf(judge.Part(r.part), on, model, setting)
				if err != nil {
					return nil, err
				}
				questions = append(questions, q)
			}
		}
	}
	return questions, nil
}

func (r partRun) runReadings() error {
	questions, err := r.questions()
	if err != nil {
		return err
	}
	if r.runFlags == nil {
		return r.printCited(r.results(), questions)
	}
	for _, some := range judge.Stages(judge.Part(r.part), questions) {
		cells, err := judge.Cells(some)
		if err != nil {
			return err
		}
		if err := r.train(judge.Batch{Cells: cells, Seeds: r.seeds}); err != nil {
			return err
		}
	}
	return nil
}

func (r partRun) printCited(results *record.Results, questions []judge.Question) error {
	w := bufio.NewWriter(r.OutOrStdout())
	for _, q := range questions {
		answers, err := judge.Each(results, q)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s, %s, %s\n", q.Data, q.Model, q.Setting)
		for _, a := range answers {
			reading := judge.Departure(q.Axes, a.Reading)
			if a.Effect == nil {
				fmt.Fprintf(w, "    %s: %d of %d splits\n", reading, a.Splits, len(r.seeds))
				continue
			}
			fmt.Fprintf(w, "    %s: %s over %d splits", reading, pointsOf(a.Effect.Pooled), a.Splits)
			for i, size := range q.Sizes {
				fmt.Fprintf(w, "; %d %%: %.2f to %.2f", size, a.Effect.Plain[i], a.Effect.Masked[i])
			}
			fmt.Fprintln(w)
		}
	}
	return w.Flush()
}

func (r partRun) showGraphs() error {
	e, w := report.Open(r.folder), r.OutOrStdout()
	for _, model := range judge.Graphs.Models() {
		t, err := e.GraphsTable(model)
		if err != nil {
			return err
		}
		if err := printTable(w, t, false); err != nil {
			return err
		}
	}
	sign, err := e.OneSign()
	if err != nil {
		return err
	}
	fmt.Fprint(w, sign)
	if err := printTable(w, report.BeforehandTable(), false); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "Masking. %s\nRescaled. %s\n", judge.Fit(judge.Cases(), false).Words(),
		judge.Fit(judge.Cases(), true).Words())
	return cmp.Or(e.Err(), err)
}

func pointsOf(t stats.TTest) string {
	return fmt.Sprintf("%s points (95 %% interval %s to %s, p %s)", plots.Signed(t.MeanDifference, 2),
		plots.Signed(t.Low, 2), plots.Signed(t.High, 2), stats.ProbabilityText(t.P))
}

func (r partRun) depthCells() map[datasets.Setting][]record.Cell {
	cells := map[datasets.Setting][]record.Cell{}
	for _, setting := range datasets.Settings() {
		for _, layers := range judge.Depths() {
			for _, p := range []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1} {
				cells[setting] = append(cells[setting], judge.DepthCell(r.data, setting, layers).Masked(p))
			}
		}
	}
	return cells
}

func (r partRun) runDepth() error {
	results := r.results()
	cells := r.depthCells()
	if r.runFlags != nil {
		var all []record.Cell
		for _, setting := range datasets.Settings() {
			for _, c := range cells[setting] {
				all = append(all, c.Trained())
			}
		}
		return r.train(judge.Batch{Cells: all, Seeds: r.seeds})
	}
	w := bufio.NewWriter(r.OutOrStdout())
	for _, setting := range datasets.Settings() {
		var scores []judge.DepthScore
		complete := true
		for _, c := range cells[setting] {
			s := judge.DepthScore{Layers: c.Parameters.Layers, KeepRate: c.Parameters.KeepRate.Probability()}
			for _, trial := range results.ReadOff(c) {
				if slices.Contains(r.seeds, trial.Seed) {
					s.F1 = append(s.F1, trial.MacroF1)
				}
			}
			complete = complete && len(s.F1) == len(r.seeds)
			scores = append(scores, s)
			if len(s.F1) > 0 {
				fmt.Fprintf(w, "%s, %2d layers, keep rate %.1f: macro F1 %s over %d splits\n", setting, s.Layers, s.KeepRate,
					stats.Summarize(s.F1).Text(2), len(s.F1))
			}
		}
		if !complete {
			continue
		}
		mean, low, high, err := stats.ConfidenceInterval(judge.DepthSlopes(scores), 0.05)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: each time the depth doubles, the best keep rate moves by %+.3f (95 %% interval %+.3f to %+.3f)\n",
			setting, mean, low, high)
	}
	return cmp.Or(results.Err(), w.Flush())
}

func (r partRun) design() (judge.Design, bool) {
	switch r.part {
	case string(judge.Balanced):
		return judge.BalancedDesign(), true
	case tunedPart:
		return judge.DrawnDesign(), true
	}
	return judge.Design{}, false
}

func (r partRun) chosen(design judge.Design) (judge.Design, error) {
	var known []string
	for _, m := range design.Models {
		known = append(known, m.Name)
	}
	models, err := oneOrAll("model", r.model, slices.Compact(known))
	if err != nil {
		return design, err
	}
	var data []string
	if r.data != "all" {
		data = []string{r.data}
	}
	return design.Of(data, models), nil
}

// runTuned tunes every arm of a comparison, then compares the winners on fresh splits, batch by batch. It ends when
// nothing is left but other shards' work. To show, it prints the results so far.
func (r partRun) runTuned(design judge.Design) error {
	design, err := r.chosen(design)
	if err != nil {
		return err
	}
	for before := ""; ; {
		all, next, stage, err := r.tuned(design)
		switch {
		case err != nil:
			return err
		case r.runFlags == nil || len(next.Cells) == 0 || stage == before:
			return r.printTuned(all, design)
		}
		if err := r.train(next); err != nil {
			return err
		}
		before = stage
	}
}

func (r partRun) tuned(design judge.Design) (all []judge.Tuned, next judge.Batch, stage string,
	err error) {
	results, earliest := r.results(), 0
	for _, q := range design.Questions() {
		t, err := design.Tuned(results, q)
		if err != nil {
			return nil, next, "", err
		}
		all = append(all, t)
		if len(t.Next.Cells) == 0 || next.Seeds != nil && !strings.HasPrefix(stage, tunedName(q.Model)+":") {
			continue
		}
		if next.Seeds == nil || t.Stage < earliest {
			next, earliest, stage = t.Next, t.Stage, fmt.Sprint(tunedName(q.Model), ":", t.Stage)
		} else if t.Stage == earliest {
			next.Cells = append(next.Cells, t.Next.Cells...)
		}
	}
	return all, next, stage, nil
}

func (r partRun) printTuned(all []judge.Tuned, design judge.Design) error {
	w := bufio.NewWriter(r.OutOrStdout())
	for _, t := range all {
		fmt.Fprintf(w, "%s, %s, %s, %d%%\n", t.Data, tunedName(t.Model), t.Setting, t.TrainPercent)
		for _, arm := range t.Arms {
			switch {
			case arm.Chosen == nil:
				fmt.Fprintf(w, "    %s: not tuned yet\n", arm.Name)
				continue
			case arm.F1 == nil:
				fmt.Fprintf(w, "    %s: %s, validation macro F1 %.2f; not compared yet\n", arm.Name, arm.Words(), arm.Validation)
				continue
			}
			fmt.Fprintf(w, "    %s: macro F1 %s", arm.Name, stats.Summarize(arm.F1).Text(2))
			if plain := t.Arms[0].F1; plain != nil && arm.Name != t.Arms[0].Name {
				test, err := stats.PairedTTest(arm.F1, plain)
				if err != nil {
					return err
				}
				fmt.Fprintf(w, ", %s from plain", pointsOf(test))
			}
			fmt.Fprintf(w, "; %s\n", arm.Words())
		}
	}
	if err := printPooled(w, all, design); err != nil {
		return err
	}
	return w.Flush()
}

func tunedName(m judge.TunedModel) string {
	if m.With == "" {
		return m.Name
	}
	return m.Name + " with " + m.With
}

func printPooled(w io.Writer, all []judge.Tuned, design judge.Design) error {
	var groups [][]judge.TunedModel
	for _, model := range design.Models {
		groups = append(groups, []judge.TunedModel{model})
	}
	if len(design.Models) > 1 {
		groups = append(groups, design.Protocol().Models)
	}
	arms := slices.Concat(design.Arms, design.Added)
	for _, group := range groups {
		var names []string
		for _, model := range group {
			names = append(names, tunedName(model))
		}
		for _, setting := range append([]datasets.Setting{""}, datasets.Settings()...) {
			said := false
			for i, arm := range arms {
				for _, against := range arms[:i] {
					if setting != "" && arm != judge.ArmMaskedTuned && against != judge.ArmMaskedTuned {
						continue
					}
					effect, cells, err := judge.Pooled(all, setting, group, arm, against)
					if err != nil {
						return err
					}
					if cells == 0 {
						continue
					}
					if !said {
						title := strings.Join(names, ", ")
						if setting != "" {
							title += ", " + string(setting)
						}
						fmt.Fprintf(w, "%s, over the cells above that have both arms, and every arm of the protocol\n", title)
						said = true
					}
					fmt.Fprintf(w, "    %s: %s points (95 %% interval %s to %s) from %s, %d cells\n", arm,
						plots.Signed(effect.MeanDifference, 2), plots.Signed(effect.Low, 2), plots.Signed(effect.High, 2), against,
						cells)
				}
			}
		}
	}
	return nil
}
