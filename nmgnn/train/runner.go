package train

import (
	"context"

	"golang.org/x/sync/errgroup"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
)

// Runner runs trials one after the other on one backend. It keeps the program it compiled last for as long as trials
// can share it: trials of one experiment, and of experiments that mask at other rates. Only one goroutine may use it
// at a time.
type Runner struct {
	backend *backend.Backend
	program Experiment // what the trainer was made for
	split   *datasets.Split
	trainer *Trainer
}

// NewRunner returns a runner. Close it after use.
func NewRunner(b *backend.Backend) *Runner { return &Runner{backend: b} }

// InParallel calls work once for each of a number of jobs (0: 1), all at the same time, each with a runner of its own, and
// returns the first error, which cancels the others' context. On a CPU, XLA's jobs keep to one core each: threads that they
// share would wait for one another.
func InParallel(ctx context.Context, b *backend.Backend, jobs int, work func(ctx context.Context, r *Runner) error) error {
	if jobs < 2 {
		r := NewRunner(b)
		defer r.Close()
		return work(ctx, r)
	}
	return Pinned(ctx, b, jobs, work)
}

// Pinned does what [InParallel] does, but keeps a single job to one core as well. XLA divides some sums by the cores that it has, and
// so rounds them differently (seen for GAT, in the seventh digit): pinned, a trial has the same numbers to the last digit
// whatever the number of jobs.
func Pinned(ctx context.Context, b *backend.Backend, jobs int, work func(ctx context.Context, r *Runner) error) error {
	jobs = max(jobs, 1)
	open, err := b.ForJobs()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for job := range jobs {
		group.Go(func() error {
			own, err := open(job)
			if err != nil {
				return err
			}
			if own != b {
				defer own.Finalize()
			}
			r := NewRunner(own)
			defer r.Close()
			return work(ctx, r)
		})
	}
	return group.Wait()
}

// Trial runs the trial of a seed. report, if not nil, is called after each epoch.
func (r *Runner) Trial(ctx context.Context, x Experiment, seed uint64, report func(epoch int, e Epoch)) (*Result, error) {
	if err := x.check(); err != nil {
		return nil, err
	}
	if err := r.prepare(x, seed); err != nil {
		return nil, err
	}
	trial, err := r.trainer.Train(ctx, seed, report)
	if err != nil {
		return nil, err
	}
	result := &Result{Trial: trial, SplitSeed: r.split.Seed, SplitHash: r.split.Hash()}
	if err := x.measure(ctx, r.trainer, result); err != nil {
		return nil, err
	}
	return result, nil
}

// Close frees the program.
func (r *Runner) Close() {
	if r.trainer != nil {
		r.trainer.Close()
		r.trainer = nil
	}
}

// prepare makes the trainer for a trial, unless the last one will do.
func (r *Runner) prepare(x Experiment, seed uint64) error {
	if x.Resplit {
		x.Resplit, x.SplitSeed = false, seed
	}
	if x.Arrivals == "" {
		x.Arrivals = datasets.AllEdges
	}
	if r.trainer != nil && samePrograms(r.program, x) {
		return r.trainer.SetKeepRate(x.Parameters.KeepRate)
	}
	r.Close()
	split, err := datasets.Stratified(x.Graph, datasets.SplitOptions{TrainPercent: x.TrainPercent, Seed: x.SplitSeed})
	if err != nil {
		return err
	}
	view, err := datasets.NewView(x.Graph, split, x.Setting, x.Arrivals)
	if err != nil {
		return err
	}
	trainer, err := New(r.backend, nmgnn.Build(x.Parameters, x.Graph.NumClasses()), x.Graph, view, OptionsOf(x.Parameters, view))
	if err != nil {
		return err
	}
	r.program, r.split, r.trainer = x, split, trainer
	return nil
}

// samePrograms says whether two experiments compile to the same. The mask is drawn outside the program, so the keep rate
// does not matter as long as there is a mask; nor does what is measured afterwards.
func samePrograms(a, b Experiment) bool {
	for _, x := range []*Experiment{&a, &b} {
		if x.Parameters.KeepRate.Active() {
			x.Parameters.KeepRate = 0.5 // whichever
		} else {
			x.Parameters.KeepRate = 1
		}
		x.Parameters.Preset = ""
		x.Smoothness, x.CacheInference, x.Keep = false, false, false
	}
	return a == b
}
