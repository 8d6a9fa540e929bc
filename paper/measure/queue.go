package measure

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"nodemask/paper/record"
)

type queue struct {
	mutex  sync.Mutex
	groups [][]task
}

const leasePause = 200 * time.Millisecond

// next prefers groups of this batch whose program the job has compiled.
func (q *queue) next(has func(record.Cell) bool) []task {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if len(q.groups) == 0 {
		return nil
	}
	batch := q.groups[0][0].batch
	i := max(slices.IndexFunc(q.groups, func(g []task) bool { return g[0].batch == batch && has(g[0].cell) }), 0)
	group := q.groups[i]
	q.groups = slices.Delete(q.groups, i, i+1)
	return group
}

// work calls run for each task, holding its cell's lease. Cells leased by others come last: they may be done (run must
// check), or their holder killed.
func (q *queue) work(ctx context.Context, has func(record.Cell) bool,
	leaseOf func(key string) (*record.Lease, error),
	run func(task) error) error {
	var later []task
	for {
		group := q.next(has)
		if group == nil {
			if len(later) == 0 {
				return nil
			}
			group, later = later[:1], later[1:]
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(leasePause):
			}
		}
		for _, t := range group {
			lease, err := leaseOf(t.cell.Key())
			if err != nil {
				return err
			}
			if lease == nil {
				later = append(later, t)
				continue
			}
			if err := errors.Join(run(t), lease.Release()); err != nil {
				return err
			}
		}
	}
}
