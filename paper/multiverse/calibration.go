package multiverse

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"nodemask/datasets"
	"nodemask/paper/record"
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
	in := inductive.look(r)
	seeds, err := in.splits(Plain)
	if err != nil {
		return nil, err
	}
	transductive := inductive
	transductive.Setting, transductive.Seeds = datasets.Transductive, seeds
	trans := transductive.look(r)
	if seeds, err = trans.splits(Plain); err != nil {
		return nil, err
	}
	c := &Calibration{Limit: firstLimit, Splits: seeds}
	if len(seeds) < 2 {
		return c, nil
	}
	for _, reading := range Readings(inductive.Axes, datasets.Inductive) {
		if plain := reading.plain(inductive.Axes); !slices.Equal(plain, reading) {
			continue // the same plain arm as another, or a baseline that is not the paper's
		}
		fit := Fit{Reading: reading}
		if fit.Inductive, fit.CacheCost, err = in.distance(reading, seeds, published); err != nil {
			return nil, err
		}
		if fit.Transductive, _, err = trans.distance(reading, seeds, published); err != nil {
			return nil, err
		}
		fit.Both = math.Sqrt(fit.Inductive*fit.Inductive/2 + fit.Transductive*fit.Transductive/2)
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

// distance returns the root mean square over sizes of what the plain arm of a reading scores less what is published,
// and what caching costs it: nothing in the transductive setting.
func (l *lookup) distance(reading Reading, seeds []uint64, published Published) (rms, cost float64, err error) {
	sum, n := 0.0, 0
	for _, size := range l.Sizes {
		trials, at, err := l.of(reading, Plain, size)
		if err != nil {
			return 0, 0, err
		}
		var f1, lost float64
		for _, seed := range seeds {
			t := trials[seed]
			f1 += t.F1[at.stop][at.arrivals] / float64(len(seeds))
			if l.Setting == datasets.Inductive {
				lost += (t.F1[at.stop][at.arrivals] - t.Cached[at.stop][at.arrivals]) / float64(len(seeds))
			}
		}
		cost += lost / float64(len(l.Sizes))
		if want := published(l.Setting, size); want != nil {
			sum += (f1 - *want) * (f1 - *want)
			n++
		}
	}
	if n == 0 {
		return 0, 0, fmt.Errorf("nothing is published of %s on %s, %s", l.Model, l.Data, l.Setting)
	}
	return math.Sqrt(sum / float64(n)), cost, nil
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
	i := slices.IndexFunc(c.Fits, func(f Fit) bool { return f.Calibrated })
	if i < 0 {
		return Fit{}, false
	}
	return c.Fits[i], true
}

// Has reports whether a reading is calibrated in a setting: in the transductive one, if it is with any arrivals.
func (c *Calibration) Has(axes []Axis, setting datasets.Setting, r Reading) bool {
	r = r.plain(axes)
	return slices.ContainsFunc(c.Fits, func(f Fit) bool {
		for i, axis := range axes {
			if axis.Matters(setting) && f.Reading[i] != r[i] {
				return false
			}
		}
		return f.Calibrated
	})
}

// Calibrated returns the effects of calibrated readings alone.
func (e *Effects) Calibrated(c *Calibration) *Effects {
	some := *e
	some.Effects = slices.DeleteFunc(slices.Clone(e.Effects),
		func(effect Effect) bool { return !c.Has(e.Axes, e.Setting, effect.Reading) })
	return &some
}
