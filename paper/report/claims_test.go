package report

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/paper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/paper/recordtest"
)

func TestTheBestKeepRateIsComparedWithTheBestOfTheOthers(t *testing.T) {
	c := claim(t, "fig-keep-rate-gin/above-half")
	curves := figKeepRates()[0].Curves
	require.Equal(t, 1.0, curves[0].Points[9].X, "nothing masked is a point of the figure")
	unmasked := 60.0
	at := func(best float64, top ...float64) Verdict {
		var records []record.Record
		for _, curve := range curves {
			for _, p := range curve.Points {
				f1 := []float64{70, 71, 72}
				switch p.X {
				case best:
					f1 = top
				case 1:
					f1 = []float64{unmasked, unmasked, unmasked}
				}
				records = append(records, recordtest.Records(p.Entry.Cell, f1...)...)
			}
		}
		return c.Judge(newEvidence(t, records))
	}
	v := at(0.8, 73, 74.1, 75)
	assert.Equal(t, judge.Reproduced, v.Grade)
	assert.Contains(t, v.Figures, "inductive: best at p = 0.8 with 74.03, without masking 60.00")
	assert.Equal(t, judge.Contradicted, at(0.3, 73, 74.1, 75).Grade)
	assert.Equal(t, judge.CannotTell, at(0.3, 75, 69, 72).Grade, "higher within noise")
	unmasked = 90
	assert.Equal(t, judge.SameDirection, at(0.8, 73, 74.1, 75).Grade, "no masking is better still")
}

func TestTheBestOfManyKeepRatesGainsNothingByChance(t *testing.T) {
	var records []record.Record
	for _, curve := range figKeepRates()[2].Curves {
		for i, p := range curve.Points {
			f1 := []float64{70, 70, 70}
			if p.X != paper.MaskedKeepRate {
				f1[i%3] = 80 // one trial that makes its rate's mean the best
			}
			records = append(records, recordtest.Records(p.Entry.Cell, f1...)...)
		}
	}
	v := claim(t, "fig-keep-rate-gat/half").Judge(newEvidence(t, records))
	require.NotNil(t, v.Effect)
	require.Zero(t, v.Effect.MeanDifference, v.Figures)
}

func TestDepthIsJudgedUnderBothMeaningsOfP(t *testing.T) {
	panels := depths(figDepth().Curves)
	require.Len(t, panels, 2)
	// depth takes each depth's best keep rate, and base, a network's score.
	depth := func(id string, best []float64, base func(setting, depth int) float64) Verdict {
		var records []record.Record
		for s, panel := range panels {
			for i, curve := range panel {
				for _, p := range curve.Points {
					f1 := base(s, i)
					if p.X == best[i] {
						f1 += 5
					}
					// The third split has another best keep rate at 16 layers: slopes vary.
					third := f1 + 1.5
					if i == 3 && p.X == 0.4 {
						third = f1 + 10
					}
					records = append(records, recordtest.Records(p.Entry.Cell, f1-1, f1, third, f1+2)...)
				}
			}
		}
		return claim(t, id).Judge(newEvidence(t, records))
	}
	trained := func(int, int) float64 { return 70 }
	inductiveGuesses := func(setting, layers int) float64 {
		if setting == 0 {
			return []float64{70, 70, 17, 13}[layers]
		}
		return 70
	}
	guessing := func(_, layers int) float64 { return []float64{70, 70, 17, 13}[layers] }
	falling := []float64{0.8, 0.7, 0.6, 0.5}
	v := depth("fig-depth/falls", falling, trained)
	assert.Equal(t, judge.Reproduced, v.Grade)
	assert.Equal(t, "2 of 2", v.Strict())
	// Slopes of -0.1 per doubling, and of -0.13 on the split with 0.4 at 16 layers.
	assert.InDelta(t, 0.1075, v.Effect.MeanDifference, 1e-9)
	assert.Equal(t, judge.Contradicted, depth("fig-depth/falls-dropping", falling, trained).Grade)
	v = depth("fig-depth/falls", falling, inductiveGuesses)
	assert.Equal(t, judge.Reproduced, v.Grade)
	assert.Equal(t, "1 of 1", v.Strict())
	assert.Contains(t, v.Figures,
		"inductive: 8 layers reaches 22.62 at best, where 2 layers reaches 75.62: it does not train")
	v = depth("fig-depth/falls", falling, guessing)
	assert.Equal(t, judge.CannotTest, v.Grade)
}

