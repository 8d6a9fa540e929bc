// Package recordtest makes plausible trial records for tests.
package recordtest

import (
	"cmp"
	"strings"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

// Record returns a trial whose scores are all f1, in percent.
func Record(c record.Cell, seed uint64, f1 float64) record.Record {
	r := record.Record{Cell: c.Key(), Data: c.Data, Source: "embedded", Setting: c.Setting, TrainPercent: c.TrainPercent,
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

// Records returns a trial per score, with seeds from 1 on.
func Records(c record.Cell, f1 ...float64) (all []record.Record) {
	for i, x := range f1 {
		all = append(all, Record(c, uint64(i+1), x))
	}
	return all
}

// Read returns a record of c with a result per stopping rule and way of arrival. score returns macro F1 in percent,
// without and with the cache.
func Read(c record.Cell, seed uint64, score func(on hyper.StopOn, way datasets.Arrivals) (f1, cached float64),
) record.Record {
	all := record.Readings{}
	for _, name := range record.ReadingNames(c.Setting) {
		on, way, _ := strings.Cut(name, "/")
		f1, cached := score(hyper.StopOn(on), cmp.Or(datasets.Arrivals(way), datasets.AllEdges))
		one := record.Reading{F1: f1, ValidationF1: f1}
		if way != "" {
			one.Cached = cached
		}
		all[name] = one
	}
	r := c.Read(seed, "5eed", all)
	r.Backend = "go"
	return r
}
