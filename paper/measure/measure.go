// Package measure runs the trials that a store lacks, and reruns recorded trials.
package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/paper/record"
)

// Options configure [Missing]. The field Open is required.
type Options struct {
	Seeds []uint64 // nil means 1 to 10
	// Batch is the number of seeds in a batch. Every experiment runs with one batch of seeds before the next batch
	// starts. 0 means one seed first, so that tables fill soon, then all others. Each batch compiles its programs
	// again.
	Batch int
	Jobs  int // parallel trials; 0 means 1
	// Pool keeps compiled programs between calls; nil means a new pool. Its number of jobs must equal Jobs.
	Pool *train.Pool
	// Shards is the number of shares into which the experiments are divided; 0 means 1. [Missing] runs only the share
	// with index Shard, from 0.
	Shard, Shards int
	// Open reads each data set that trials need, before the first trial.
	Open Opener
	// Progress is called before and after each trial, never concurrently.
	Progress func(State)

	// Epoch is called by the training goroutine after each epoch, unless [record.Cell].Readings is set. Epoch must
	// return quickly.
	Epoch      func(cell record.Cell, seed uint64, epoch int, e train.Epoch)
	WithoutMAD bool // skip the mean average distance, which takes much of a short trial's time

	// Protocol is the hash of the protocol file. It must be set if [record.Cell].Readings is set.
	Protocol string
}

// Opener opens a data set by its name.
type Opener = func(ctx context.Context, data string) (*datasets.Graph, error)

// State is the progress of [Missing].
type State struct {
	Done, Total int
	Before      int            // trials in Done that other runs finished
	Left        time.Duration  // estimated time left; 0 if unknown
	Last        *record.Record // record of the trial that just ended, or nil
}

// Missing runs the trials that the store lacks for this backend, and stores each trial as it ends.
//
// Cancelling loses only unfinished trials. Several processes may share a folder. Processes with different Shard never
// run the same trial.
func Missing(
	ctx context.Context, b *backend.Backend, store *record.Store, cells []record.Cell, o Options,
) error {
	if o.Seeds == nil {
		o.Seeds = hyper.Seeds(1, 10)
	}
	groups, total, err := plan(record.Merged(cells), o, func(c record.Cell, seed uint64) (bool, error) {
		return store.Has(c, seed, b.ID)
	})
	if err != nil {
		return err
	}
	missing := 0
	for _, group := range groups {
		for _, t := range group {
			missing += len(t.seeds)
		}
	}
	w := &work{Options: o, backend: b, store: store, graphs: map[string]*datasets.Graph{}, begin: time.Now(),
		missing: missing, state: State{Total: total, Before: total - missing, Done: total - missing}}
	if err := w.openAll(ctx, groups); err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	w.queue.groups = groups
	pool := o.Pool
	if pool == nil {
		if pool, err = train.NewPool(b, o.Jobs, 1); err != nil {
			return err
		}
		defer pool.Close()
	}
	return pool.Run(ctx, w.job)
}

func (w *work) openAll(ctx context.Context, groups [][]task) (err error) {
	for _, group := range groups {
		data := group[0].cell.Data
		if _, tried := w.graphs[data]; !tried {
			var failed error
			w.graphs[data], failed = w.Open(ctx, data)
			err = errors.Join(err, failed)
		}
	}
	return err
}

type work struct {
	Options
	backend *backend.Backend
	store   *record.Store
	graphs  map[string]*datasets.Graph
	begin   time.Time
	missing int

	queue queue
	mutex sync.Mutex
	state State
}

func (w *work) job(ctx context.Context, r *train.Runner) error {
	has := func(c record.Cell) bool { return w.Pool != nil && r.Has(Experiment(c, w.graphs[c.Data])) }
	for group := w.queue.next(has); group != nil; group = w.queue.next(has) {
		for _, t := range group {
			if err := w.run(ctx, r, t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *work) trial(ctx context.Context, r *train.Runner, c record.Cell, seed uint64) (record.Record, error) {
	if c.Readings {
		trial, err := readings(ctx, r, w.backend, c, Experiment(c, w.graphs[c.Data]), seed)
		trial.Protocol = w.Protocol
		return trial, err
	}
	var epochs func(int, train.Epoch)
	if w.Epoch != nil {
		epochs = func(epoch int, e train.Epoch) { w.Epoch(c, seed, epoch, e) }
	}
	x := Experiment(c, w.graphs[c.Data])
	x.Smoothness = !w.WithoutMAD
	result, err := r.Trial(ctx, x, seed, epochs)
	if err != nil {
		return record.Record{}, err
	}
	trial := Stored(c, x, w.backend, result)
	trial.Date = time.Now().UTC().Format(time.RFC3339)
	return trial, nil
}

func (w *work) run(ctx context.Context, r *train.Runner, t task) error {
	for _, seed := range t.seeds {
		there, err := w.store.Has(t.cell, seed, w.backend.ID) // another process may have run this trial
		if err != nil {
			return err
		}
		if there {
			w.report(1, 1, nil)
			continue
		}
		w.report(0, 0, nil)
		trial, err := w.trial(ctx, r, t.cell, seed)
		if err != nil {
			if errors.Is(err, context.Canceled) {
				return err
			}
			return fmt.Errorf("%s, seed %d: %w", t.cell.Key(), seed, err)
		}
		if err := w.store.Add(trial); err != nil {
			return err
		}
		w.report(1, 0, &trial)
	}
	return nil
}

func (w *work) report(done, before int, last *record.Record) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	s := &w.state
	s.Done, s.Before, s.Last = s.Done+done, s.Before+before, last
	if w.missing -= before; last != nil {
		ran := s.Done - s.Before
		s.Left = timeLeft(time.Since(w.begin), ran, w.missing-ran)
	}
	if w.Progress != nil {
		w.Progress(w.state)
	}
}

func timeLeft(elapsed time.Duration, finished, remaining int) time.Duration {
	if finished == 0 {
		return 0
	}
	return time.Duration(float64(elapsed) / float64(finished) * float64(remaining)).Round(time.Second)
}
