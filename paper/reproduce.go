package paper

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"sync"
	"time"

	"nodemask/datasets"
	"nodemask/nmgnn"
)

// Options say how cells are reproduced. The zero value of all but Open will do.
type Options struct {
	Trials int // of each cell; 0: 10
	Jobs   int // trials side by side; 0: 1
	// Shard of Shards runs its share of the cells alone, from 0 on; Shards 0 is 1.
	Shard, Shards int
	// Open reads a data set, once for each that a cell is on.
	Open func(ctx context.Context, data string) (*datasets.Graph, error)
	// Progress is called before and after each trial, by one job at a time.
	Progress func(State)
	// Epoch is called after each epoch of each trial, by the job that it is of; it must be quick.
	Epoch func(cell Cell, seed uint64, epoch int, e nmgnn.Epoch)
	Now   func() time.Time // for the date of records; nil: time.Now

	// also are cells by key with all that any artifact wants to be measured of them.
	also map[string]Cell
}

// State is how far a reproduction has come.
type State struct {
	Done, Total int           // trials, with those that were there before
	Before      int           // of Done: there before
	Running     []string      // keys of the cells in hand, by job; "" for none
	Left        time.Duration // estimated from the trials so far; 0: unknown
	Last        *Record       // the trial that has just ended
}

// Reproduce runs the trials of the artifacts' cells that the store does not have for this backend, and adds each to the
// store as it ends. The first trial of every cell comes first, so that a part of the work is already a table; then all
// further trials of each cell together, since they share its compiled program.
//
// When the context is cancelled the trials in hand are lost, and no others. Any number of processes may reproduce into one
// folder: none runs a trial that another has run or has in hand.
func Reproduce(ctx context.Context, b *nmgnn.Backend, store *Store, artifacts []Artifact, o Options) error {
	var cells []Cell
	for _, a := range artifacts {
		cells = append(cells, a.Cells()...)
	}
	// What other artifacts need of the same trials costs little to measure along with them, and much to run again for.
	o.also = map[string]Cell{}
	for _, a := range Artifacts() {
		for _, c := range a.Cells() {
			known := o.also[c.Key()]
			c.Cached, c.History = c.Cached || known.Cached, c.History || known.History
			o.also[c.Key()] = c
		}
	}
	return Run(ctx, b, store, cells, o)
}

// Run is [Reproduce] for cells.
func Run(ctx context.Context, b *nmgnn.Backend, store *Store, cells []Cell, o Options) error {
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
	tasks, total := plan(merge(cells), records, b.ID, o)
	p := &reproduction{Options: o, backend: b, store: store, graphs: map[string]*datasets.Graph{}, begin: time.Now(),
		state: State{Total: total, Running: make([]string, max(o.Jobs, 1))}}
	for _, t := range tasks {
		p.missing += len(t.seeds)
	}
	p.state.Before = total - p.missing
	p.state.Done = p.state.Before
	p.queue = grouped(tasks)
	return nmgnn.RunPinned(ctx, b, o.Jobs, p.work)
}

// work takes tasks until none is left. Those that another job or process has in hand are left for last, when it may have
// done them; if it is killed instead, they are run here.
func (p *reproduction) work(ctx context.Context, r *nmgnn.Runner) error {
	p.mutex.Lock()
	job := p.jobs
	p.jobs++
	p.mutex.Unlock()
	var later []task
	for {
		p.mutex.Lock()
		var group []task
		if len(p.queue) > 0 {
			group, p.queue = p.queue[0], p.queue[1:]
		}
		p.mutex.Unlock()
		if group == nil {
			if len(later) == 0 {
				return nil
			}
			group, later = later[:1], later[1:]
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(claimPause):
			}
		}
		for _, t := range group {
			claim, err := p.store.claim(t.cell.Key(), p.backend.ID)
			if err != nil {
				return err
			}
			if claim == nil {
				later = append(later, t)
				continue
			}
			if err := errors.Join(p.run(ctx, r, job, t), claim.release()); err != nil {
				return err
			}
		}
	}
}

// grouped puts tasks that follow each other and share a compiled program together, for one job to do.
func grouped(tasks []task) [][]task {
	var groups [][]task
	for _, t := range tasks {
		if n := len(groups); n > 0 && programOf(groups[n-1][0].cell) == programOf(t.cell) {
			groups[n-1] = append(groups[n-1], t)
		} else {
			groups = append(groups, []task{t})
		}
	}
	return groups
}

