package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/paper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/paper/recordtest"
	"nodemask/stats"
)

func claim(t *testing.T, id string) Claim {
	t.Helper()
	for _, a := range Artifacts() {
		for _, c := range a.Claims {
			if c.ID == id {
				return c
			}
		}
	}
	t.Fatalf("no claim %s", id)
	return Claim{}
}

func artifact(t *testing.T, id string) Artifact {
	t.Helper()
	found, err := Find(id)
	require.NoError(t, err)
	return found[0]
}

func TestTheGradesOfOneReading(t *testing.T) {
	published := 2.0
	up, none := stats.TTest{MeanDifference: 1, Low: 0.5, High: 1.5, P: 0.01}, stats.TTest{MeanDifference: 0.5, Low: -0.5,
		High: 1.5, P: 0.4}
	for _, c := range []struct {
		name      string
		pooled    stats.TTest
		k, m, n   int
		published *float64
		want      judge.Grade
	}{
		{"significant, half of its comparisons too", up, 2, 0, 4, nil, judge.Reproduced},
		{"significant, but one the other way", up, 3, 1, 4, nil, judge.SameDirection},
		{"significant, fewer than half", up, 1, 0, 4, nil, judge.SameDirection},
		{"significantly above zero is never contradicted, however small", stats.TTest{MeanDifference: 0.2, Low: 0.1,
			High: 0.3, P: 0.01}, 0, 0, 4, &published, judge.SameDirection},
		{"significant the other way", stats.TTest{MeanDifference: -1, Low: -1.5, High: -0.5, P: 0.01}, 0, 2, 4, nil,
			judge.Contradicted},
		{"the interval ends below half of the published effect", stats.TTest{MeanDifference: 0.1, Low: -0.7, High: 0.9,
			P: 0.7}, 0, 0, 4, &published, judge.Contradicted},
		{"the same, and nothing published", stats.TTest{MeanDifference: 0.1, Low: -0.7, High: 0.9, P: 0.7}, 0, 0, 4, nil,
			judge.CannotTell},
		{"the interval has half of the published effect", none, 0, 0, 4, &published, judge.CannotTell},
	} {
		assert.Equal(t, c.want, grade(c.pooled, c.k, c.m, c.n, c.published), c.name)
	}
}

func TestAVerdictHasRulePooledAndPublishedEffect(t *testing.T) {
	c := Claim{Judge: func(e *Evidence) Verdict {
		return judgePairs(e.Records, points, gains("cora", "gin", []datasets.Setting{datasets.Inductive}, Sizes(), asIs))
	}}
	require.Equal(t, judge.NotRun, c.Judge(newEvidence(t, nil)).Grade)
	var records []record.Record
	for i, size := range Sizes() {
		plain := paper.Cell("cora", "gin", datasets.Inductive, size)
		records = append(records, recordtest.Records(plain, 70, 71, 72)...)
		if i < 4 { // gains 2.9, 3.1, 3: mean 3, far from noise
			records = append(records, recordtest.Records(paper.Masked(plain, 0.5), 72.9, 74.1, 75)...)
		} else { // gains 2, −2, 0
			records = append(records, recordtest.Records(paper.Masked(plain, 0.5), 72, 69, 72)...)
		}
	}
	v := c.Judge(newEvidence(t, records))
	// By seed: (4·2.9 + 3·2)/7 = 2.514, (4·3.1 − 3·2)/7 = 0.914, 4·3/7 = 1.714: mean 1.714, standard deviation 0.8.
	assert.InDelta(t, 12.0/7, v.Effect.MeanDifference, 1e-9)
	assert.InDelta(t, 12.0/7-4.3027*0.8/1.7320508, v.Effect.Low, 1e-3)
	assert.Equal(t, "4 of 7", v.Strict())
	// Published gains: 3.47, 3.28, 3.23, 2.14, 1.42, 1.42, 1.5.
	assert.InDelta(t, 16.46/7, *v.Published, 1e-9)
	assert.Equal(t, judge.CannotTell, v.Grade, "p is 0.065")
	least, err := stats.Detectable(v.Effect.StdDev, 3)
	require.NoError(t, err)
	assert.Equal(t, least, v.Detectable)
	assert.Contains(t, v.Figures, "significant in 4 of 7, 3 or more trials each")
	assert.Contains(t, v.Figures, "would have been found with a power of 80 %")
	assert.Equal(t, "+1.71 [−0.27, 3.70] points (paper: +2.35)", v.EffectText())

	missing := records[:len(records)-3]
	v = c.Judge(newEvidence(t, missing))
	assert.Equal(t, judge.NotRun, v.Grade)
	assert.Equal(t, "6 of 7 comparisons have at least two trials", v.Figures)
}

func TestASeedThatOneComparisonLacksIsNotPooled(t *testing.T) {
	c := claim(t, "table-models/gcn")
	var records []record.Record
	for _, cell := range fewCells("gcn") {
		gains := []float64{71, 73, 72, 99}
		if cell.Setting == datasets.Inductive {
			gains = gains[:3]
		}
		records = slices.Concat(records, recordtest.Records(cell.Fair(), 70, 70, 70, 70),
			recordtest.Records(masked(cell), gains...))
	}
	v := c.Judge(newEvidence(t, records))
	assert.Equal(t, 3, v.Effect.N)
	assert.InDelta(t, 2, v.Effect.MeanDifference, 1e-12)
}

