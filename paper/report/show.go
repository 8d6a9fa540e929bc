package report

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"nodemask/paper"
	"nodemask/paper/record"
	"nodemask/plots"
	"nodemask/stats"
)

// IsChart reports whether an artifact is a chart.
func (a Artifact) IsChart() bool { return len(a.Curves) > 0 }

// Table returns means ± standard deviations, published values and our differences from them. A mean is bold if it
// differs significantly from that of [Entry.Against].
func (a Artifact) Table(r *record.Results) plots.Table {
	t := plots.Table{ID: a.ID, Title: a.Title, Caption: a.About, Header: slices.Concat(a.Labels, nil),
		TextColumns: len(a.Labels)}
	published := make([]bool, len(a.Columns))
	for _, row := range a.Rows {
		for i, e := range row.Entries {
			published[i] = published[i] || e.Published != nil
		}
	}
	for i, column := range a.Columns {
		if slices.Contains(a.Blocks, i) {
			t.Blocks = append(t.Blocks, len(t.Header))
		}
		t.Header = append(t.Header, column)
		if published[i] {
			t.Under = append(t.Under, len(t.Header), len(t.Header)+1)
			t.Header = append(t.Header, "paper", "Δ")
		}
	}
	t.Sections = len(a.Labels) > 1
	for _, row := range a.Rows {
		cells := plots.Fields(row.Labels...)
		for i, e := range row.Entries {
			value, number := e.show(r)
			cells = append(cells, value)
			if !published[i] {
				continue
			}
			theirs, difference := plots.Field{}, plots.Field{}
			if e.Published != nil {
				theirs.Text = fmt.Sprintf("%.*f", e.Metric.Digits(), *e.Published)
				if !math.IsNaN(number) {
					difference.Text = plots.Signed(number-*e.Published, e.Metric.Digits())
				}
			}
			cells = append(cells, theirs, difference)
		}
		t.Rows = append(t.Rows, cells)
	}
	if slices.ContainsFunc(t.Rows, func(row []plots.Field) bool {
		return slices.ContainsFunc(row, func(f plots.Field) bool { return f.Bold })
	}) {
		t.Caption += " " + boldText
	}
	return t
}

const boldText = "Bold: significantly above what it is compared with (p < 0.05); with ↓, significantly below."

func (e Entry) against(r *record.Results) (record.Comparison, bool) {
	if e.Against == nil {
		return record.Comparison{}, false
	}
	c := r.Compare(e.Cell, e.Metric, *e.Against, e.Metric)
	return c, c.Trials >= 2
}

