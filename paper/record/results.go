package record

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"nodemask/stats"
)

// Results holds each experiment's records from the backend with the most trials of the experiment.
type Results struct {
	mutex    sync.Mutex
	load     func(...Pair) ([]Record, error) // nil if NewResults got all records
	fallback func(Cell) []Record
	onError  func(error)
	err      error
	loaded   map[Pair]bool
	trials   map[cellID][]Record
	// drawn has the split hash for each data set, train set size and seed. Two hashes for the same three mean that the
	// data files differ.
	drawn map[drawing]string
}

type cellID struct {
	key      string
	readings bool
}

type drawing struct {
	data string
	size int
	seed uint64
}

// NewResults returns Results that hold these records. Check [Results.Err].
func NewResults(records []Record) *Results {
	r := LazyResults(nil, nil, nil)
	r.fail(r.add(records))
	return r
}

// LazyResults returns Results that load records by data and model when needed. For each cell without records, fallback
// is called once to supply records. Every error is passed to onError. Both functions may be nil.
func LazyResults(load func(...Pair) ([]Record, error), fallback func(Cell) []Record,
	onError func(error)) *Results {
	return &Results{load: load, fallback: fallback, onError: onError, loaded: map[Pair]bool{},
		trials: map[cellID][]Record{},
		drawn:  map[drawing]string{}}
}

// Err returns the first loading error. It is also an error if two records with Readings have the same data set, train
// set size and seed, but different splits: then their data files differ.
func (r *Results) Err() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.err
}

func (r *Results) fail(err error) {
	if err == nil {
		return
	}
	if r.err == nil {
		r.err = err
	}
	if r.onError != nil {
		r.onError(err)
	}
}

func (r *Results) add(records []Record) error {
	byBackend := map[cellID]map[string][]int{}
	for i := range records {
		one := &records[i]
		id := cellID{one.Cell, one.Readings != nil}
		if id.readings {
			from := drawing{one.Data, one.TrainPercent, one.Seed}
			if split, ok := r.drawn[from]; ok && split != one.SplitHash {
				return fmt.Errorf("%s, %d %%, seed %d has the splits %.20q and %.20q: some trials were run on other files of "+
					"%[1]s, which order its nodes otherwise; keep them in a folder of their own", one.Data, one.TrainPercent,
					one.Seed, split, one.SplitHash)
			}
			r.drawn[from] = one.SplitHash
		}
		if byBackend[id] == nil {
			byBackend[id] = map[string][]int{}
		}
		byBackend[id][one.Backend] = append(byBackend[id][one.Backend], i)
	}
	for id, backends := range byBackend {
		var most []int // record indices of the backend with most records; in a tie, the first by name
		for _, name := range slices.Sorted(maps.Keys(backends)) {
			if len(backends[name]) > len(most) {
				most = backends[name]
			}
		}
		slices.SortStableFunc(most, func(i, j int) int { return cmp.Compare(records[i].Seed, records[j].Seed) })
		trials := make([]Record, len(most))
		for i, at := range most {
			trials[i] = records[at]
		}
		r.trials[id] = trials
	}
	return nil
}

// Trials returns the records of c, ordered by seed. The records have the field Readings exactly if c.Readings is set.
func (r *Results) Trials(c Cell) []Record {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	cell := cellID{c.Key(), c.Readings}
	if p := PairOf(c); r.load != nil && !r.loaded[p] {
		r.loaded[p] = true
		records, err := r.load(p)
		if err == nil {
			err = r.add(records)
		}
		r.fail(err)
	}
	if _, ok := r.trials[cell]; !ok && r.fallback != nil {
		r.trials[cell] = nil
		r.fail(r.add(r.fallback(c)))
	}
	return r.trials[cell]
}

// Readings returns the results of c by seed, from the experiment c.Trained(), which several cells share.
func (r *Results) Readings(c Cell) map[uint64]Reading {
	trials, name := r.Trials(c.Trained()), c.ReadingName()
	readings := make(map[uint64]Reading, len(trials))
	for _, t := range trials {
		if one, ok := t.Readings[name]; ok {
			readings[t.Seed] = one
		}
	}
	return readings
}

// ReadOff returns records of c, made from trials of another cell, c.Trained(): one per trial with results for c (see
// [Record.As]).
func (r *Results) ReadOff(c Cell) (all []Record) {
	for _, t := range r.Trials(c.Trained()) {
		if one, ok := t.As(c); ok {
			all = append(all, one)
		}
	}
	return all
}

// Values returns a metric in the trials of c that have this metric, ordered by seed.
func (r *Results) Values(c Cell, m Metric) []float64 {
	var values []float64
	for _, trial := range r.Trials(c) {
		if value, ok := m.Of(trial); ok {
			values = append(values, value)
		}
	}
	return values
}

// Comparison compares two experiments on trials with equal seeds.
type Comparison struct {
	Trials     int
	Difference float64 // mean difference: the first experiment's value minus the second's
	P          float64 // p-value of a two-sided paired t-test; 1 with fewer than two trials
}

// Pairs yields each trial of a with the trial of b that has the same seed and split.
func (r *Results) Pairs(a, b Cell) iter.Seq2[Record, Record] {
	return func(yield func(one, other Record) bool) {
		type draw struct {
			seed  uint64
			split string
		}
		others, at := r.Trials(b), map[draw]int{}
		for i := range others {
			at[draw{others[i].Seed, others[i].SplitHash}] = i
		}
		for _, one := range r.Trials(a) {
			if i, ok := at[draw{one.Seed, one.SplitHash}]; ok && !yield(one, others[i]) {
				return
			}
		}
	}
}

// Compare subtracts metric mb of experiment b from metric ma of experiment a in each pair of [Results.Pairs].
func (r *Results) Compare(a Cell, ma Metric, b Cell, mb Metric) Comparison {
	var differences []float64
	for one, other := range r.Pairs(a, b) {
		x, ok := ma.Of(one)
		y, both := mb.Of(other)
		if ok && both {
			differences = append(differences, x-y)
		}
	}
	c := Comparison{Trials: len(differences), P: 1}
	for _, d := range differences {
		c.Difference += d / float64(len(differences))
	}
	if test, err := stats.PairedTTest(differences, make([]float64, len(differences))); err == nil {
		c.P = test.P
	}
	return c
}