func TestClaimsHaveNamesWordsAndVerdicts(t *testing.T) {
	ids, texts, e := map[string]bool{}, map[string]bool{}, newEvidence(t, nil)
	for _, a := range Artifacts() {
		for _, c := range a.Claims {
			require.False(t, ids[c.ID] || texts[c.Text], "%s: %s", c.ID, c.Text)
			ids[c.ID], texts[c.Text] = true, true
			require.True(t, strings.HasPrefix(c.ID, a.ID+"/"), c.ID)
			require.Contains(t, Subjects(), c.Subject, c.ID)
			require.Equal(t, c.Ours, c.Says == "", "%s: the paper's claims quote it, and ours do not", c.ID)
			require.Equal(t, judge.NotRun, c.Judge(e).Grade, c.ID)
		}
	}
	require.Greater(t, len(ids), 50)
	require.True(t, ids["table-gin-reddit/gain-inductive"], "shown as not run")
}

func TestMADIsJudgedInEachRepresentation(t *testing.T) {
	// mad makes trials with these mean MADs and a little spread.
	mad := func(c record.Cell, hidden, logits, softmax float64) []record.Record {
		records := recordtest.Records(c, 70, 70, 70)
		for i := range records {
			noise := 0.001 * float64(i)
			m := stats.Smoothness{Hidden: hidden + noise, Logits: logits - noise, Softmax: softmax + 2*noise}
			records[i].MAD = &m
		}
		return records
	}
	smooth := func(dropout, masking [3]float64) *Evidence {
		var records []record.Record
		for _, model := range []string{"gat", "sgat"} {
			for _, c := range plainCells("cora", model, datasets.Settings(), []int{10}) {
				records = slices.Concat(records, mad(c.Fair(), 0.2, 0.2, 0.2), mad(c, dropout[0], dropout[1], dropout[2]),
					mad(masked(c), masking[0], masking[1], masking[2]))
			}
		}
		return newEvidence(t, records)
	}
	order := claim(t, "table-mad/order")
	v := order.Judge(smooth([3]float64{0.3, 0.3, 0.3}, [3]float64{0.4, 0.4, 0.4}))
	assert.Equal(t, judge.Reproduced, v.Grade)
	assert.Equal(t, "12 of 12", v.Strict())
	v = order.Judge(smooth([3]float64{0.3, 0.3, 0.1}, [3]float64{0.2, 0.4, 0.4}))
	assert.Equal(t, judge.Depends, v.Grade, "it does not hold for the hidden one")
	assert.Equal(t, "depends on the reading", v.GradeText())
	assert.Contains(t, v.Figures, "last hidden representation (contradicted): −0.10")
	assert.Equal(t, judge.Contradicted, order.Judge(smooth([3]float64{0.3, 0.3, 0.3},
		[3]float64{0.2, 0.1, 0.1})).Grade)
	dropout := claim(t, "table-mad/dropout")
	assert.Equal(t, judge.Reproduced, dropout.Judge(smooth([3]float64{0.3, 0.3, 0.3},
		[3]float64{0.2, 0.4, 0.4})).Grade)
	assert.Equal(t, judge.Depends, dropout.Judge(smooth([3]float64{0.3, 0.1, 0.1}, [3]float64{0.2, 0.4, 0.4})).Grade)
}

func TestMADOfGINIsTheSameIfBothAreNearThePublishedValue(t *testing.T) {
	c := claim(t, "table-gin-cora/mad")
	type means struct{ hidden, logits, softmax float64 }
	gin := func(unmasked, with means) Verdict {
		var records []record.Record
		for _, cell := range plainCells("cora", "gin", datasets.Settings(), []int{10}) {
			for mean, of := range map[means]record.Cell{unmasked: cell, with: masked(cell)} {
				for i, r := range recordtest.Records(of, 70, 70, 70) {
					noise := 0.001 * float64(i)
					r.MAD = &stats.Smoothness{Hidden: mean.hidden + noise, Logits: mean.logits + noise,
						Softmax: mean.softmax + noise}
					records = append(records, r)
				}
			}
		}
		return c.Judge(newEvidence(t, records))
	}
	same := func(mean float64) means { return means{mean, mean, mean} }
	assert.Equal(t, judge.Reproduced, gin(same(0.64), same(0.67)).Grade)
	assert.Equal(t, judge.SameDirection, gin(same(0.8), same(0.81)).Grade, "almost identical, and another value")
	assert.Equal(t, judge.Contradicted, gin(same(0.65), same(0.75)).Grade)
	v := gin(means{0.2, 0.8, 0.64}, means{0.3, 0.6, 0.67})
	assert.Equal(t, "depends on the reading", v.GradeText(), "the class probabilities alone agree")
	assert.Equal(t, "2 of 6", v.Strict())
	assert.Contains(t, v.Figures,
		"class probabilities (reproduced): inductive: 0.64 without, 0.67 with masking, difference +0.03 [")
	assert.Contains(t, v.Figures,
		"last hidden representation (contradicted): inductive: 0.20 without, 0.30 with masking, difference +0.10 [")
	assert.True(t, strings.HasSuffix(v.Figures, "(paper: 0.65)"), v.Figures)
}
