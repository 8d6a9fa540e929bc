package measure

import (
	"hash/fnv"

	"nodemask/nmgnn/train"
	"nodemask/record"
)

// task is some trials of a cell.
type task struct {
	cell  record.Cell
	seeds []uint64
}

// plan lists what is missing, and how many trials there are in all.
func plan(cells []record.Cell, records []record.Record, backend string, o Options) (tasks []task, total int) {
	have := map[record.TrialID]bool{}
	needs := map[string]record.Cell{}
	for _, c := range cells {
		needs[c.Key()] = c
	}
	for _, r := range records {
		if c, wanted := needs[r.Cell]; wanted && r.CellOf().Measures(c) {
			have[r.ID()] = true
		}
	}
	firstSeed := max(o.FirstSeed, 1)
	var first, further []task
	for _, c := range cells {
		if o.Shards > 1 && shardOf(c, o.Shards) != o.Shard {
			continue
		}
		total += o.Trials
		var missing []uint64
		for _, seed := range train.Seeds(firstSeed, o.Trials) {
			if !have[record.TrialID{Cell: c.Key(), Seed: seed, Backend: backend}] {
				missing = append(missing, seed)
			}
		}
		if len(missing) > 0 && missing[0] == firstSeed {
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
func shardOf(c record.Cell, shards int) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(programOf(c)))
	return int(h.Sum64() % uint64(shards))
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

// programOf is the same for cells that may share a compiled program ([train.Trainer.Switch]): if there is a mask, it is
// an input of it, and so are splits, learning rate and weight decay.
func programOf(c record.Cell) string {
	usual := record.NewCell(c.Data, c.Parameters.Model, c.Setting, c.TrainPercent)
	p, u := &c.Parameters, usual.Parameters
	if p.KeepRate.Active() {
		p.KeepRate = 0.5 // whichever
	}
	p.MaskOver, p.Rescale, p.LearningRate, p.WeightDecay, p.NormalizeFeatures = u.MaskOver, u.Rescale, u.LearningRate,
		u.WeightDecay, u.NormalizeFeatures
	p.MaxEpochs, p.Patience, p.StopOn = u.MaxEpochs, u.Patience, u.StopOn
	c.Resplit = false
	return c.Key()
}
