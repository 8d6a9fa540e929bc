package train

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"nodemask/nmgnn/backend"
)

// Pool runs work in parallel jobs (goroutines) on one backend, each with its own [Runner]. Results do not depend on
// the number of jobs.
//
// On a CPU, each XLA job runs on one core, even if there is only one job: XLA splits some sums by the number of cores,
// which would change rounding.
type Pool struct {
	jobs []chan func(*Runner, error)
	wait sync.WaitGroup
}

// NewPool returns a pool with the given number of jobs; 0 means 1. Each job's [Runner] keeps at most maxPrograms
// compiled programs; 0 means 1. Close the pool after use.
func NewPool(b *backend.Backend, jobs, maxPrograms int) (*Pool, error) {
	open, err := b.ForJobs()
	if err != nil {
		return nil, err
	}
	p := &Pool{}
	for job := range max(jobs, 1) {
		todo := make(chan func(*Runner, error))
		p.jobs = append(p.jobs, todo)
		p.wait.Go(func() {
			own, err := open(job)
			r := &Runner{backend: own, Programs: maxPrograms}
			for work := range todo {
				work(r, err)
			}
			r.Close()
			if err == nil && own != b {
				own.Finalize()
			}
		})
	}
	return p, nil
}

// Run calls the function work once in each of the pool's jobs (goroutines), in parallel. It returns the first error of
// a call, which also cancels the context of the other calls. If the pool is closed, Run returns an error. Do not call
// Run or Close before Run returns.
func (p *Pool) Run(ctx context.Context, work func(ctx context.Context, r *Runner) error) error {
	if p.jobs == nil {
		return errors.New("the pool is closed: expected a new one")
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, todo := range p.jobs {
		group.Go(func() error {
			done := make(chan error)
			todo <- func(r *Runner, err error) {
				if err == nil {
					err = work(ctx, r)
				}
				done <- err
			}
			return <-done
		})
	}
	return group.Wait()
}

// Close ends the jobs and frees their programs; later calls do nothing.
func (p *Pool) Close() {
	for _, todo := range p.jobs {
		close(todo)
	}
	p.jobs = nil
	p.wait.Wait()
}
