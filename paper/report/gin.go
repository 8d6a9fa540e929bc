package report

import (
	"fmt"
	"math"

	"nodemask/datasets"
	"nodemask/paper/judge"
	"nodemask/plots"
)

const (
	levelsID = "levels"
	ginID    = "gin-without"
)

func average(x []float64) (mean float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	return mean
}

const addedLater = "†: added after first results were seen."

// GINTable returns unmasked GIN's score and masking's gain: as published, in the main ("cited") interpretation of the
// paper (PROTOCOL-2.md), and with each departure in [judge.ForGIN].
func (e *Evidence) GINTable() (plots.Table, error) {
	t := plots.Table{ID: ginID, Title: "GIN without masking, and what masking adds",
		Header: []string{"data, nodes", "paper: without", "adds", "cited reading: without", "adds"},
		Caption: "Macro F1 in percent without masking, in brackets how far that is from the paper's (root mean square over " +
			"sizes), and the points that masking adds, with a 95 % interval; means of 10, 25, 50 and 90 % to train on and " +
			"twenty splits. " + addedLater}
	for _, choice := range judge.ForGIN() {
		if choice.Rescale { // rescaling does not change unmasked GIN
			t.Header = append(t.Header, "adds, rescaled†")
			continue
		}
		t.Header = append(t.Header, choice.String()+"†: without", "adds")
	}
	t.TextColumns = len(t.Header)
	grid, err := e.grid()
	if err != nil {
		return t, err
	}
	answers, departed := grid[0], grid[1:1+len(judge.ForGIN())]
	for i, a := range answers {
		texts := []string{DataTitle(a.Data) + ", " + nodesOf(a.Setting), "–", "–"}
		var published []float64 // the paper's scores, one per train set size, or empty
		for _, size := range a.Sizes {
			if f1 := Published(a.Data, a.Model, a.Setting, size, false); f1 != nil {
				published = append(published, *f1)
			}
		}
		if gain := publishedOverReadings(a.Data, a.Model, a.Setting); gain != nil {
			texts[1], texts[2] = fmt.Sprintf("%.1f", average(published)), plots.Signed(*gain, 2)
		}
		of := []judge.Answer{a}
		for _, d := range departed {
			of = append(of, d[i])
		}
		for k, a := range of {
			plain, adds := "–", "–"
			if a.Complete() {
				plain, adds = fmt.Sprintf("%.1f", average(a.Effect.Plain)), intervalText(a.Effect.Pooled, 2)
			}
			if a.Complete() && len(published) > 0 {
				sum, n := squares(a, "levels")
				plain += fmt.Sprintf(" (%.1f)", math.Sqrt(sum/float64(n)))
			}
			if k == 0 || !judge.ForGIN()[k-1].Rescale {
				texts = append(texts, plain)
			}
			texts = append(texts, adds)
		}
		t.Rows = append(t.Rows, plots.Fields(texts...))
	}
	return t, nil
}

// Levels draws masking's gain against unmasked GIN's score. Each point is one interpretation of the paper, from
// [judge.Levels].
func (e *Evidence) Levels() (plots.Panels, error) {
	p := plots.Panels{ID: levelsID, Title: "The better GIN does without masking, the less masking adds",
		XLabel: "F1 without masking (%)", YLabel: "points gained",
		Caption: fmt.Sprintf("GIN, each point one reading of what the paper is silent about: features, dropout, rates, "+
			"rescaling; means of the four sizes and %d splits. ", judge.Splits) + addedLater}
	for _, setting := range datasets.Settings() {
		var row []plots.Chart
		for _, data := range judge.Data() {
			c := plots.Chart{ID: fmt.Sprintf("%s-%s-%s", levelsID, data, setting), Title: DataTitle(data) + ", " +
				nodesOf(setting)}
			var err error
			if c.Series, err = e.levels(data, setting); err != nil {
				return p, err
			}
			if len(c.Series) > 0 {
				row = append(row, c)
			}
		}
		if len(row) > 0 {
			p.Rows = append(p.Rows, row)
		}
	}
	return p, nil
}

func (e *Evidence) levels(data string, setting datasets.Setting) (all []plots.Series, err error) {
	divided, onF1, raw, err := judge.Levels(data, setting)
	if err != nil {
		return nil, err
	}
	for i, q := range []judge.Question{divided, onF1, raw} {
		s := plots.Series{Scattered: true, Name: []string{"features divided by their sum",
			"the same, stopped on macro F1†", "raw features"}[i]}
		answers, err := judge.Each(e.cited, q)
		if err != nil {
			return nil, err
		}
		for _, a := range answers {
			if a.Complete() {
				s.X, s.Y = append(s.X, average(a.Effect.Plain)), append(s.Y, a.Effect.Pooled.MeanDifference)
			}
		}
		if len(s.X) > 0 {
			all = append(all, s)
		}
	}
	return all, nil
}

func (e *Evidence) each(part judge.Part, data, model string, setting datasets.Setting) ([]judge.Answer, error) {
	q, err := judge.QuestionOf(part, data, model, setting)
	if err != nil {
		return nil, err
	}
	return judge.Each(e.cited, q)
}
