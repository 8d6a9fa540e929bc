// Package jobs runs work side by side on one backend, so that numbers do not depend on how much of it runs at a time.
package jobs

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"nodemask/nmgnn/backend"
)

// Run calls work once for each of a number of jobs (0: 1), all at the same time, each with a worker of its own, and
// returns the first error, which cancels the others' context. open makes a worker of a job's backend, and end frees it.
//
// On a CPU, XLA's jobs keep to one core each, a single one too: threads that they share would wait for one another, and
// XLA divides some sums by the cores that it has, and so rounds them differently (seen for GAT, in the seventh digit).
func Run[W any](ctx context.Context, b *backend.Backend, jobs int, open func(*backend.Backend) W, end func(W),
	work func(ctx context.Context, w W) error) error {
	p, err := New(b, jobs, open, end)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.Run(ctx, work)
}

// Pool has the workers of [Run] for work that comes piece by piece.
type Pool[W any] struct {
	jobs []chan func(W, error) // nil: closed
	wait sync.WaitGroup
}

// New starts a number of jobs (0: 1), which wait for [Pool.Run]. Close the pool after use.
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
			own, err := openBackend(job) // keeps the goroutine to a core
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

// Run has each job call work once, all at the same time, and returns the first error, which cancels the others'
// context. Nobody else may run or close the pool meanwhile. It returns an error if the pool is closed.
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

// Close ends the jobs and frees their workers; a second time it does nothing.
func (p *Pool[W]) Close() {
	for _, todo := range p.jobs {
		close(todo)
	}
	p.jobs = nil
	p.wait.Wait()
}