// programOf is the same for cells that share a compiled program: if there is a mask, it is an input of it.
func programOf(c Cell) string {
	if c.Settings.KeepRate != 1 {
		c.Settings.KeepRate = MaskedKeepRate
	}
	return c.Key()
}

// claimPause is how long to wait for what others have in hand.
const claimPause = 200 * time.Millisecond

// task is some trials of a cell.
type task struct {
	cell  Cell
	seeds []uint64
}

// plan lists what is missing, and how many trials there are in all.
func plan(cells []Cell, records []Record, backend string, o Options) (tasks []task, total int) {
	have := map[trialID]bool{}
	needs := map[string]Cell{}
	for _, c := range cells {
		needs[c.Key()] = c
	}
	for _, r := range records {
		if c, wanted := needs[r.Cell]; wanted && r.CellOf().measures(c) {
			have[trialID{r.Cell, r.Seed, r.Backend}] = true
		}
	}
	var first, further []task
	for _, c := range cells {
		if o.Shards > 1 && shardOf(c, o.Shards) != o.Shard {
			continue
		}
		total += o.Trials
		var missing []uint64
		for _, seed := range nmgnn.Seeds(1, o.Trials) {
			if !have[trialID{c.Key(), seed, backend}] {
				missing = append(missing, seed)
			}
		}
		if len(missing) > 0 && missing[0] == 1 {
			first = append(first, task{c, missing[:1]})
			missing = missing[1:]
		}
		if len(missing) > 0 {
			further = append(further, task{c, missing})
		}
	}
	return append(first, further...), total
}

// shardOf spreads cells over shards by what they are called, so that it does not matter which artifacts are asked for.
// Cells that share a program stay together.
func shardOf(c Cell, shards int) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(programOf(c)))
	return int(h.Sum64() % uint64(shards))
}

// reproduction is one call of Reproduce.
type reproduction struct {
	Options
	backend *nmgnn.Backend
	store   *Store

	opening sync.Mutex
	graphs  map[string]*datasets.Graph

	mutex   sync.Mutex
	queue   [][]task
	jobs    int // that have begun
	state   State
	begin   time.Time
	missing int
}

func (p *reproduction) graph(ctx context.Context, data string) (*datasets.Graph, error) {
	p.opening.Lock()
	defer p.opening.Unlock()
	if p.graphs[data] == nil {
		g, err := p.Open(ctx, data)
		if err != nil {
			return nil, err
		}
		p.graphs[data] = g
	}
	return p.graphs[data], nil
}

func (p *reproduction) run(ctx context.Context, r *nmgnn.Runner, job int, t task) error {
	have, err := p.store.seeds(t.cell, p.backend.ID) // others may have run some since
	if err != nil {
		return err
	}
	graph, err := p.graph(ctx, t.cell.Data)
	if err != nil {
		return err
	}
	cell := t.cell
	if also, known := p.also[cell.Key()]; known {
		cell.Cached, cell.History = cell.Cached || also.Cached, cell.History || also.History
	}
	x := cell.Experiment(graph)
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
		var epochs func(int, nmgnn.Epoch)
		if p.Epoch != nil {
			epochs = func(epoch int, e nmgnn.Epoch) { p.Epoch(t.cell, seed, epoch, e) }
		}
		result, err := r.Run(ctx, x, seed, epochs)
		if err != nil {
			if errors.Is(err, context.Canceled) {
				return err
			}
			return fmt.Errorf("%s, seed %d: %w", t.cell.Key(), seed, err)
		}
		record := NewRecord(x, p.backend, result)
		record.Data, record.Cell, record.Date = t.cell.Data, t.cell.Key(), p.Now().UTC().Format(time.RFC3339)
		record.Source = filepath.Base(record.Source) // not where a folder lies on this machine
		if cell.History {
			record.keepHistory(result.History)
		}
		if err := p.store.Add(record); err != nil {
			return err
		}
		p.report(func(s *State) {
			s.Done++
			s.Running[job], s.Last = "", &record
			ran := s.Done - s.Before
			s.Left = time.Duration(float64(time.Since(p.begin)) / float64(ran) * float64(p.missing-ran)).Round(time.Second)
		})
	}
	return nil
}

func (p *reproduction) report(change func(*State)) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	change(&p.state)
	if p.Progress != nil {
		p.Progress(p.state)
	}
}
