package measure

import (
	"hash/fnv"
	"slices"
	"sync"

	"nodemask/paper/record"
)

type task struct {
	cell  record.Cell
	seeds []uint64
	batch int
}

func plan(
	cells []record.Cell, o Options, has func(record.Cell, uint64) (bool, error),
) (groups [][]task, total int, err error) {
	var batches [][]uint64
	switch {
	case o.Batch > 0:
		batches = slices.Collect(slices.Chunk(o.Seeds, o.Batch))
	case len(o.Seeds) > 0:
		batches = [][]uint64{o.Seeds[:1], o.Seeds[1:]}
	}
	for batch, seeds := range batches {
		var tasks []task
		for _, c := range cells {
			if o.Shards > 1 && shardOf(c, o.Shards) != o.Shard {
				continue
			}
			total += len(seeds)
			var missing []uint64
			for _, seed := range seeds {
				there, err := has(c, seed)
				if err != nil {
					return nil, 0, err
				}
				if !there {
					missing = append(missing, seed)
				}
			}
			if len(missing) > 0 {
				tasks = append(tasks, task{c, missing, batch})
			}
		}
		groups = append(groups, grouped(tasks)...)
	}
	return groups, total, nil
}

// shardOf returns the index of c's shard: a hash of what [programOf] returns for c. So c's shard does not depend on
// which other experiments run.
func shardOf(c record.Cell, shards int) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(programOf(c)))
	return int(h.Sum64() % uint64(shards))
}

func grouped(tasks []task) (groups [][]task) {
	at := map[string]int{}
	for _, t := range tasks {
		program := programOf(t.cell)
		i, ok := at[program]
		if !ok {
			i = len(groups)
			at[program] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], t)
	}
	return groups
}

// programOf returns the same text for experiments that may share a compiled program. Mask, split, learning rate, weight
// decay and drop rates do not count, because they are program inputs.
func programOf(c record.Cell) string {
	usual := record.NewCell(c.Data, c.Parameters.Model, c.Setting, c.TrainPercent)
	p, u := &c.Parameters, usual.Parameters
	for _, rate := range []*float64{&p.Dropout, &p.AttentionDropout, &p.RegulariserRate} {
		if *rate > 0 {
			*rate = 0.5
		}
	}
	if p.KeepRate.Active() {
		p.KeepRate = 0.5
	}
	p.MaskOver, p.Rescale, p.LearningRate, p.WeightDecay, p.NormalizeFeatures = u.MaskOver, u.Rescale, u.LearningRate,
		u.WeightDecay, u.NormalizeFeatures
	p.MaxEpochs, p.Patience, p.StopOn = u.MaxEpochs, u.Patience, u.StopOn
	c.Resplit = false
	return c.Key()
}

type queue struct {
	mutex  sync.Mutex
	groups [][]task
}

// next removes and returns a group of tasks of the current batch. It prefers a group whose program is already compiled.
// It returns nil if no group is left.
func (q *queue) next(compiled func(record.Cell) bool) []task {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if len(q.groups) == 0 {
		return nil
	}
	batch := q.groups[0][0].batch
	i := max(slices.IndexFunc(q.groups, func(g []task) bool { return g[0].batch == batch && compiled(g[0].cell) }), 0)
	group := q.groups[i]
	q.groups = slices.Delete(q.groups, i, i+1)
	return group
}
