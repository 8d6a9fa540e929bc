package main

import (
	"bufio"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nodemask/datasets"
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

// These parts of PROTOCOL.md can still be run; the others are retired.
const depthPart, tunedPart judge.Part = "depth", "tuned"

func shownParts() []judge.Part {
	return slices.DeleteFunc(judge.Parts(), func(p judge.Part) bool { return p == judge.Balanced })
}

func partOf(names []string, known ...judge.Part) (judge.Part, error) {
	for _, name := range names {
		if part := judge.Part(name); slices.Contains(known, part) {
			if len(names) > 1 {
				return "", misusef("%s is a part of a protocol: expected it alone", name)
			}
			return part, nil
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
	runFlags
	part        judge.Part
	data, model string
	store       *record.Store
	protocol    string
	opened      *backend.Backend
}

func openPart(c *cobra.Command, part judge.Part, f runFlags, data, model string) *partRun {
	r := &partRun{Command: c, runFlags: f, part: part, data: data, model: model, protocol: judge.SecondProtocol()}
	in := report.SecondFolder
	switch part {
	case judge.Graphs:
		in, r.protocol = report.ThirdFolder, judge.ThirdProtocol()
	case depthPart, tunedPart:
		in, r.protocol = report.FirstFolder, judge.FirstProtocol()
	}
	r.store = record.OpenUnder(filepath.Join(f.folder, in), r.protocol)
	return r
}

func (r *partRun) run() error {
	switch r.part {
	case judge.Balanced:
		return r.runTuned(judge.BalancedDesign())
	case tunedPart:
		return r.runTuned(judge.DrawnDesign())
	case depthPart:
		return r.runDepth()
	}
	questions, err := r.questions()
	if err != nil {
		return err
	}
	for _, some := range judge.Stages(r.part, questions) {
		cells, err := judge.Cells(some)
		if err != nil {
			return err
		}
		if err := r.train(judge.Batch{Cells: cells, Seeds: r.part.Seeds()}); err != nil {
			return err
		}
	}
	return nil
}

func (r *partRun) train(batch judge.Batch) (err error) {
	if r.opened == nil {
		if r.opened, err = openBackend(r.ErrOrStderr(), r.backend); err != nil {
			return err
		}
	}
	o := measure.Options{Seeds: batch.Seeds, Batch: 5, Protocol: r.protocol}
	if r.part == judge.Graphs {
		o.Batch = 1
		if o.Pool, err = train.NewPool(r.opened, r.jobs, len(batch.Cells)); err != nil {
			return err
		}
		defer o.Pool.Close()
	}
	_, err = r.runFlags.train(r.Command, r.opened, r.store, batch.Cells, o, func(last record.Record) string {
		return fmt.Sprintf("%s, %s, %s, %d%%, split %d, %d epochs in %.2f s", last.Data, last.Model, last.Setting, last.TrainPercent,
			last.Seed, last.Epochs, last.Seconds)
	})
	return err
}

func (r *partRun) chosen(data, models []string) (someData, someModels []string, err error) {
	one := func(flag, value string, known []string) []string {
		if value == "all" {
			return known
		}
		if !slices.Contains(known, value) {
			err = misusef("--%s %s: expected all or one of %s", flag, value, strings.Join(known, ", "))
		}
		return []string{value}
	}
	return one("data", r.data, data), one("model", r.model, models), err
}

func (r *partRun) questions() (questions []judge.Question, err error) {
	data, models, err := r.chosen(r.part.Data(), r.part.Models())
	if err != nil {
		return nil, err
	}
	for _, on := range data {
		for _, model := range models {
			for _, setting := range datasets.Settings() {
				q, err := judge.QuestionOf(r.part, on, model, setting)
				if err != nil {
					return nil, err
				}
				questions = append(questions, q)
			}
		}
	}
	return questions, nil
}

func (r *partRun) show() error {
	if r.part == judge.Graphs {
		return r.showGraphs()
	}
	questions, err := r.questions()
	if err != nil {
		return err
	}
	results, w := r.store.Results(nil), bufio.NewWriter(r.OutOrStdout())
	for _, q := range questions {
		answers, err := judge.Each(results, q)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s, %s, %s\n", q.Data, q.Model, q.Setting)
		for _, a := range answers {
			reading := judge.Departure(q.Axes, a.Reading)
			if a.Effect == nil {
				fmt.Fprintf(w, "    %s: %d of %d splits\n", reading, a.Splits, len(q.Seeds))
				continue
			}
			t := a.Effect.Pooled
			fmt.Fprintf(w, "    %s: %s points (95 %% interval %s to %s, p %s) over %d splits", reading,
				plots.Signed(t.MeanDifference, 2), plots.Signed(t.Low, 2), plots.Signed(t.High, 2), stats.ProbabilityText(t.P),
				a.Splits)
			for i, size := range q.Sizes {
				fmt.Fprintf(w, "; %d %%: %.2f to %.2f", size, a.Effect.Plain[i], a.Effect.Masked[i])
			}
			fmt.Fprintln(w)
		}
	}
	return w.Flush()
}

func (r *partRun) showGraphs() error {
	e, w := report.Open(r.folder), r.OutOrStdout()
	for _, model := range judge.Graphs.Models() {
		t, err := e.GraphsTable(model)
		if err != nil {
			return err
		}
		if err := printTable(w, t); err != nil {
			return err
		}
	}
	sign, err := e.OneSign()
	if err != nil {
		return err
	}
	fmt.Fprint(w, sign)
	if err := printTable(w, report.BeforehandTable()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "Masking. %s\nRescaled. %s\n", judge.Fit(judge.Cases(), false).Words(),
		judge.Fit(judge.Cases(), true).Words())
	return cmp.Or(e.Err(), err)
}

func (r *partRun) runDepth() error {
	if _, _, err := r.chosen([]string{"cora"}, []string{"gin"}); err != nil {
		return err
	}
	figure, err := report.Find("fig-depth")
	if err != nil {
		return err
	}
	cells := figure[0].Cells()
	for i, c := range cells {
		cells[i] = c.Trained()
	}
	return r.train(judge.Batch{Cells: cells, Seeds: hyper.Seeds(judge.FirstDepthSplit, judge.DepthSplits)})
}

// runTuned chooses a configuration for each method of each question, then compares the chosen ones on fresh splits.
func (r *partRun) runTuned(design judge.Design) error {
	var names []string
	for _, m := range design.Models {
		names = append(names, m.Name)
	}
	data, models, err := r.chosen(design.Data, slices.Compact(names))
	if err != nil {
		return err
	}
	for _, q := range design.Of(data, models).Questions() {
		for before := -1; ; {
			t, err := design.Tuned(r.store.Results(nil), q)
			if err != nil {
				return err
			}
			if len(t.Next.Cells) == 0 || t.Stage == before {
				break
			}
			if err := r.train(t.Next); err != nil {
				return err
			}
			before = t.Stage
		}
	}
	return nil
}
