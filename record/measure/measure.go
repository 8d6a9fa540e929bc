// Package measure runs the trials of cells that a store lacks, and runs recorded trials again to compare.
package measure

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/train"
	"nodemask/record"
)

// Options say how cells are measured. All but Open, and Protocol for trajectories, may be left zero.
type Options[R record.Run] struct {
	Seeds []uint64 // of each cell's trials; nil: 1 to 10
	// Batch is for how many seeds all cells are done before the next ones; 0: the first seed by itself, so that a part
	// of the work is already a table, then all others. Programs are compiled once a batch.
	Batch int
	Jobs  int // trials side by side; 0: 1
	// Pool has the jobs and keeps their programs for the next call; nil: the call has its own. It must be of as many jobs.
	Pool *train.Pool
	// Shard of Shards, counted from 0, runs only its share of the cells; 0 Shards: 1.
	Shard, Shards int
	// Open reads a data set, once for each that trials are missing on, before the first of them.
	Open Opener
	// Unopened is told, before the first trial, of data sets that cannot be opened. If it returns nil, all trials on
	// others run, and the same error is returned in the end. A nil Unopened: it is returned at once.
	Unopened func(*UnopenedError) error
	// Progress is called before and after each trial, by one job at a time.
	Progress func(State[R])

	// Of records: Epoch is called after each epoch of each trial, by the trial's job; it must be quick. Now dates
	// records; nil: time.Now. Also lists cells that others want, with all that they want measured: measuring it in the
	// same trials costs little, and running the trials again for it costs much. Cells that are not run are left out.
	// WithoutMAD leaves out MAD, which takes about a third of a short trial's time.
	Epoch      func(cell record.Cell, seed uint64, epoch int, e train.Epoch)
	Now        func() time.Time
	Also       []record.Cell
	WithoutMAD bool

	// Of trajectories: the hash of the rules, which each keeps.
	Protocol string
}

// State is how far the work has come.
type State[R record.Run] struct {
	Done, Total int           // trials, with those that were there before
	Before      int           // of Done: there before
	Running     []string      // keys of the cells in hand, by job; "" for none
	Left        time.Duration // estimated from the trials so far; 0: unknown
	Last        *R            // the trial that has just ended
}