func TestTwoLayersAreComparedWithDepthsThatTrain(t *testing.T) {
	layers := func(f1 ...float64) Verdict {
		var records []record.Record
		for _, panel := range depths(figDepth().Curves) {
			for i, curve := range panel {
				of := recordtest.Records(curve.Points[9].Entry.Cell, f1[i]-1, f1[i], f1[i]+1.5+0.1*float64(i))
				records = append(records, of...)
			}
		}
		return claim(t, "fig-depth/two").Judge(newEvidence(t, records))
	}
	v := layers(80, 75, 17, 13)
	assert.Equal(t, judge.Reproduced, v.Grade)
	assert.Equal(t, "2 of 2", v.Strict())
	assert.Contains(t, v.Figures, "16 layers reaches 13.27 at best")
	assert.Equal(t, judge.CannotTest, layers(80, 17, 17, 13).Grade)
	assert.Equal(t, judge.Contradicted, layers(75, 80, 17, 13).Grade)
}

func TestLossesAreComparedTrialByTrial(t *testing.T) {
	var records []record.Record
	for _, s := range datasets.Settings() {
		for _, keep := range []float64{1, 0.5} {
			c := paper.Masked(paper.Cell("cora", "gin", s, 10), keep)
			c.History = true
			for i, r := range recordtest.Records(c, 70, 71, 72) {
				noise := 0.001 * float64(i)
				begin, end := []float64{2, 1 + noise}, 1.2 // minimum 1, end 1.2: a rise of 20 %
				r.TrainLosses = []float64{2, 1}
				if keep != 1 { // minimum and end 1.5
					begin, end = []float64{2}, 1.5+noise
					r.TrainLosses = []float64{3, 2 + noise, 100}
				}
				r.ValidationLosses = append(begin, slices.Repeat([]float64{end}, 10)...)
				records = append(records, r)
			}
		}
	}
	e := newEvidence(t, records)
	v := claim(t, "fig-loss-cora/train").Judge(e)
	assert.Equal(t, judge.Reproduced, v.Grade)
	assert.InDelta(t, 1.0005, v.Effect.MeanDifference, 1e-9, "the third epoch has no pair")
	v = claim(t, "fig-loss-cora/lower").Judge(e)
	assert.Equal(t, judge.Contradicted, v.Grade)
	v = claim(t, "fig-loss-cora/regularises").Judge(e)
	assert.Equal(t, judge.Reproduced, v.Grade)
	assert.InDelta(t, 20, v.Effect.MeanDifference, 0.2)
	v = claim(t, "fig-loss-cora/overfits").Judge(e)
	assert.Equal(t, judge.Reproduced, v.Grade)
	assert.InDelta(t, 15, v.Effect.MeanDifference, 0.2)
}

// cached makes trials of GIN on Cora at every size, with ever fewer nodes involved.
func cached(t *testing.T) *Evidence {
	var records []record.Record
	for i, size := range Sizes() {
		for _, r := range recordtest.Records(paper.Cell("cora", "gin", datasets.Inductive, size), 70, 71) {
			r.NodesCached = 2700 - 100*i
			records = append(records, r)
		}
	}
	return newEvidence(t, records)
}

func TestNodesThatCachingInvolvesAreCounted(t *testing.T) {
	as := func(e *Evidence, id string) judge.Grade { return claim(t, "table-scale-cora/"+id).Judge(e).Grade }
	e := cached(t)
	assert.Equal(t, judge.Reproduced, as(e, "nodes"))
	assert.Equal(t, judge.Reproduced, as(e, "saving"))
	assert.Equal(t, judge.CannotTell, as(e, "nodes-published"), "near at some sizes")
	assert.Equal(t, judge.NotRun, as(newEvidence(t, nil), "nodes"))
}

func TestExpectedCachingIsOfPublishedScores(t *testing.T) {
	// Tables 3 and 4 of the paper, Cora, 10, 25, 50 and 90 %: GIN + NM cached minus GIN.
	want := ((55.82 - 52.91) + (77.32 - 74.71) + (83.95 - 83.07) + (85.85 - 85.13)) / 4
	assert.InDelta(t, want, *publishedContrast("cora", judge.Contrast{Of: func(s judge.Scores) float64 {
		return s.MaskedCached - s.Plain
	}}), 1e-9)
}

func TestScoresDisagreeOnlyBeyondNoise(t *testing.T) {
	c := claim(t, "table-scores/agree")
	scores := func(micro ...float64) Verdict {
		var records []record.Record
		for _, model := range judge.Models() {
			for _, cell := range fewCells(model) {
				records = append(records, recordtest.Records(cell, 70, 70, 70)...)
				for i, r := range recordtest.Records(paper.Masked(cell, 0.5), 71, 69, 71) {
					if model == "gin" {
						r.MicroF1 = micro[i]
					}
					records = append(records, r)
				}
			}
		}
		return c.Judge(newEvidence(t, records))
	}
	assert.Equal(t, judge.Reproduced, scores(70.5, 68, 71).Grade, "−0.17 within noise, where macro F1 has +0.33")
	v := scores(69, 69.1, 68.9)
	assert.Equal(t, judge.CannotTell, v.Grade)
	assert.Equal(t, "8 of 12", v.Strict())
}
