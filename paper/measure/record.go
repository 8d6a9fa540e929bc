package measure

import (
	"context"
	"math"
	"path/filepath"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/paper/record"
)

// Experiment returns the settings for training c on g.
func Experiment(c record.Cell, g *datasets.Graph) train.Experiment {
	arrivals := c.Arrivals
	if arrivals == "" {
		arrivals = datasets.AllEdges
	}
	return train.Experiment{Graph: g, Parameters: c.Parameters, Setting: c.Setting, Arrivals: arrivals,
		TrainPercent: c.TrainPercent,
		SplitSeed:    1, Resplit: c.Resplit, OwnSplit: c.OwnSplit, ValidationPercent: c.ValidationPercent, Smoothness: true,
		CacheInference: c.Cached && c.Setting == datasets.Inductive}
}

// Record returns the record of a trial's result, with Cell empty.
func Record(x train.Experiment, b *backend.Backend, r *train.Result) record.Record {
	p := x.Parameters
	p.KeepRate = hyper.KeepRate(p.KeepRate.Probability()) // the zero value means 1
	c := record.Record{Data: x.Graph.Name, Source: x.Graph.Source, Setting: x.Setting, TrainPercent: x.TrainPercent,
		Resplit: x.Resplit, OwnSplit: x.OwnSplit, ValidationPercent: x.ValidationPercent, Parameters: p,
		Seed: r.Seed, SplitSeed: r.SplitSeed, SplitHash: r.SplitHash,
		MacroF1: 100 * r.Test.MacroF1, MicroF1: 100 * r.Test.MicroF1, Accuracy: 100 * r.Test.Accuracy,
		ValidationF1: 100 * r.Validation.MacroF1, Loss: r.History[r.BestEpoch-1].ValidationLoss,
		BestEpoch: r.BestEpoch, Epochs: len(r.History), Seconds: math.Round(r.Seconds*1000) / 1000,
		Backend: b.ID, Kernels: b.Kernel(), Slower: b.Slower(), Digits: b.Digits, Device: b.Device(),
		Version: record.Version(), MAD: r.MAD}
	if x.Setting == datasets.Inductive {
		c.Arrivals = x.Arrivals
	}
	if r.Nodes != nil {
		c.Nodes, c.NodesReached, c.NodesCached = r.Nodes.All, r.Nodes.Reached, r.Nodes.Cached
	}
	if r.AUC != nil {
		auc := 100 * *r.AUC
		c.AUC = &auc
	}
	if r.Cached != nil {
		f1 := 100 * r.Cached.MacroF1
		c.MacroF1Together = &f1
	}
	if r.Apart != nil {
		f1 := 100 * r.Apart.MacroF1
		c.MacroF1Apart = &f1
	}
	return c
}

// Stored returns a trial's record as the store keeps it, but with Date empty.
func Stored(c record.Cell, x train.Experiment, b *backend.Backend, r *train.Result) record.Record {
	trial := Record(x, b, r)
	trial.Data, trial.Cell = c.Data, c.Key()
	trial.Source = filepath.Base(trial.Source) // without this machine's folders
	if c.History {
		round := func(x float64) float64 { return math.Round(x*1e4) / 1e4 }
		for _, e := range r.History {
			trial.TrainLosses = append(trial.TrainLosses, round(e.TrainLoss))
			trial.ValidationLosses = append(trial.ValidationLosses, round(e.ValidationLoss))
		}
	}
	return trial
}

func readings(ctx context.Context, r *train.Runner, b *backend.Backend, c record.Cell, x train.Experiment,
	seed uint64) (record.Record, error) {
	variants, err := r.Variants(ctx, x, seed)
	if err != nil {
		return record.Record{}, err
	}
	epochs := 0
	all := record.Readings{}
	percent := func(x float64) float64 { return math.Round(1e5*x) / 1e3 }
	for _, v := range variants {
		c.Parameters.StopOn, c.Arrivals = v.StopOn, v.Arrivals
		one := record.Reading{F1: percent(v.Test.MacroF1), ValidationF1: percent(v.Validation.MacroF1),
			BestEpoch: v.BestEpoch}
		if v.Cached != nil {
			one.Cached = percent(v.Cached.MacroF1)
		}
		all[c.ReadingName()], epochs = one, max(epochs, len(v.History))
	}
	ran := variants[0]
	trial := c.Read(seed, ran.SplitHash, all)
	trial.Epochs, trial.Seconds, trial.Backend, trial.Version = epochs, math.Round(ran.Seconds*1000)/1000, b.ID,
		record.Version()
	trial.Digits = b.Digits
	return trial, nil
}