// Missing runs the trials of cells that the store does not have for this backend, and adds each to the store as it
// ends. Trials of cells that share a compiled program follow each other.
//
// When the context is cancelled only the trials in hand are lost. Any number of processes may measure into one folder:
// none runs a trial that another has run or has in hand.
func Missing(
	ctx context.Context, b *backend.Backend, store *record.Store[record.Record], cells []record.Cell,
	o Options[record.Record],
) error {
	also := map[string]record.Cell{}
	for _, c := range record.Merge(o.Also) {
		also[c.Key()] = c
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return missing(ctx, b, store, cells, o,
		func(ctx context.Context, r *train.Runner, c record.Cell, g *datasets.Graph, seed uint64) (record.Record, error) {
			var epochs func(int, train.Epoch)
			if o.Epoch != nil {
				epochs = func(epoch int, e train.Epoch) { o.Epoch(c, seed, epoch, e) }
			}
			if more, known := also[c.Key()]; known {
				c.Cached, c.History = c.Cached || more.Cached, c.History || more.History
			}
			x := Experiment(c, g)
			x.Smoothness = !o.WithoutMAD
			result, err := r.Trial(ctx, x, seed, epochs)
			if err != nil {
				return record.Record{}, err
			}
			trial := Stored(c, x, b, result)
			trial.Date = o.Now().UTC().Format(time.RFC3339)
			return trial, nil
		})
}

// MissingTrajectories does what [Missing] does, for trajectories: of cells as they are trained ([record.Cell.Trained]).
func MissingTrajectories(
	ctx context.Context, b *backend.Backend, store *record.Store[record.Trajectory], cells []record.Cell,
	o Options[record.Trajectory],
) error {
	trained := make([]record.Cell, len(cells))
	for i, c := range cells {
		trained[i] = c.Trained()
	}
	return missing(ctx, b, store, trained, o,
		func(ctx context.Context, r *train.Runner, c record.Cell, g *datasets.Graph, seed uint64) (record.Trajectory, error) {
			t, err := trajectoryOf(ctx, r, b, c, g, seed)
			t.Protocol = o.Protocol
			return t, err
		})
}

// work is one call of missing.
type work[R record.Run] struct {
	Options[R]
	trial   func(context.Context, *train.Runner, record.Cell, *datasets.Graph, uint64) (R, error)
	backend *backend.Backend
	store   *record.Store[R]
	graphs  map[string]*datasets.Graph // of all tasks
	begin   time.Time
	missing int

	queue queue
	mutex sync.Mutex
	jobs  int // that have begun
	state State[R]
}

// missing has trial run what the store lacks of cells.
func missing[R record.Run](
	ctx context.Context, b *backend.Backend, store *record.Store[R], cells []record.Cell, o Options[R],
	trial func(context.Context, *train.Runner, record.Cell, *datasets.Graph, uint64) (R, error),
) error {
	if o.Seeds == nil {
		o.Seeds = train.Seeds(1, 10)
	}
	groups, total, err := plan(record.Merge(cells), o, func(c record.Cell, seed uint64) (bool, error) {
		return store.Has(c, seed, b.ID)
	})
	if err != nil {
		return err
	}
	before := total
	for _, group := range groups {
		before -= trialsOf(group)
	}
	all, err := openAll(ctx, o.Open, groups)
	if err != nil {
		return err
	}
	total -= all.unopened.trials()
	w := &work[R]{Options: o, trial: trial, backend: b, store: store, graphs: all.graphs, begin: time.Now(),
		missing: total - before,
		state:   State[R]{Total: total, Before: before, Done: before, Running: make([]string, max(o.Jobs, 1))}}
	w.queue.groups = all.groups
	return all.run(o.Unopened, func() error {
		if o.Pool != nil {
			return o.Pool.Run(ctx, w.job)
		}
		return train.Pinned(ctx, b, o.Jobs, w.job)
	})
}

// job runs tasks until none is left.
func (w *work[R]) job(ctx context.Context, r *train.Runner) error {
	w.mutex.Lock()
	job := w.jobs
	w.jobs++
	w.mutex.Unlock()
	has := func(c record.Cell) bool { return w.Pool != nil && r.Has(Experiment(c, w.graphs[c.Data])) }
	return w.queue.work(ctx, has,
		func(key string) (*record.Lease, error) { return w.store.Lease(key, w.backend.ID) },
		func(t task) error { return w.run(ctx, r, job, t) })
}

func (w *work[R]) run(ctx context.Context, r *train.Runner, job int, t task) error {
	for _, seed := range t.seeds {
		there, err := w.store.Has(t.cell, seed, w.backend.ID) // others may have run it since
		if err != nil {
			return err
		}
		if there {
			w.report(func(s *State[R]) {
				s.Done++
				s.Before++
				s.Last = nil
				w.missing--
			})
			continue
		}
		w.report(func(s *State[R]) { s.Running[job], s.Last = t.cell.Key(), nil })
		trial, err := w.trial(ctx, r, t.cell, w.graphs[t.cell.Data], seed)
		if err != nil {
			if errors.Is(err, context.Canceled) {
				return err
			}
			return fmt.Errorf("%s, seed %d: %w", t.cell.Key(), seed, err)
		}
		if err := w.store.Add(trial); err != nil {
			return err
		}
		w.report(func(s *State[R]) {
			s.Done++
			s.Running[job], s.Last = "", &trial
			ran := s.Done - s.Before
			s.Left = train.TimeLeft(time.Since(w.begin), ran, w.missing-ran)
		})
	}
	return nil
}

func (w *work[R]) report(change func(*State[R])) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	change(&w.state)
	if w.Progress != nil {
		w.Progress(w.state)
	}
}
