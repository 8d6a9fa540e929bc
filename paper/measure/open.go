package measure

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"nodemask/datasets"
)

// Opener opens a data set by its name.
type Opener = func(ctx context.Context, data string) (*datasets.Graph, error)

// Unopened reports a data set that cannot be opened.
type Unopened struct {
	Data   string
	Trials int // missing trials
	Err    error
}

// Error returns how many trials cannot run, and why.
func (u *Unopened) Error() string {
	trials := "trials"
	if u.Trials == 1 {
		trials = "trial"
	}
	return fmt.Sprintf("cannot run %d %s on %s: %s", u.Trials, trials, u.Data,
		strings.TrimPrefix(u.Err.Error(), u.Data+": "))
}

// Unwrap returns the error of opening.
func (u *Unopened) Unwrap() error { return u.Err }

type opened struct {
	graphs   map[string]*datasets.Graph
	groups   [][]task // on opened data
	trials   int      // trials that cannot run
	unopened error    // joined [Unopened]s; nil: all opened
}

// openAll opens all data sets first, to fail early.
func openAll(ctx context.Context, open Opener, groups [][]task) (opened, error) {
	all := opened{graphs: map[string]*datasets.Graph{}}
	failed := map[string]*Unopened{}
	var errs []error
	for _, group := range groups {
		data := group[0].cell.Data
		if all.graphs[data] == nil && failed[data] == nil {
			g, err := open(ctx, data)
			if ctx.Err() != nil {
				return opened{}, ctx.Err()
			}
			all.graphs[data] = g
			if err != nil {
				failed[data] = &Unopened{Data: data, Err: err}
				errs = append(errs, failed[data])
			}
		}
		if failed[data] != nil {
			failed[data].Trials += trialsOf(group)
			all.trials += trialsOf(group)
			continue
		}
		all.groups = append(all.groups, group)
	}
	all.unopened = errors.Join(errs...)
	return all, nil
}

func trialsOf(tasks []task) (n int) {
	for _, t := range tasks {
		n += len(t.seeds)
	}
	return n
}

// run runs work on the opened data, then returns the other data's errors, which unopened receives first. If nothing
// can run or unopened is nil, it returns them at once.
func (o opened) run(unopened func(error) error, work func() error) error {
	switch {
	case o.unopened == nil:
		return work()
	case len(o.groups) == 0 || unopened == nil:
		return o.unopened
	}
	if err := unopened(o.unopened); err != nil {
		return err
	}
	if err := work(); err != nil {
		return err
	}
	return o.unopened
}
