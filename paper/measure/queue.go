package measure

import (
	"slices"
	"sync"

	"nodemask/paper/record"
)

type queue struct {
	mutex  sync.Mutex
	groups [][]task
}

// next prefers groups of this batch whose program the job has compiled; nil: all are taken.
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
