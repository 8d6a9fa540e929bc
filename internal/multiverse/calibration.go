package multiverse

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"nodemask/datasets"
	"nodemask/record"
)

// Fit says how near the plain arm of a reading comes to the paper's plain columns.
type Fit struct {
	Reading Reading // its nodes to mask do not matter
	// Inductive, Transductive and Both are root mean squares over sizes of mean macro F1 minus the published one, in
	// points.
	Inductive, Transductive, Both float64
	CacheCost                     float64 // macro F1 lost by predicting from the cache, mean over inductive sizes
	Calibrated                    bool
}

// Published returns the paper's macro F1 without masking, in percent; nil: it has none.
type Published func(setting datasets.Setting, trainPercent int) *float64

// Calibration holds the fits of all readings, best first.
type Calibration struct {
	Fits   []Fit
	Limit  float64 // of Inductive and Transductive, in points
	Splits []uint64
}

// The rule of the protocol.
const (
	firstLimit, limitStep = 3.0, 0.5
	leastCalibrated       = 5
)

// MostCacheCost is the most that predicting from the cache may cost a calibrated reading, in points; the least is 0.
const MostCacheCost = 3.0

// Calibrate compares the arm without masking with the published plain columns, by the protocol's rule. With cache, the
// cost of caching counts too. Without results for at least two splits there are no fits.
func Calibrate(r *record.Results, data, model string, published Published, cache bool) (*Calibration, error) {
	inductive, err := Ask(data, model, datasets.Inductive)
	if err != nil {
		return nil, err
	}
	transductive := inductive
	transductive.Setting = datasets.Transductive
	settings := []*lookup{inductive.look(r), transductive.look(r)}
	seeds, err := settings[0].splits(Plain)
	if err != nil {
		return nil, err
	}
	others, err := settings[1].splits(Plain)
	if err != nil {
		return nil, err
	}
	seeds = slices.DeleteFunc(seeds, func(seed uint64) bool { return !slices.Contains(others, seed) })
	c := &Calibration{Limit: firstLimit, Splits: seeds}
	if len(seeds) < 2 {
		return c, nil
	}
	for _, reading := range Readings(inductive.Axes, datasets.Inductive) {
		if plain := reading.plain(inductive.Axes); !slices.Equal(plain, reading) {
			continue // the same plain arm as another, or a baseline that is not the paper's
		}
		fit := Fit{Reading: reading}
		total := 0.0
		for _, q := range settings {
			sum, n := 0.0, 0
			for _, size := range q.Sizes {
				trials, at, err := q.of(reading, Plain, size)
				if err != nil {
					return nil, err
				}
				var f1, cost float64
				for _, seed := range seeds {
					t := trials[seed]
					f1 += t.F1[at.stop][at.arrivals] / float64(len(seeds))
					if q.Setting == datasets.Inductive {
						cost += (t.F1[at.stop][at.arrivals] - t.Cached[at.stop][at.arrivals]) / float64(len(seeds))
					}
				}
				fit.CacheCost += cost / float64(len(q.Sizes))
				if want := published(q.Setting, size); want != nil {
					sum += (f1 - *want) * (f1 - *want)
					n++
				}
			}
			if n == 0 {
				return nil, fmt.Errorf("nothing is published of %s on %s, %s", model, data, q.Setting)
			}
			rms := math.Sqrt(sum / float64(n))
			if q.Setting == datasets.Inductive {
				fit.Inductive = rms
			} else {
				fit.Transductive = rms
			}
			total += rms * rms / 2
		}
		fit.Both = math.Sqrt(total)
		c.Fits = append(c.Fits, fit)
	}
	slices.SortStableFunc(c.Fits, func(a, b Fit) int { return cmp.Compare(a.Both, b.Both) })
	for ; ; c.Limit += limitStep {
		passed, possible := 0, 0
		for i, f := range c.Fits {
			costs := !cache || f.CacheCost >= 0 && f.CacheCost <= MostCacheCost
			c.Fits[i].Calibrated = costs && f.Inductive <= c.Limit && f.Transductive <= c.Limit
			if c.Fits[i].Calibrated {
				passed++
			}
			if costs {
				possible++
			}
		}
		if passed >= min(leastCalibrated, possible) {
			return c, nil
		}
	}
}

// plain is a reading without what matters to masked trials alone, and with the first option, the paper's, of what
// matters to plain ones alone: all that the calibration looks at.
func (r Reading) plain(axes []Axis) Reading {
	p := slices.Clone(r)
	for i, axis := range axes {
		if axis.Masked || axis.Plain {
			p[i] = 0
		}
	}
	return p
}

// Best returns the best calibrated fit, and whether there is one.
func (c *Calibration) Best() (Fit, bool) {
	for _, f := range c.Fits {
		if f.Calibrated {
			return f, true
		}
	}
	return Fit{}, false
}

// Has reports whether a reading is calibrated in a setting: in the transductive one, if it is with any arrivals.
func (c *Calibration) Has(axes []Axis, setting datasets.Setting, r Reading) bool {
	r = r.plain(axes)
	for _, f := range c.Fits {
		if !f.Calibrated {
			continue
		}
		same := true
		for i, axis := range axes {
			if axis.Matters(setting) {
				same = same && f.Reading[i] == r[i]
			}
		}
		if same {
			return true
		}
	}
	return false
}

// Calibrated returns the effects of calibrated readings alone.
func (e *Effects) Calibrated(c *Calibration) *Effects {
	some := *e
	some.Effects = slices.DeleteFunc(slices.Clone(e.Effects),
		func(effect Effect) bool { return !c.Has(e.Axes, e.Setting, effect.Reading) })
	return &some
}
