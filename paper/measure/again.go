package measure

import (
	"context"
	"fmt"

	"nodemask/datasets"
	"nodemask/internal/memory"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/train"
	"nodemask/paper/record"
)

// Again reruns a record's trial on one core and returns the differences; on the same device and version there are
// none. XLA compiles for the CPU at hand, so elsewhere losses and a few predictions may differ. Needing more than most
// bytes is an error.
func Again(
	ctx context.Context, b *backend.Backend, open Opener, old record.Record, most int64,
) (again record.Record, differences []string, err error) {
	cell := old.CellOf()
	x, err := within(ctx, b, open, cell, most)
	if err != nil {
		return again, nil, err
	}
	pool, err := train.NewPool(b, 1, 1)
	if err != nil {
		return again, nil, err
	}
	defer pool.Close()
	err = pool.Run(ctx, func(ctx context.Context, r *train.Runner) error {
		if cell.Readings {
			again, err = readings(ctx, r, b, cell, x, old.Seed)
			return err
		}
		x.SplitSeed, x.Resplit, x.Smoothness = old.SplitSeed, false, old.MAD != nil
		x.CacheInference = old.MacroF1Together != nil || old.MacroF1Apart != nil
		result, err := r.Trial(ctx, x, old.Seed, nil)
		if err != nil {
			return err
		}
		x.Resplit = old.Resplit
		again = Stored(cell, x, b, result)
		return nil
	})
	if err != nil {
		return again, nil, err
	}
	return again, old.Differences(again), nil
}

// CheckData returns an error if a generated data set takes more than most bytes.
func CheckData(name string, most int64) error {
	if info, generated := datasets.Generated(name); generated && info.Memory() > most {
		return fmt.Errorf("%.60s takes about %s, %w: expected at most %s", name, memory.Text(info.Memory()),
			memory.ErrTooLarge, memory.Text(most))
	}
	return nil
}

func within(ctx context.Context, b *backend.Backend, open Opener, c record.Cell, most int64) (train.Experiment, error) {
	if err := CheckData(c.Data, most); err != nil {
		return train.Experiment{}, err
	}
	g, err := open(ctx, c.Data)
	if err != nil {
		return train.Experiment{}, err
	}
	x := Experiment(c, g)
	return x, x.Within(b, most)
}
