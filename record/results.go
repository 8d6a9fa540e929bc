package record

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"nodemask/stats"
)

// Results holds records by cell, each with the trials of one backend: the one that has most of them.
type Results struct {
	mutex  sync.Mutex
	load   func(Pair) []Record // nil: everything is there
	other  func(Cell) []Record // of cells that have no record
	loaded map[Pair]bool
	trials map[string][]Record
	keys   map[Cell]string // of cells that were asked for, as claims ask for the same ones
}

// NewResults sorts records into cells.
func NewResults(records []Record) *Results {
	r := &Results{trials: map[string][]Record{}}
	r.add(records)
	return r
}

// LazyResults returns results whose records load returns, pair by pair, when the first of their cells is asked for;
// other returns those of a cell that then has none. Both are called once for each, and deal with their own errors.
func LazyResults(load func(Pair) []Record, other func(Cell) []Record) *Results {
	return &Results{load: load, other: other, loaded: map[Pair]bool{}, trials: map[string][]Record{}}
}

func (r *Results) add(records []Record) {
	byBackend := map[string]map[string][]Record{}
	for _, one := range records {
		if byBackend[one.Cell] == nil {
			byBackend[one.Cell] = map[string][]Record{}
		}
		byBackend[one.Cell][one.Backend] = append(byBackend[one.Cell][one.Backend], one)
	}
	for cell, backends := range byBackend {
		var best []Record
		for _, id := range slices.Sorted(maps.Keys(backends)) {
			if len(backends[id]) > len(best) {
				best = backends[id]
			}
		}
		slices.SortFunc(best, func(a, b Record) int { return cmp.Compare(a.Seed, b.Seed) })
		r.trials[cell] = best
	}
}

// Trials returns a cell's records, by seed.
func (r *Results) Trials(c Cell) []Record {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	key, known := r.keys[c]
	if !known {
		if r.keys == nil {
			r.keys = map[Cell]string{}
		}
		key = c.Key()
		r.keys[c] = key
	}
	if r.load == nil {
		return r.trials[key]
	}
	if p := c.Pair(); !r.loaded[p] {
		r.loaded[p] = true
		r.add(r.load(p))
	}
	if _, there := r.trials[key]; !there {
		r.trials[key] = nil
		r.add(r.other(c))
	}
	return r.trials[key]
}

// Values returns a metric of a cell's trials, by seed, without trials that did not measure it.
func (r *Results) Values(c Cell, m Metric) []float64 {
	var values []float64
	for _, trial := range r.Trials(c) {
		if value, is := m.Of(trial); is {
			values = append(values, value)
		}
	}
	return values
}

// Comparison describes how two cells differ, over trials of equal seeds.
type Comparison struct {
	Trials     int
	Difference float64 // mean of a minus b
	P          float64 // of a two-sided paired t-test; 1 with fewer than two trials
}

// Better reports whether a is significantly above b.
func (c Comparison) Better() bool { return c.Difference > 0 && c.P < significant }

// significant is the paper's level.
const significant = 0.05

// Difference is how much two cells differ in one trial of each, with the same seed and split.
type Difference struct {
	Seed  uint64
	Value float64 // a minus b
}

// Differences returns a metric of a minus one of b, for each pair of trials with the same seed and split, by seed.
func (r *Results) Differences(a Cell, ma Metric, b Cell, mb Metric) []Difference {
	type draw struct {
		seed  uint64
		split string
	}
	other := map[draw]float64{}
	for _, trial := range r.Trials(b) {
		if value, is := mb.Of(trial); is {
			other[draw{trial.Seed, trial.SplitHash}] = value
		}
	}
	var differences []Difference
	for _, trial := range r.Trials(a) {
		value, is := ma.Of(trial)
		if against, both := other[draw{trial.Seed, trial.SplitHash}]; is && both {
			differences = append(differences, Difference{trial.Seed, value - against})
		}
	}
	return differences
}

// Compare compares a metric of a with one of b, over trials with the same seed and split. Without any, Trials is 0.
func (r *Results) Compare(a Cell, ma Metric, b Cell, mb Metric) Comparison {
	differences := r.Differences(a, ma, b, mb)
	c := Comparison{Trials: len(differences), P: 1}
	if len(differences) == 0 {
		return c
	}
	x := make([]float64, len(differences))
	for i, d := range differences {
		x[i] = d.Value
		c.Difference += d.Value / float64(len(differences))
	}
	if test, err := stats.PairedTTest(x, make([]float64, len(x))); err == nil {
		c.P = test.P
	}
	return c
}