// Chosen returns JSON from which a web page can train the experiment c. The JSON has c's keep rate, and the settings in
// which c differs from [paper.Cell], or from [paper.Masked] if c is masked. Chosen returns "" if web pages lack the
// data set.
func Chosen(c record.Cell) string {
	if !slices.Contains([]string{"cora", "citeseer", "pubmed"}, c.Data) {
		return ""
	}
	choices := valuesOf(c.Differences(usual(c)))
	if rate := c.Parameters.KeepRate; rate.Active() {
		choices["keep"] = fmt.Sprint(rate.Probability())
	}
	text, err := json.Marshal(map[string]any{"data": c.Data, "model": c.Parameters.Model, "setting": c.Setting,
		"train": c.TrainPercent, "choices": choices})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Described returns the note on a point of a [plots.Series]: the number of c's trials, their command and their scores.
// After a line "%%" follows notebook code that reruns the first trial of c and of each experiment in others.
func Described(r *record.Results, c record.Cell, others ...record.Cell) string {
	trials := r.Trials(c)
	words, seed := fmt.Sprintf("%d trials", len(trials)), uint64(1)
	if len(trials) == 1 {
		words = "1 trial"
	}
	lines := []string{words, c.Command(max(len(trials), 1))}
	for _, t := range trials {
		lines = append(lines, fmt.Sprintf("seed %d: macro F1 %.2f, epoch %d of %d kept", t.Seed, t.MacroF1, t.BestEpoch,
			t.Epochs))
	}
	if len(trials) > 0 {
		seed = trials[0].Seed
	}
	lines = append(lines, "%%", fmt.Sprintf("nb.Again(%d,", seed))
	for _, one := range append([]record.Cell{c}, others...) {
		lines = append(lines, "\t"+code(one)+",")
	}
	return strings.Join(append(lines, ")"), "\n")
}

func code(c record.Cell) string {
	maker, choices := "record.NewCell", c.Choices()
	like := paper.Cell(c.Data, c.Parameters.Model, c.Setting, c.TrainPercent)
	if d := c.Differences(like); len(d) < len(choices) {
		maker, choices = "paper.Cell", d
	}
	text := fmt.Sprintf("%s(%q, %q, %q, %d)", maker, c.Data, c.Parameters.Model, c.Setting, c.TrainPercent)
	if len(choices) > 0 {
		text = fmt.Sprintf("nb.Must1(%s.Choose(%#v))", text, valuesOf(choices))
	}
	return text
}

func valuesOf(choices []record.Choice) map[string]string {
	values := map[string]string{}
	for _, choice := range choices {
		values[choice.Axis.Name] = choice.Value
	}
	return values
}

func (e Entry) show(r *record.Results) (plots.Field, float64) {
	values := r.Values(e.Cell, e.Metric)
	if len(values) == 0 {
		return plots.Field{Text: "–", Note: "not run: " + e.Cell.Command(paperTrials), Cell: Chosen(e.Cell)}, math.NaN()
	}
	summary, digits := stats.Summarize(values), e.Metric.Digits()
	cell := plots.Field{Text: summary.Text(digits), Note: fmt.Sprintf("%d trials", summary.N), Cell: Chosen(e.Cell)}
	if summary.N == 1 {
		cell.Note = "1 trial"
	}
	if c, ok := e.against(r); ok {
		cell.Bold, cell.Down = c.P < significant, c.Difference < 0
		cell.Note += fmt.Sprintf("; %s against %s, p %s (%d pairs)", plots.Signed(c.Difference, digits), e.Against.Key(),
			stats.ProbabilityText(c.P), c.Trials)
	}
	return cell, summary.Mean
}

// Charts returns a chart for each panel that has results.
func (a Artifact) Charts(r *record.Results) []plots.Chart {
	var charts []plots.Chart
	for _, curve := range a.Curves {
		s := curve.series(r)
		if len(s.X) == 0 {
			continue
		}
		s.Of = curve.Of
		c := plots.Chart{ID: a.ID, Title: a.Title, Caption: a.About, XLabel: a.XLabel, YLabel: a.YLabel}
		if curve.Panel != "" {
			c.ID, c.Title = a.ID+"-"+curve.Panel, a.Title+", "+curve.Panel
		}
		if at := slices.IndexFunc(charts, func(other plots.Chart) bool { return other.ID == c.ID }); at >= 0 {
			charts[at].Series = append(charts[at].Series, s)
			continue
		}
		c.Series = []plots.Series{s}
		charts = append(charts, c)
	}
	return charts
}

func (c Curve) series(r *record.Results) plots.Series {
	s := plots.Series{Name: c.Name}
	add := func(x float64, values []float64) {
		m, low, high := stat.Mean(values, nil), stat.Mean(values, nil), stat.Mean(values, nil)
		// With two trials an interval would exceed any chart.
		if _, l, h, err := stats.ConfidenceInterval(values, 0.05); err == nil && len(values) > 2 {
			low, high = l, h
			if c.Losses == nil { // the values are percentages, not losses: keep the interval within 0 and 100
				low, high = max(l, 0), min(h, 100)
			}
		}
		s.X, s.Y, s.Low, s.High = append(s.X, x), append(s.Y, m), append(s.Low, low), append(s.High, high)
	}
	for _, p := range c.Points {
		if values := r.Values(p.Entry.Cell, p.Entry.Metric); len(values) > 0 {
			add(p.X, values)
			s.Cells, s.Notes = append(s.Cells, Chosen(p.Entry.Cell)), append(s.Notes, Described(r, p.Entry.Cell))
		}
	}
	if c.Losses == nil {
		return s
	}
	s.HideMarkers = true
	histories := c.losses(r)
	for epoch := 0; ; epoch++ {
		var values []float64
		for _, h := range histories {
			if epoch < len(h) {
				values = append(values, h[epoch])
			}
		}
		if len(values) == 0 || 2*len(values) < len(histories) {
			break
		}
		add(float64(epoch+1), values)
	}
	if n := len(s.X); n > 0 && !c.Validation {
		s.Cells = make([]string, n)
		s.Cells[n-1] = Chosen(*c.Losses) // a click on the last point reruns the trial
	}
	return s
}

func (c Curve) losses(r *record.Results) [][]float64 {
	var histories [][]float64
	for _, trial := range r.Trials(*c.Losses) {
		history := trial.TrainLosses
		if c.Validation {
			history = trial.ValidationLosses
		}
		if len(history) > 0 {
			histories = append(histories, history)
		}
	}
	return histories
}

// Points returns a chart's points as a table.
func (a Artifact) Points(r *record.Results) plots.Table {
	t := plots.Table{ID: a.ID, Title: a.Title, Caption: a.About,
		Header: []string{"curve", a.XLabel, a.YLabel, "low", "high"}}
	for _, c := range a.Charts(r) {
		for _, s := range c.Series {
			name := s.Name
			if panel, ok := strings.CutPrefix(c.ID, a.ID+"-"); ok {
				name = panel + ", " + name
			}
			for i := range s.X {
				row := []plots.Field{{Text: name}, {Text: fmt.Sprint(s.X[i])}}
				for _, y := range []float64{s.Y[i], s.Low[i], s.High[i]} {
					row = append(row, plots.Field{Text: fmt.Sprintf("%.4f", y)})
				}
				t.Rows = append(t.Rows, row)
			}
		}
	}
	return t
}
