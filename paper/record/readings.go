package record

import (
	"slices"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
)

// Readings is everything that is read off one trial, which has a split of its own, from its seed: a score for each way
// of stopping, each way for new nodes to arrive, and with and without the cache.
//
// The lists are by hyper.StopOns, then by datasets.AllArrivals; in the transductive setting, where nothing arrives, the
// inner lists have one number. F1 is in percent, rounded to three digits after the point.
type Readings struct {
	F1           [][]float64 `json:"f1"`               // macro F1 on the test nodes
	Cached       [][]float64 `json:"cached,omitempty"` // the same from the cache, in the inductive setting
	ValidationF1 [][]float64 `json:"validation_f1"`
	BestEpochs   [][]int     `json:"best_epochs"`
}

// Trained returns a cell that is read in every way: what is read off afterwards (stopping, arrivals) is the preset's,
// and each trial has a split of its own.
func (c Cell) Trained() Cell {
	usual := NewCell(c.Data, c.Parameters.Model, c.Setting, c.TrainPercent)
	c.Parameters.StopOn, c.Arrivals, c.Resplit, c.Cached, c.History = usual.Parameters.StopOn, "", true, false, false
	c.Readings = true
	return c
}

// Read returns the record of a trial that was read in every way, of a cell as it is trained ([Cell.Trained]).
func (c Cell) Read(seed uint64, split string, readings Readings) Record {
	c = c.Trained()
	return Record{Cell: c.Key(), Data: c.Data, Source: c.Data, Setting: c.Setting, TrainPercent: c.TrainPercent,
		Resplit: true, Parameters: c.Parameters, Seed: seed, SplitSeed: seed, SplitHash: split, Readings: &readings}
}

// Records returns what is read off a record with readings as records of cells: one for each way of stopping, and of
// arriving in the inductive setting.
func (r Record) Records() []Record {
	var all []Record
	c := r.CellOf()
	_, arrivals := c.Ways()
	for _, on := range hyper.StopOns() {
		c.Parameters.StopOn = on
		for _, way := range datasets.AllArrivals()[:arrivals] {
			if r.Setting == datasets.Inductive {
				c.Arrivals = way
			}
			all = append(all, r.As(c))
		}
	}
	return all
}

// As returns what is read off a record with readings of a cell ([Cell.Trained]) as the cell stops and nodes arrive in
// it. It has macro F1, also from the cache with new nodes together; what readings do not keep (micro F1, accuracy,
// smoothness, losses) it lacks.
func (r Record) As(c Cell) Record {
	all := r.Readings
	c.Readings, r.Readings, r.Protocol = false, nil, ""
	i, j := c.Way()
	if r.Setting == datasets.Inductive {
		c.Arrivals = c.arrivals()
	}
	r.Cell, r.Arrivals, r.Parameters = c.Key(), c.Arrivals, c.Parameters
	r.MacroF1, r.ValidationF1, r.BestEpoch = all.F1[i][j], all.ValidationF1[i][j], all.BestEpochs[i][j]
	if all.Cached != nil {
		r.MacroF1Together = &all.Cached[i][j]
	}
	return r
}

// Ways returns how many ways of stopping and of arriving the cell's trials are read in.
func (c Cell) Ways() (stops, arrivals int) {
	stops, arrivals = len(hyper.StopOns()), 1
	if c.Setting == datasets.Inductive {
		arrivals = len(datasets.AllArrivals())
	}
	return stops, arrivals
}

// Way returns where [Readings] have a cell's way of stopping and of arriving.
func (c Cell) Way() (stop, arrivals int) {
	stop = slices.Index(hyper.StopOns(), c.Parameters.StopOn)
	if c.Setting == datasets.Inductive {
		arrivals = slices.Index(datasets.AllArrivals(), c.arrivals())
	}
	return stop, arrivals
}
