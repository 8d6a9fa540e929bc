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

// Again reruns a recorded trial on one core and returns the differences; on the same device and version there are none.
// XLA compiles for the CPU, so on another CPU losses and a few predictions may differ. If the trial needs more bytes of
// memory than limit, Again returns an error.
func Again(
	ctx context.Context, b *backend.Backend, open Opener, old record.Record, limit int64,
) (differences []string, err error) {
	cell := old.CellOf()
	x, err := within(ctx, b, open, cell, limit)
	if err != nil {
		return nil, err
	}
	pool, err := train.NewPool(b, 1, 1)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	err = pool.Run(ctx, func(ctx context.Context, r *train.Runner) error {
		if cell.Readings {
			again, err := readings(ctx, r, b, cell, x, old.Seed)
			differences = old.Differences(again)
			return err
		}
		x.SplitSeed, x.Resplit, x.Smoothness = old.SplitSeed, false, old.MAD != nil
		x.CacheInference = old.MacroF1Together != nil || old.MacroF1Apart != nil
		result, err := r.Trial(ctx, x, old.Seed, nil)
		if err != nil {
			return err
		}
		x.Resplit = old.Resplit
		differences = old.Differences(Stored(cell, x, b, result))
		return nil
	})
	return differences, err
}

func within(ctx context.Context, b *backend.Backend, open Opener, c record.Cell, most int64) (train.Experiment, error) {
	if info, generated := datasets.Generated(c.Data); generated && info.Memory() > most {
		return train.Experiment{}, fmt.Errorf("%.60s takes about %s, %w: expected at most %s", c.Data,
			memory.Text(info.Memory()), memory.ErrTooLarge, memory.Text(most))
	}
	g, err := open(ctx, c.Data)
	if err != nil {
		return train.Experiment{}, err
	}
	x := Experiment(c, g)
	return x, x.Within(b, most)
}
