package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"nodemask/datasets"
	"nodemask/internal/svg"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/plots"
	"nodemask/stats"
)

type ticker struct {
	w    io.Writer
	said time.Time
}

func newTicker(w io.Writer) *ticker { return &ticker{w, time.Now()} }

func (t *ticker) say(format string, args ...any) {
	if time.Since(t.said) < 10*time.Second {
		return
	}
	t.said = time.Now()
	_ = say(t.w, format, args...)
}

// say prints a line. [svg.Plain] makes the line safe, because names may contain control characters.
func say(w io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintln(w, svg.Plain(fmt.Sprintf(format, args...)))
	return err
}

func printTable(w io.Writer, t plots.Table) error {
	text, err := t.Render(plots.FormatText)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	return err
}

type plainJSON struct{ w io.Writer }

func (p plainJSON) Write(value []byte) (int, error) {
	var b []byte
	for _, r := range string(value) {
		if r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r) {
			b = fmt.Appendf(b, "\\u%04x", r)
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	if _, err := p.w.Write(b); err != nil {
		return 0, err
	}
	return len(value), nil
}

func trialTable(results []*train.Result) plots.Table {
	type column struct {
		name  string
		score func(*train.Result) float64
	}
	columns := []column{
		{"macro F1 %", func(r *train.Result) float64 { return r.Test.MacroF1 }},
		{"micro F1 %", func(r *train.Result) float64 { return r.Test.MicroF1 }},
		{"accuracy %", func(r *train.Result) float64 { return r.Test.Accuracy }},
	}
	if !slices.ContainsFunc(results, func(r *train.Result) bool { return r.AUC == nil }) {
		columns = append(columns, column{"AUC %", func(r *train.Result) float64 { return *r.AUC }})
	}
	if results[0].Cached != nil {
		columns = slices.Insert(columns, 1,
			column{"cached: macro F1 %", func(r *train.Result) float64 { return r.Cached.MacroF1 }},
			column{"cached, apart: macro F1 %", func(r *train.Result) float64 { return r.Apart.MacroF1 }})
	}
	t := plots.Table{ID: "trials", Header: []string{"seed"}, Groups: []int{len(results)}}
	means := plots.Fields("mean ± std")
	for _, c := range columns {
		t.Header = append(t.Header, c.name)
		means = append(means, plots.Field{Text: scores(results, c.score).Text(2)})
	}
	t.Header = append(t.Header, "best epoch", "epochs", "seconds")
	for _, r := range results {
		row := plots.Fields(fmt.Sprint(r.Seed))
		for _, c := range columns {
			row = append(row, plots.Field{Text: fmt.Sprintf("%.2f", 100*c.score(r))})
		}
		t.Rows = append(t.Rows, append(row, plots.Fields(fmt.Sprint(r.BestEpoch), fmt.Sprint(len(r.History)),
			fmt.Sprintf("%.1f", r.Seconds))...))
	}
	t.Rows = append(t.Rows, append(means, plots.Fields("", "", "")...))
	return t
}

// With fewer than fewestTested test nodes, one node changes accuracy by over 10 points.
const fewestTested = 10

func thinSplit(x train.Experiment, s *datasets.Split) (notes []string) {
	fewer, more := "expected a lower --train or --set validation", "expected a higher --train"
	if x.OwnSplit {
		fewer, more = "expected --split stratified", "expected --split stratified"
	}
	if n := len(s.Test); n < fewestTested {
		notes = append(notes, fmt.Sprintf("nodes that test: %d: scores on fewer than %d say little: %s", n, fewestTested, fewer))
	}
	trained := make([]bool, x.Graph.NumClasses())
	for _, v := range s.Train {
		trained[x.Graph.Labels[v]] = true
	}
	var without []string
	for _, v := range slices.Concat(s.Validation, s.Test) {
		if c := x.Graph.Labels[v]; !trained[c] {
			trained[c] = true
			without = append(without, strconv.Quote(x.Graph.Classes[c]))
		}
	}
	if len(without) > 0 {
		notes = append(notes, fmt.Sprintf("classes of which no node trains, so that they cannot be learnt: %d, such as %s: %s",
			len(without), without[0], more))
	}
	return notes
}

// With fewer than fewestValidated validation nodes, one node changes the score by over 5 points.
const fewestValidated = 20

// If validation macro F1 (from 0 to 1) rises by more than lateGain after the epoch whose weights were kept, poorTrials
// notes it. Such a rise is no noise even on 27 validation nodes, as Cora has at the largest train percentage.
const lateGain = 0.1

func poorTrials(x train.Experiment, results []*train.Result) (notes []string) {
	var collapsed, early []string
	for _, r := range results {
		nodes, later := 0, 0.0
		for _, row := range r.Validation.Confusion {
			for _, n := range row {
				nodes += n
			}
		}
		for _, epoch := range r.History[min(r.BestEpoch, len(r.History)):] {
			later = max(later, epoch.ValidationF1)
		}
		switch {
		case nodes < fewestValidated:
		case x.Parameters.StopOn != hyper.StopOnF1 && later >= r.Validation.MacroF1+lateGain:
			early = append(early, fmt.Sprint(r.Seed))
		case r.Validation.Collapsed():
			collapsed = append(collapsed, fmt.Sprint(r.Seed))
		}
	}
	p := x.Parameters
	if len(collapsed) > 0 {
		try := fmt.Sprintf("--set raw-features=%v, or a --learning-rate below %v", p.NormalizeFeatures, p.LearningRate)
		if hyper.TraitsOf(p.Model).MLP && p.Norm == "" {
			try = "--set norm=both, or " + try
		}
		notes = append(notes, fmt.Sprintf("collapsed (seed %s): macro F1 on validation is hardly that of one class for every "+
			"node: try %s", strings.Join(collapsed, ", "), try))
	}
	if len(early) > 0 {
		notes = append(notes, fmt.Sprintf("stopped early (seed %s): after the epoch that was kept, macro F1 on validation came to "+
			"%.0f points more: try --stop-on f1", strings.Join(early, ", "), 100*lateGain))
	}
	return notes
}

func scores(results []*train.Result, score func(*train.Result) float64) stats.Summary {
	percent := make([]float64, len(results))
	for i, r := range results {
		percent[i] = 100 * score(r)
	}
	return stats.Summarize(percent)
}
