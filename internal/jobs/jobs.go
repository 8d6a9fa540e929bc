// Package jobs runs work in parallel on one backend; results do not depend on the number of jobs.
package jobs

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"nodemask/nmgnn/backend"
)

// Run calls work once per job (0 means 1), in parallel, each with its own worker. It returns the first error, which
// cancels the others' context. open creates a worker on a job's backend, and end frees it.
//
// On a CPU, each XLA job, even a single one, keeps to one core: shared threads would wait for each other, and XLA
// splits some sums by the number of cores, which changes rounding (in GAT, the seventh digit).
func Run[W any](ctx context.Context, b *backend.Backend, jobs int, open func(*backend.Backend) W, end func(W),
	work func(ctx context.Context, w W) error) error {
	p, err := New(b, jobs, open, end)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.Run(ctx, work)
}

// Pool keeps [Run]'s workers for work that comes in pieces.
type Pool[W any] struct {
	jobs []chan func(W, error) // nil: closed
	wait sync.WaitGroup
}

// New returns a pool of jobs (0 means 1) that wait for [Pool.Run]. Close it after use.
func New[W any](b *backend.Backend, jobs int, open func(*backend.Backend) W, end func(W)) (*Pool[W], error) {
	openBackend, err := b.ForJobs()
	if err != nil {
		return nil, err
	}
	p := &Pool[W]{}
	for job := range max(jobs, 1) {
		todo := make(chan func(W, error))
		p.jobs = append(p.jobs, todo)
		p.wait.Go(func() {
			own, err := openBackend(job) // pins the goroutine to a core
			var worker W
			if err == nil {
				worker = open(own)
			}
			for work := range todo {
				work(worker, err)
			}
			if err != nil {
				return
			}
			end(worker)
			if own != b {
				own.Finalize()
			}
		})
	}
	return p, nil
}

// Run makes each job call work once, in parallel. It returns the first error, which cancels the others' context, or an
// error if the pool is closed. Do not run or close the pool meanwhile.
func (p *Pool[W]) Run(ctx context.Context, work func(ctx context.Context, w W) error) error {
	if p.jobs == nil {
		return errors.New("the pool is closed: expected a new one")
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, todo := range p.jobs {
		group.Go(func() error {
			done := make(chan error)
			todo <- func(w W, err error) {
				if err == nil {
					err = work(ctx, w)
				}
				done <- err
			}
			return <-done
		})
	}
	return group.Wait()
}

// Close ends the jobs and frees their workers; later calls do nothing.
func (p *Pool[W]) Close() {
	for _, todo := range p.jobs {
		close(todo)
	}
	p.jobs = nil
	p.wait.Wait()
}
