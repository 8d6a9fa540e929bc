package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/record"
)

// TrajectoryOptions say how trajectories are measured. All but Open and Protocol may be left zero.
type TrajectoryOptions struct {
	Seeds []uint64 // of each cell's trials and their splits
	// Batch is for how many seeds all cells are done before the next ones; 0: all. Programs are compiled once a batch.
	Batch int
	Jobs  int // trials side by side; 0: 1
	// Shard of Shards, counted from 0, runs only its share of the cells; 0 Shards: 1.
	Shard, Shards int
	// Open reads a data set, once for each that trials are missing on, before the first of them.
	Open Opener
	// Unopened is as in [Options].
	Unopened func(*UnopenedError) error
	Protocol string // hash of the rules, kept with each trajectory
	// Progress is called after each trial, by one job at a time.
	Progress func(TrajectoryState)
}

// TrajectoryState is how far the work has come.
type TrajectoryState struct {
	Done, Before, Total int // trials; Before: of Done, there before
	Left                time.Duration
	Last                record.Trajectory
}

// MissingTrajectories runs the trajectories of cells that the store does not have for this backend, and adds each to
// the store as it ends. When the context is cancelled only the trials in hand are lost. Any number of processes may
// measure into one folder: none runs a trial that another has run or has in hand.
func MissingTrajectories(ctx context.Context, b *backend.Backend, store *record.Trajectories, cells []record.Cell,
	o TrajectoryOptions) error {
	for i := range cells {
		cells[i] = cells[i].Trained()
	}
	cells = slices.DeleteFunc(record.Merge(cells),
		func(c record.Cell) bool { return o.Shards > 1 && shardOf(c, o.Shards) != o.Shard })
	w := &trajectoryWork{TrajectoryOptions: o, backend: b, store: store, begin: time.Now()}
	if w.Batch < 1 {
		w.Batch = len(o.Seeds)
	}
	var groups [][]task
	for seeds := range slices.Chunk(o.Seeds, max(w.Batch, 1)) {
		var tasks []task
		for _, c := range cells {
			var missing []uint64
			for _, seed := range seeds {
				there, err := store.Has(c, seed, b.ID)
				if err != nil {
					return err
				}
				if !there {
					missing = append(missing, seed)
				}
			}
			w.state.Total += len(seeds)
			w.state.Before += len(seeds) - len(missing)
			if len(missing) > 0 {
				tasks = append(tasks, task{c, missing})
			}
		}
		slices.SortStableFunc(tasks, func(a, b task) int { // those that share a program one after the other
			if pa, pb := programOf(a.cell), programOf(b.cell); pa != pb {
				if pa < pb {
					return -1
				}
				return 1
			}
			return 0
		})
		groups = append(groups, grouped(tasks)...)
	}
	all, err := openAll(ctx, o.Open, groups)
	if err != nil {
		return err
	}
	w.graphs, w.queue.groups = all.graphs, all.groups
	w.state.Total -= all.unopened.trials()
	w.state.Done = w.state.Before
	return all.run(o.Unopened, func() error { return train.Pinned(ctx, b, o.Jobs, w.job) })
}

type trajectoryWork struct {
	TrajectoryOptions
	backend *backend.Backend
	store   *record.Trajectories
	begin   time.Time
	graphs  map[string]*datasets.Graph // of all tasks

	mutex sync.Mutex
	queue queue
	state TrajectoryState
}

// job runs tasks until none is left.
func (w *trajectoryWork) job(ctx context.Context, r *train.Runner) error {
	return w.queue.work(ctx, func(key string) (*record.Lease, error) { return w.store.Lease(key, w.backend.ID) },
		func(t task) error { return w.run(ctx, r, t) })
}

func (w *trajectoryWork) run(ctx context.Context, r *train.Runner, t task) error {
	for _, seed := range t.seeds {
		there, err := w.store.Has(t.cell, seed, w.backend.ID) // others may have run it since
		if err != nil {
			return err
		}
		if there {
			w.mutex.Lock()
			w.state.Done++
			w.state.Before++
			w.mutex.Unlock()
			continue
		}
		trajectory, err := trajectoryOf(ctx, r, w.backend, t.cell, w.graphs[t.cell.Data], seed)
		if err != nil {
			if errors.Is(err, context.Canceled) {
				return err
			}
			return fmt.Errorf("%s, seed %d: %w", t.cell.Key(), seed, err)
		}
		trajectory.Protocol = w.Protocol
		if err := w.store.Add(trajectory); err != nil {
			return err
		}
		w.mutex.Lock()
		w.state.Done++
		w.state.Last = trajectory
		ran := w.state.Done - w.state.Before
		w.state.Left = train.TimeLeft(time.Since(w.begin), ran, w.state.Total-w.state.Done)
		if w.Progress != nil {
			w.Progress(w.state)
		}
		w.mutex.Unlock()
	}
	return nil
}

// trajectoryOf runs a trial of a cell and describes all its readings.
func trajectoryOf(ctx context.Context, r *train.Runner, b *backend.Backend, c record.Cell, g *datasets.Graph,
	seed uint64) (record.Trajectory, error) {
	ran, err := r.Readings(ctx, Experiment(c, g), seed)
	if err != nil {
		return record.Trajectory{}, err
	}
	t := record.Trajectory{Data: c.Data, Model: c.Parameters.Model, Setting: c.Setting, TrainPercent: c.TrainPercent,
		Choices: c.TrainedChoices(),
		Seed:    seed, Split: ran.SplitHash, Epochs: ran.Epochs, Seconds: math.Round(ran.Seconds*1000) / 1000, Backend: b.ID,
		Version: record.Version()}
	for range hyper.StopOns() {
		for _, list := range []*[][]float64{&t.F1, &t.Cached, &t.ValidationF1} {
			*list = append(*list, nil)
		}
		t.BestEpochs = append(t.BestEpochs, nil)
	}
	percent := func(x float64) float64 { return math.Round(1e5*x) / 1e3 }
	for _, reading := range ran.Readings {
		i := slices.Index(hyper.StopOns(), reading.StopOn)
		if reading.Cached {
			t.Cached[i] = append(t.Cached[i], percent(reading.Test.MacroF1))
			continue
		}
		t.F1[i] = append(t.F1[i], percent(reading.Test.MacroF1))
		t.ValidationF1[i] = append(t.ValidationF1[i], percent(reading.Validation.MacroF1))
		t.BestEpochs[i] = append(t.BestEpochs[i], reading.BestEpoch)
	}
	if c.Setting != datasets.Inductive {
		t.Cached = nil
	}
	return t, nil
}

// TrajectoryAgain runs a trajectory's trial again and lists what differs in the new one: nothing on the same device and
// version. What it asks for must be estimated to take at most so many bytes.
func TrajectoryAgain(
	ctx context.Context, b *backend.Backend, open Opener, old record.Trajectory, most int64,
) (again record.Trajectory, differences []string, err error) {
	c, err := old.Cell()
	if err != nil {
		return again, nil, err
	}
	c.Data = old.Data
	x, err := within(ctx, b, open, c, most)
	if err != nil {
		return again, nil, err
	}
	err = train.Pinned(ctx, b, 1, func(ctx context.Context, r *train.Runner) (err error) {
		again, err = trajectoryOf(ctx, r, b, c, x.Graph, old.Seed)
		return err
	})
	if err != nil {
		return again, nil, err
	}
	return again, old.Differences(again), nil
}
