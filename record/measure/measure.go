// Package measure runs the trials of cells that a store lacks, and runs records again to compare.
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

// Options say how cells are measured. All but Open may be left zero.
type Options struct {
	Trials    int    // of each cell; 0: 10
	FirstSeed uint64 // of each cell's trials; 0: 1
	Jobs      int    // trials side by side; 0: 1
	// Shard of Shards, counted from 0, runs only its share of the cells; 0 Shards: 1.
	Shard, Shards int
	// Open reads a data set, once for each that trials are missing on, before the first of them.
	Open Opener
	// Unopened is told, before the first trial, of data sets that cannot be opened. If it returns nil, all trials on
	// others run, and the same error is returned in the end. A nil Unopened: it is returned at once.
	Unopened func(*UnopenedError) error
	// Progress is called before and after each trial, by one job at a time.
	Progress func(State)
	// Epoch is called after each epoch of each trial, by the trial's job; it must be quick.
	Epoch func(cell record.Cell, seed uint64, epoch int, e train.Epoch)
	Now   func() time.Time // for the date of records; nil: time.Now
	// Also lists cells that others want, with all that they want measured: measuring it in the same trials costs little,
	// and running the trials again for it costs much. Cells that are not run are left out.
	Also []record.Cell
}

// State is how far the work has come.
type State struct {
	Done, Total int            // trials, with those that were there before
	Before      int            // of Done: there before
	Running     []string       // keys of the cells in hand, by job; "" for none
	Left        time.Duration  // estimated from the trials so far; 0: unknown
	Last        *record.Record // the trial that has just ended
}

// Missing runs the trials of cells that the store does not have for this backend, and adds each to the store as it
// ends. The first trial of every cell comes first, so that a part of the work is already a table; then all further
// trials of each cell together, since they share its compiled program.
//
// When the context is cancelled only the trials in hand are lost. Any number of processes may measure into one folder:
// none runs a trial that another has run or has in hand.
func Missing(ctx context.Context, b *backend.Backend, store *record.Store, cells []record.Cell, o Options) error {
	also := map[string]record.Cell{}
	for _, c := range record.Merge(o.Also) {
		also[c.Key()] = c
	}
	o.Trials = max(o.Trials, 0)
	if o.Trials == 0 {
		o.Trials = 10
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	records, err := store.Load()
	if err != nil {
		return err
	}
	tasks, total := plan(record.Merge(cells), records, b.ID, o)
	all, err := openAll(ctx, o.Open, grouped(tasks))
	if err != nil {
		return err
	}
	p := &work{Options: o, also: also, backend: b, store: store, graphs: all.graphs, begin: time.Now(),
		missing: trialsOf(tasks) - all.unopened.trials(),
		state: State{Total: total - all.unopened.trials(), Before: total - trialsOf(tasks),
			Running: make([]string, max(o.Jobs, 1))}}
	p.state.Done = p.state.Before
	p.queue.groups = all.groups
	return all.run(o.Unopened, func() error { return train.Pinned(ctx, b, o.Jobs, p.job) })
}

// job runs tasks until none is left.
func (p *work) job(ctx context.Context, r *train.Runner) error {
	p.mutex.Lock()
	job := p.jobs
	p.jobs++
	p.mutex.Unlock()
	return p.queue.work(ctx, func(key string) (*record.Lease, error) { return p.store.Lease(key, p.backend.ID) },
		func(t task) error { return p.run(ctx, r, job, t) })
}

// work is one call of Missing.
type work struct {
	Options
	also    map[string]record.Cell
	backend *backend.Backend
	store   *record.Store

	graphs map[string]*datasets.Graph // of all tasks

	mutex   sync.Mutex
	queue   queue
	jobs    int // that have begun
	state   State
	begin   time.Time
	missing int
}

func (p *work) run(ctx context.Context, r *train.Runner, job int, t task) error {
	have, err := p.store.Seeds(t.cell, p.backend.ID) // others may have run some since
	if err != nil {
		return err
	}
	cell := t.cell
	if also, known := p.also[cell.Key()]; known {
		cell.Cached, cell.History = cell.Cached || also.Cached, cell.History || also.History
	}
	x := Experiment(cell, p.graphs[cell.Data])
	for _, seed := range t.seeds {
		if have[seed] {
			p.report(func(s *State) {
				s.Done++
				s.Before++
				s.Last = nil
				p.missing--
			})
			continue
		}
		p.report(func(s *State) { s.Running[job], s.Last = t.cell.Key(), nil })
		var epochs func(int, train.Epoch)
		if p.Epoch != nil {
			epochs = func(epoch int, e train.Epoch) { p.Epoch(t.cell, seed, epoch, e) }
		}
		result, err := r.Trial(ctx, x, seed, epochs)
		if err != nil {
			if errors.Is(err, context.Canceled) {
				return err
			}
			return fmt.Errorf("%s, seed %d: %w", t.cell.Key(), seed, err)
		}
		trial := Stored(cell, x, p.backend, result)
		trial.Date = p.Now().UTC().Format(time.RFC3339)
		if err := p.store.Add(trial); err != nil {
			return err
		}
		p.report(func(s *State) {
			s.Done++
			s.Running[job], s.Last = "", &trial
			ran := s.Done - s.Before
			s.Left = train.TimeLeft(time.Since(p.begin), ran, p.missing-ran)
		})
	}
	return nil
}

func (p *work) report(change func(*State)) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	change(&p.state)
	if p.Progress != nil {
		p.Progress(p.state)
	}
}
