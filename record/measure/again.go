package measure

import (
	"context"
	"fmt"
	"math"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/train"
	"nodemask/record"
)

// Again runs a record's trial again and lists what differs in the new record: nothing on the same device and version. XLA
// compiles for the processor that it finds, so elsewhere the last digits of losses may differ, and with them, in time, a
// few predictions.
func Again(ctx context.Context, b *backend.Backend, open func(ctx context.Context, data string) (*datasets.Graph, error), old record.Record) (again record.Record, differences []string, err error) {
	graph, err := open(ctx, old.Data)
	if err != nil {
		return record.Record{}, nil, err
	}
	cell := old.CellOf()
	x := Experiment(cell, graph)
	x.SplitSeed, x.Resplit, x.Smoothness = old.SplitSeed, false, old.MAD != nil
	x.CacheInference = old.MacroF1Together != nil || old.MacroF1Apart != nil
	var result *train.Result
	err = train.Pinned(ctx, b, 1, func(ctx context.Context, r *train.Runner) (err error) {
		result, err = r.Trial(ctx, x, old.Seed, nil)
		return err
	})
	if err != nil {
		return record.Record{}, nil, err
	}
	x.Resplit = old.Resplit
	again = Stored(cell, x, b, result)
	differ := func(what string, was, is any) {
		if was != is {
			differences = append(differences, fmt.Sprintf("%s: %v, now %v", what, was, is))
		}
	}
	differ("split", old.SplitHash, again.SplitHash)
	if old.SplitHash != again.SplitHash {
		differ("data from", old.Source, again.Source) // other files of a data set may have its nodes in another order
	}
	differ("macro F1", old.MacroF1, again.MacroF1)
	differ("micro F1", old.MicroF1, again.MicroF1)
	differ("best epoch", old.BestEpoch, again.BestEpoch)
	differ("epochs", old.Epochs, again.Epochs)
	differ("validation loss", old.Loss, again.Loss)
	for _, m := range []record.Metric{record.MacroF1Together, record.MacroF1Apart} {
		was, had := m.Of(old)
		if is, has := m.Of(again); had && has {
			differ(string(m), was, is)
		}
	}
	if old.MAD != nil && again.MAD != nil {
		differ("MAD", *old.MAD, *again.MAD)
	}
	return again, differences, nil
}

// Tolerance is how many points of F1 a record may differ by when run again on another processor or version.
const Tolerance = 2.0

// Near reports whether a record run again is the same within [Tolerance].
func Near(old, again record.Record) bool {
	return old.SplitHash == again.SplitHash && math.Abs(old.MacroF1-again.MacroF1) <= Tolerance
}
