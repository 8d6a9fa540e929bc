package multiverse

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/record"
	"nodemask/stats"
)

// Results holds trajectories by what was trained.
type Results struct {
	// by the cell's key; nil: all that there is is in parts
	load   func(record.Pair) (map[string][]record.Trajectory, error)
	failed func(error)
	mutex  sync.Mutex
	parts  map[record.Pair]part
	// drawn are the splits of all that was read.
	drawn map[place]string
}

// part is what there is of a model on a data set, by the cell's key, then seed.
type part map[string]map[uint64]record.Trajectory

type place struct {
	data string
	size int
	seed uint64
}

// NewResults sorts trajectories. It returns an error if one cannot be, or if two of one seed have different splits:
// then they were run on other files of the data, which may order nodes otherwise, and cannot be compared.
func NewResults(all []record.Trajectory) (*Results, error) {
	r := LazyResults(nil, nil)
	for _, t := range all {
		id, err := t.ID()
		if err != nil {
			return nil, err
		}
		if err := r.add(record.Pair{Data: t.Data, Model: t.Model}, id.Cell, t); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// LazyResults returns results whose trajectories, by the key of their cell, are loaded when something of their model
// and data set is asked for. The methods of results return the errors of load, and those of [NewResults] for what was
// loaded; failed is told of each, if it is not nil.
func LazyResults(load func(record.Pair) (map[string][]record.Trajectory, error), failed func(error)) *Results {
	return &Results{load: load, failed: failed, parts: map[record.Pair]part{}, drawn: map[place]string{}}
}

func (r *Results) add(p record.Pair, cell string, t record.Trajectory) error {
	at := place{t.Data, t.TrainPercent, t.Seed}
	if split, known := r.drawn[at]; known && split != t.Split {
		return fmt.Errorf("%s, %d %%, seed %d has the splits %.20q and %.20q: some trials were run on other files of "+
			"%[1]s, which order its nodes otherwise; keep them in a folder of their own", t.Data, t.TrainPercent, t.Seed, split,
			t.Split)
	}
	r.drawn[at] = t.Split
	if r.parts[p] == nil {
		r.parts[p] = part{}
	}
	if r.parts[p][cell] == nil {
		r.parts[p][cell] = map[uint64]record.Trajectory{}
	}
	r.parts[p][cell][t.Seed] = t
	return nil
}

// part returns what there is of a pair.
func (r *Results) part(p record.Pair) (part, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if some, loaded := r.parts[p]; loaded || r.load == nil {
		return some, nil
	}
	err := r.read(p)
	if err != nil {
		delete(r.parts, p)
		if r.failed != nil {
			r.failed(err)
		}
	}
	return r.parts[p], err
}

func (r *Results) read(p record.Pair) error {
	byCell, err := r.load(p)
	if err != nil {
		return err
	}
	r.parts[p] = part{}
	for _, cell := range slices.Sorted(maps.Keys(byCell)) {
		for _, t := range byCell[cell] {
			if err := r.add(p, cell, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// Question is what is asked of results: a model on a data set in a setting, over sizes of the train set.
type Question struct {
	Axes        []Axis
	Data, Model string
	Setting     datasets.Setting
	Sizes       []int
	// Among are the readings that are asked about: the calibrated ones; nil: all.
	Among *Calibration
	// Only are the readings that are asked about; nil: all, or those Among.
	Only []Reading
	// Contrast is what is asked of each reading; the zero value asks what masking adds.
	Contrast Contrast
}

// Readings lists what is asked about.
func (q Question) Readings() []Reading {
	if q.Only != nil {
		return q.Only
	}
	all := Readings(q.Axes, q.Setting)
	if q.Among == nil {
		return all
	}
	return slices.DeleteFunc(all, func(r Reading) bool { return !q.Among.Has(q.Axes, q.Setting, r) })
}

// Ask returns the question of all readings of a model on a data set in a setting, at all sizes. It returns an error for
// a model that has none.
func Ask(data, model string, setting datasets.Setting) (Question, error) {
	axes, err := AxesOf(model)
	return Question{Axes: axes, Data: data, Model: model, Setting: setting, Sizes: Sizes()}, err
}

// Effect is what masking does in one reading.
type Effect struct {
	Reading Reading
	// Differences [size][split] of macro F1, masked minus plain or as the question's contrast is, in points.
	Differences   [][]float64
	Plain, Masked []float64 // mean macro F1 in percent, by size
	// Pooled tests the mean over sizes, with splits as units.
	Pooled stats.TTest
}

// Effects holds the effects of all readings on the same splits.
type Effects struct {
	Question
	Splits  []uint64 // that every training has
	Effects []Effect // in the order of Readings
}

// key finds what is read of a reading's arm.
type key struct {
	cell           string
	stop, arrivals int
}

func (q Question) pair() record.Pair { return record.Pair{Data: q.Data, Model: q.Model} }

func (q Question) key(r Reading, arm Arm, size int) (key, error) {
	c, err := r.Cell(q.Axes, arm, q.Data, q.Model, q.Setting, size)
	if err != nil {
		return key{}, err
	}
	k := key{cell: c.Trained().Key(), stop: slices.Index(hyper.StopOns(), c.Parameters.StopOn)}
	if q.Setting == datasets.Inductive && c.Arrivals != "" {
		k.arrivals = slices.Index(datasets.AllArrivals(), c.Arrivals)
	}
	return k, nil
}

// keys finds what is read of the readings of a question. Most readings differ from others only in how trained models
// are read: what is trained is looked up once for all of them.
type keys struct {
	q             Question
	trained, read map[string]key // by the reading's options, arm and size
}

func (q Question) keys() *keys { return &keys{q, map[string]key{}, map[string]key{}} }

func (k *keys) of(r Reading, arm Arm, size int) (key, error) {
	trained, read := make([]byte, len(r), len(r)+2), make([]byte, len(r))
	for i, axis := range k.q.Axes {
		if axis.Read {
			read[i] = byte(r[i])
		} else {
			trained[i] = byte(r[i])
		}
	}
	lookUp := func(in map[string]key, id, options []byte) (key, error) {
		if found, known := in[string(id)]; known {
			return found, nil
		}
		reading := make(Reading, len(options))
		for i, option := range options {
			reading[i] = int(option)
		}
		found, err := k.q.key(reading, arm, size)
		if err == nil {
			in[string(id)] = found
		}
		return found, err
	}
	id := append(trained, byte(size), 0)
	if arm == Masked {
		id[len(id)-1] = 1
	}
	what, err := lookUp(k.trained, id, trained)
	if err != nil {
		return key{}, err
	}
	how, err := lookUp(k.read, read, read)
	return key{what.cell, how.stop, how.arrivals}, err
}

// splits are the seeds that every training of the arms has.
func (r *Results) splits(k *keys, arms ...Arm) ([]uint64, error) {
	q := k.q
	all, err := r.part(q.pair())
	if err != nil {
		return nil, err
	}
	var common map[uint64]bool
	for _, reading := range q.Readings() {
		for _, size := range q.Sizes {
			for _, arm := range arms {
				at, err := k.of(reading, arm, size)
				if err != nil {
					return nil, err
				}
				trials := all[at.cell]
				if common == nil {
					common = map[uint64]bool{}
					for seed := range trials {
						common[seed] = true
					}
				}
				for seed := range common {
					if _, is := trials[seed]; !is {
						delete(common, seed)
					}
				}
			}
		}
	}
	var seeds []uint64
	for seed := range common {
		seeds = append(seeds, seed)
	}
	slices.Sort(seeds)
	return seeds, nil
}

// Effects returns what masking does in every reading, or what the question's contrast is there, on the splits that all
// of them have; without effects if those are fewer than two. It returns an error for a contrast of cached scores in the
// transductive setting, which has none.
func (r *Results) Effects(q Question) (*Effects, error) {
	all := &Effects{Question: q}
	var err error
	k := q.keys()
	if all.Splits, err = r.splits(k, Plain, Masked); err != nil || len(all.Splits) < 2 {
		return all, err
	}
	for _, reading := range q.Readings() {
		e := Effect{Reading: reading}
		for _, size := range q.Sizes {
			scores := map[Score][]float64{}
			read := func(score Score) (f1 []float64, err error) {
				if scores[score] == nil {
					scores[score], err = r.scores(k, reading, size, score, all.Splits)
				}
				return scores[score], err
			}
			differences, err := q.Contrast.differences(read)
			if err != nil {
				return nil, err
			}
			plain, err := read(Score{Arm: Plain})
			if err != nil {
				return nil, err
			}
			masked, err := read(Score{Arm: Masked})
			if err != nil {
				return nil, err
			}
			e.Differences = append(e.Differences, differences)
			e.Plain, e.Masked = append(e.Plain, mean(plain)), append(e.Masked, mean(masked))
		}
		if e.Pooled, err = stats.Pooled(e.Differences); err != nil {
			return nil, fmt.Errorf("%s: %w", reading.Words(q.Axes, q.Setting), err)
		}
		all.Effects = append(all.Effects, e)
	}
	return all, nil
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// PerSplit returns an effect's mean over sizes, by split.
func (e Effect) PerSplit() []float64 {
	means := make([]float64, len(e.Differences[0]))
	for _, differences := range e.Differences {
		for i, d := range differences {
			means[i] += d / float64(len(e.Differences))
		}
	}
	return means
}

// Sign returns 1 or -1 for a pooled effect that is significantly above or below zero (p < 0.05), else 0.
func (e Effect) Sign() int { return e.side(0) }

// side returns 1 or -1 for a pooled effect that is significantly above or below x, else 0.
func (e Effect) side(x float64) int {
	switch {
	case e.Pooled.Low > x:
		return 1
	case e.Pooled.High < x:
		return -1
	}
	return 0
}

// Joint tests the pooled effects of all readings together, by turning the signs of whole splits.
func (e *Effects) Joint() (stats.Joint, error) {
	effects := make([][]float64, len(e.Effects))
	for i, effect := range e.Effects {
		effects[i] = effect.PerSplit()
	}
	return stats.JointTest(effects, stats.JointOptions{})
}

// Explained says how much of the variance of the pooled effects each axis explains; names are those of axes that matter
// in the setting.
func (e *Effects) Explained() (names []string, v stats.Variance, err error) {
	var y []float64
	var factors [][]int
	var matter []int
	for i, axis := range e.Axes {
		if axis.Matters(e.Setting) {
			matter = append(matter, i)
			names = append(names, axis.Name)
		}
	}
	for _, effect := range e.Effects {
		y = append(y, effect.Pooled.MeanDifference)
		var row []int
		for _, i := range matter {
			row = append(row, effect.Reading[i])
		}
		factors = append(factors, row)
	}
	v, err = stats.Explained(y, factors)
	return names, v, err
}
