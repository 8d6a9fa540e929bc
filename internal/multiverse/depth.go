package multiverse

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/record"
	"nodemask/stats"
)

// Batch is what to train next: cells, each on these splits.
type Batch struct {
	Cells []record.Cell
	Seeds []uint64
}

// The rule of the protocol's part on depth. What it leaves open: GIN's preset otherwise, validated and read where
// stopping follows macro F1, new nodes with all their edges.
const (
	depthSize       = 10
	depthFirstTry   = 200 // splits that bodies and readouts are chosen on
	depthTries      = 3
	depthChosenWith = 16 // layers
	depthStop       = hyper.StopOnF1
)

// Depths returns the numbers of layers that are compared.
func Depths() []int { return []int{2, 4, 8, 16} }

// DepthKeepRates returns the keep rates that are compared at each depth.
func DepthKeepRates() []float64 { return []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1} }

// depthBodies are the bodies and readouts to choose from, as options of the first two axes of GIN.
func depthBodies() ([]map[string]string, []string, error) {
	axes, err := AxesOf("gin")
	if err != nil {
		return nil, nil, err
	}
	var choices []map[string]string
	var names []string
	for _, body := range axes[0].Options {
		for _, readout := range axes[1].Options {
			all := map[string]string{}
			maps.Copy(all, body.Choices)
			maps.Copy(all, readout.Choices)
			choices = append(choices, all)
			names = append(names, body.Name+", "+readout.Name)
		}
	}
	return choices, names, nil
}

func depthCell(data string, setting datasets.Setting, choices map[string]string, layers int,
	keepRate float64) (record.Cell, error) {
	values := maps.Clone(choices)
	values["layers"], values["keep"] = fmt.Sprint(layers), fmt.Sprint(keepRate)
	c, err := record.NewCell(data, "gin", setting, depthSize).Choose(values)
	return c.Trained(), err
}

// Depth is the part on depth, as far as it is known.
type Depth struct {
	Data string
	// Chosen names the body and readout with the best validation F1 without masking at 16 layers; "": not known yet.
	Chosen  string
	Scores  map[string]float64 // mean validation macro F1 of each body and readout, in percent
	choices map[string]string
	// Next is what is to be trained; without cells everything is there.
	Next Batch
}

// Depth says what is to be trained next for the part on depth.
func (r *Results) Depth(data string) (Depth, error) {
	d := Depth{Data: data, Scores: map[string]float64{}}
	choices, names, err := depthBodies()
	if err != nil {
		return d, err
	}
	all, err := r.part(record.Pair{Data: data, Model: "gin"})
	if err != nil {
		return d, err
	}
	tries := Seeds(depthFirstTry, depthTries)
	for i, body := range choices {
		total, n := 0.0, 0
		for _, setting := range datasets.Settings() {
			c, err := depthCell(data, setting, body, depthChosenWith, 1)
			if err != nil {
				return d, err
			}
			for _, seed := range tries {
				t, there := all[c.Key()][seed]
				if !there {
					continue
				}
				total += t.ValidationF1[slices.Index(hyper.StopOns(), depthStop)][0]
				n++
			}
			d.Next.Cells = append(d.Next.Cells, c)
		}
		if n != len(datasets.Settings())*depthTries {
			d.Next.Seeds = tries
			continue
		}
		d.Scores[names[i]] = total / float64(n)
		if best, known := d.Scores[d.Chosen]; !known || d.Scores[names[i]] > best {
			d.Chosen, d.choices = names[i], body
		}
	}
	if d.Next.Seeds != nil {
		d.Chosen = ""
		return d, nil
	}
	d.Next = Batch{Seeds: Seeds(FirstSplit, Splits)}
	for _, setting := range datasets.Settings() {
		for _, layers := range Depths() {
			for _, p := range DepthKeepRates() {
				c, err := depthCell(data, setting, d.choices, layers, p)
				if err != nil {
					return d, err
				}
				_, complete, err := r.Count([]record.Cell{c}, Seeds(FirstSplit, Splits))
				if err != nil {
					return d, err
				}
				if complete == 0 {
					d.Next.Cells = append(d.Next.Cells, c)
				}
			}
		}
	}
	return d, nil
}

// Seeds lists n seeds from the first on.
func Seeds(first uint64, n int) []uint64 {
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = first + uint64(i)
	}
	return seeds
}

// DepthScore is a network of some depth at a keep rate.
type DepthScore struct {
	Layers   int
	KeepRate float64
	F1       []float64 // macro F1 in percent, by split
}

// DepthScores returns the macro F1 of all depths and keep rates in a setting, and whether all of them are there.
func (r *Results) DepthScores(d Depth, setting datasets.Setting) (scores []DepthScore, complete bool, err error) {
	if d.Chosen == "" {
		return nil, false, nil
	}
	all, err := r.part(record.Pair{Data: d.Data, Model: "gin"})
	if err != nil {
		return nil, false, err
	}
	complete = true
	for _, layers := range Depths() {
		for _, p := range DepthKeepRates() {
			c, err := depthCell(d.Data, setting, d.choices, layers, p)
			if err != nil {
				return nil, false, err
			}
			s := DepthScore{Layers: layers, KeepRate: p}
			for _, seed := range Seeds(FirstSplit, Splits) {
				if t, there := all[c.Key()][seed]; there {
					s.F1 = append(s.F1, t.F1[slices.Index(hyper.StopOns(), depthStop)][0])
				}
			}
			complete = complete && len(s.F1) == Splits
			scores = append(scores, s)
		}
	}
	return scores, complete, nil
}

// DepthSlopes returns for each split how far its best keep rate moves each time the depth doubles: the slope of the
// rate with the highest F1 over log₂ of the number of layers. Scores must be complete: all depths, with the same
// splits at all keep rates.
func DepthSlopes(scores []DepthScore) []float64 {
	var slopes []float64
	for split := range scores[0].F1 {
		best, at := map[int]float64{}, map[int]float64{}
		for _, s := range scores {
			if f1, known := best[s.Layers]; !known || s.F1[split] > f1 {
				best[s.Layers], at[s.Layers] = s.F1[split], s.KeepRate
			}
		}
		var sxy, sxx, mx, my float64
		for _, layers := range Depths() {
			mx += math.Log2(float64(layers)) / float64(len(Depths()))
			my += at[layers] / float64(len(Depths()))
		}
		for _, layers := range Depths() {
			x := math.Log2(float64(layers)) - mx
			sxy += x * (at[layers] - my)
			sxx += x * x
		}
		slopes = append(slopes, sxy/sxx)
	}
	return slopes
}

// DepthSlope tests [DepthSlopes] against zero.
func DepthSlope(scores []DepthScore) (stats.TTest, error) {
	slopes := DepthSlopes(scores)
	return stats.PairedTTest(slopes, make([]float64, len(slopes)))
}
