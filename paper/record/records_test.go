package record

import (
	"nodemask/datasets"
)

// testRecord returns a trial with f1, in percent, as all scores.
func testRecord(c Cell, seed uint64, f1 float64) Record {
	r := Record{Cell: c.Key(), Data: c.Data, Source: "embedded", Setting: c.Setting, TrainPercent: c.TrainPercent,
		Arrivals: c.Arrivals, Resplit: c.Resplit, Parameters: c.Parameters, Seed: seed, SplitSeed: 1, SplitHash: "5eed",
		MacroF1: f1, MicroF1: f1, Accuracy: f1, BestEpoch: 1, Epochs: 2, Seconds: 0.5, Backend: "go", Device: "d",
		Version: "v", Date: "2026-11-21T10:00:00Z"}
	if c.Setting == datasets.Inductive && c.Arrivals == "" {
		r.Arrivals = datasets.AllEdges
	}
	if c.Cached {
		r.MacroF1Together, r.MacroF1Apart = &f1, &f1
	}
	if c.History {
		r.TrainLosses, r.ValidationLosses = []float64{2, 1}, []float64{2, 1.5}
	}
	return r
}

// testRecords returns a trial per score, with seeds from 1 on.
func testRecords(c Cell, f1 ...float64) (all []Record) {
	for i, x := range f1 {
		all = append(all, testRecord(c, uint64(i+1), x))
	}
	return all
}
