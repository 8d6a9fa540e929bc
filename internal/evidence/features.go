package evidence

import (
	"fmt"
	"math"

	"nodemask/datasets"
	"nodemask/internal/cited"
	"nodemask/internal/joint"
	"nodemask/internal/multiverse"
	"nodemask/plots"
)

// levelsID is the ID of the figure of what masking adds, by how a model does without it.
const levelsID = "levels"

// betterUnmasked reports whether GIN with raw features and without masking is significantly above the masked one of
// another answer, over sizes and splits; false if one of the two lacks splits.
func (e *Evidence) betterUnmasked(raw, masked cited.Answer) (bool, error) {
	if !raw.Complete() || !masked.Complete() {
		return false, nil
	}
	var differences [][]float64
	for _, size := range raw.Sizes {
		plain, err := raw.F1(e.cited, raw.Reading, multiverse.Plain, size)
		if err != nil {
			return false, err
		}
		other, err := masked.F1(e.cited, masked.Reading, multiverse.Masked, size)
		if err != nil {
			return false, err
		}
		var bySplit []float64
		for _, seed := range raw.Seeds {
			bySplit = append(bySplit, plain[seed]-other[seed])
		}
		differences = append(differences, bySplit)
	}
	effect, err := joint.Pooled(differences)
	return effect.Low > 0, err
}

// featuresMatter says how far GIN's scores without masking are from the paper's, and where it hardly learns, as it has
// its features in answers and with raw ones: sentences of at most two numbers.
func featuresMatter(answers, raw []cited.Answer) (sentences []string) {
	for i, r := range raw {
		a := answers[i]
		if !a.Complete() || !r.Complete() {
			continue
		}
		where := fmt.Sprintf("On %s, where %s,", DataTitle(a.Data), situation(a.Setting))
		if here, cells := apartFromPublished(a); cells > 0 {
			there, _ := apartFromPublished(r)
			sentences = append(sentences, fmt.Sprintf("%s GIN's scores without masking are %.1f points (root mean square) from "+
				"the paper's, and with raw features %.1f.", where, here, there))
		}
		if plain := a.Effect.Plain[0]; a.Setting == datasets.Inductive && r.Effect.Plain[0] > plain+hardly {
			sentences = append(sentences, fmt.Sprintf("%s with %d %% to train on, GIN without masking scores %.0f, and "+
				"with raw features %.0f.", where, a.Sizes[0], plain, r.Effect.Plain[0]))
		}
	}
	return sentences
}

// hardly is by how many points of macro F1 GIN has to be below the one with raw features to be said to hardly learn.
const hardly = 10

// apartFromPublished returns the root mean square of an answer's scores without masking less the published ones, and
// how many there are.
func apartFromPublished(a cited.Answer) (rms float64, cells int) {
	for i, size := range a.Sizes {
		if published := Published(a.Data, a.Model, a.Setting, size, false); published != nil {
			rms += (a.Effect.Plain[i] - *published) * (a.Effect.Plain[i] - *published)
			cells++
		}
	}
	return math.Sqrt(rms / float64(max(cells, 1))), cells
}

// moreOrLess says a difference of scores without masking in words.
func moreOrLess(points float64) string {
	if points < 0 {
		return fmt.Sprintf("%.1f points less without masking", -points)
	}
	return fmt.Sprintf("%.1f points more without masking", points)
}

func average(x []float64) (mean float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	return mean
}

// Levels returns the figure of what masking adds to GIN in each of the stated readings that have run, by how GIN does
// without it.
func (e *Evidence) Levels() (plots.Panels, error) {
	p := plots.Panels{ID: levelsID, Title: "The better GIN does without masking, the less masking adds",
		XLabel: "macro F1 without masking (%)", YLabel: "points gained",
		Caption: fmt.Sprintf("GIN, each point one reading of what the paper is silent about: features, dropout, rates, "+
			"rescaling; means of the four sizes and %d splits. The text does not say how features are scaled.", cited.Splits),
		Rows: [][]plots.Chart{nil}}
	for _, setting := range datasets.Settings() {
		c := plots.Chart{ID: fmt.Sprintf("%s-%s", levelsID, setting), Title: "GIN, " + nodesOf(setting)}
		for _, data := range cited.Data() {
			divided := plots.Series{Name: DataTitle(data) + ", features divided by their sum", Scattered: true}
			raw := plots.Series{Name: DataTitle(data) + ", raw features", Scattered: true}
			for _, part := range []cited.Part{cited.Stated, cited.Departures} {
				answers, err := e.each(part, data, "gin", setting)
				if err != nil {
					return p, err
				}
				for _, a := range answers {
					isRaw := a.Has(cited.Choice{RawFeatures: true})
					if !a.Complete() || part == cited.Departures && !isRaw {
						continue
					}
					s := &divided
					if isRaw {
						s = &raw
					}
					s.X, s.Y = append(s.X, average(a.Effect.Plain)), append(s.Y, a.Effect.Pooled.MeanDifference)
				}
			}
			for _, s := range []plots.Series{divided, raw} {
				if len(s.X) > 0 {
					c.Series = append(c.Series, s)
				}
			}
		}
		p.Rows[0] = append(p.Rows[0], c)
	}
	return p, nil
}

// each returns what masking does in every reading of a part of the second protocol.
func (e *Evidence) each(part cited.Part, data, model string, setting datasets.Setting) ([]cited.Answer, error) {
	q, err := cited.Question(part, data, model, setting)
	if err != nil {
		return nil, err
	}
	return cited.Each(e.cited, q)
}
