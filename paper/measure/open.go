package measure

import (
	"context"
	"errors"

	"nodemask/datasets"
)

// Opener opens a data set by its name.
type Opener = func(ctx context.Context, data string) (*datasets.Graph, error)

// openAll opens all data sets first, to fail early. It returns the groups whose data it could open, and the joined
// errors of the others.
func openAll(ctx context.Context, open Opener, groups [][]task) (graphs map[string]*datasets.Graph, can [][]task,
	err error) {
	graphs = map[string]*datasets.Graph{}
	for _, group := range groups {
		data := group[0].cell.Data
		g, tried := graphs[data]
		if !tried {
			var failed error
			if g, failed = open(ctx, data); failed != nil {
				g, err = nil, errors.Join(err, failed)
			}
			graphs[data] = g
		}
		if g != nil {
			can = append(can, group)
		}
	}
	return graphs, can, err
}

func trialsOf(tasks []task) (n int) {
	for _, t := range tasks {
		n += len(t.seeds)
	}
	return n
}
