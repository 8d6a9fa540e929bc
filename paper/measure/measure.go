// Package measure runs the trials of cells that a store lacks, and runs recorded trials again to compare.
package measure

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"nodemask/datasets"
	"nodemask/internal/jobs"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/paper/record"
)

// Options say how cells are measured. All but Open, and Protocol for cells with readings, may be left zero.
type Options struct {
	Seeds []uint64 // of each cell's trials; nil: 1 to 10
	// Batch is for how many seeds all cells are done before the next ones; 0: the first seed by itself, so that a part
	// of the work is already a table, then all others. Programs are compiled once a batch.
	Batch int
	Jobs  int // trials side by side; 0: 1
	// Pool has the jobs and keeps their programs for the next call; nil: the call has its own. It must be of as many
	// jobs.
	Pool *jobs.Pool[*train.Runner]
	// Shard of Shards, counted from 0, runs only its share of the cells; 0 Shards: 1.
	Shard, Shards int
	// Open reads a data set, once for each that trials are missing on, before the first of them.
	Open Opener
	// Unopened is told, before the first trial, of data sets that cannot be opened. If it returns nil, all trials on
	// others run, and the same error is returned in the end. A nil Unopened: it is returned at once. The error joins an
	// [Unopened] for each.
	Unopened func(error) error
	// Progress is called before and after each trial, by one job at a time.
	Progress func(State)

	// Epoch is called after each epoch of each trial of cells without readings, by the trial's job; it must be quick.
	// Now dates their records; nil: time.Now. Also lists cells that others want, with all that they want measured:
	// measuring it in the same trials costs little, and running the trials again for it costs much. Cells that are not
	// run are left out. WithoutMAD leaves out MAD, which takes a good part of a short trial's time.
	Epoch      func(cell record.Cell, seed uint64, epoch int, e train.Epoch)
	Now        func() time.Time
	Also       []record.Cell
	WithoutMAD bool

	// Protocol is the hash of the rules, which records with readings keep.
	Protocol string
}

// State is how far the work has come.
type State struct {
	Done, Total int            // trials, with those that were there before
	Before      int            // of Done: there before
	Left        time.Duration  // estimated from the trials so far; 0: unknown
	Last        *record.Record // the trial that has just ended
}

// Missing runs the trials of cells that the store does not have for this backend, and adds each to the store as it
// ends. Trials of cells that share a compiled program follow each other.
//
// When the context is cancelled only the trials in hand are lost. Any number of processes may measure into one folder:
// none runs a trial that another has run or has in hand.
func Missing(
	ctx context.Context, b *backend.Backend, store *record.Store, cells []record.Cell, o Options,
) error {
	if o.Seeds == nil {
		o.Seeds = hyper.Seeds(1, 10)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	groups, total, err := plan(record.Merged(cells), o, func(c record.Cell, seed uint64) (bool, error) {
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
	total -= all.trials
	w := &work{Options: o, backend: b, store: store, also: map[string]record.Cell{}, graphs: all.graphs,
		begin: time.Now(), missing: total - before,
		state: State{Total: total, Before: before, Done: before}}
	for _, c := range record.Merged(o.Also) {
		w.also[c.Key()] = c
	}
	w.queue.groups = all.groups
	return all.run(o.Unopened, func() error {
		if o.Pool != nil {
			return o.Pool.Run(ctx, w.job)
		}
		return jobs.Run(ctx, b, o.Jobs, train.NewRunner, (*train.Runner).Close, w.job)
	})
}

// work is one call of [Missing].
type work struct {
	Options
	backend *backend.Backend
	store   *record.Store
	also    map[string]record.Cell     // by key
	graphs  map[string]*datasets.Graph // of all tasks
	begin   time.Time
	missing int

	queue queue
	mutex sync.Mutex
	state State
}

// job runs tasks until none is left.
func (w *work) job(ctx context.Context, r *train.Runner) error {
	has := func(c record.Cell) bool { return w.Pool != nil && r.Has(Experiment(c, w.graphs[c.Data])) }
	return w.queue.work(ctx, has,
		func(key string) (*record.Lease, error) { return w.store.Lease(key, w.backend.ID) },
		func(t task) error { return w.run(ctx, r, t) })
}

// trial runs one trial and describes it.
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
	if more, ok := w.also[c.Key()]; ok {
		c.Cached, c.History = c.Cached || more.Cached, c.History || more.History
	}
	x := Experiment(c, w.graphs[c.Data])
	x.Smoothness = !w.WithoutMAD
	result, err := r.Trial(ctx, x, seed, epochs)
	if err != nil {
		return record.Record{}, err
	}
	trial := Stored(c, x, w.backend, result)
	trial.Date = w.Now().UTC().Format(time.RFC3339)
	return trial, nil
}

func (w *work) run(ctx context.Context, r *train.Runner, t task) error {
	for _, seed := range t.seeds {
		there, err := w.store.Has(t.cell, seed, w.backend.ID) // others may have run it since
		if err != nil {
			return err
		}
		if there {
			w.report(func(s *State) {
				s.Done++
				s.Before++
				s.Last = nil
				w.missing--
			})
			continue
		}
		w.report(func(s *State) { s.Last = nil }) // one begins: whoever watches sees that from the first on
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
		w.report(func(s *State) {
			s.Done++
			s.Last = &trial
			ran := s.Done - s.Before
			s.Left = TimeLeft(time.Since(w.begin), ran, w.missing-ran)
		})
	}
	return nil
}

func (w *work) report(change func(*State)) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	change(&w.state)
	if w.Progress != nil {
		w.Progress(w.state)
	}
}
