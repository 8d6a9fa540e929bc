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

// Unopened is the error of a data set that cannot be opened, so that no trial on it can run.
type Unopened struct {
	Data   string
	Trials int // that are missing
	Err    error
}

// Error says how many trials cannot run, and why.
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

// opened is what openAll returns.
type opened struct {
	graphs   map[string]*datasets.Graph
	groups   [][]task // on data sets that could be opened
	trials   int      // that cannot run
	unopened error    // an [Unopened] for each data set, joined; nil: all could
}

// openAll opens each data set that tasks are on, before the first of them runs: what is missing is then known at the
// start, and not after hours.
func openAll(ctx context.Context, open Opener, groups [][]task) (opened, error) {
	all := opened{graphs: map[string]*datasets.Graph{}}
	failed := map[string]*Unopened{}
	var errs []error
	for _, group := range groups {
		data := group[0].cell.Data // a program is of one data set
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

// trialsOf counts the trials of tasks.
func trialsOf(tasks []task) (n int) {
	for _, t := range tasks {
		n += len(t.seeds)
	}
	return n
}

// run runs work on what could be opened. What could not is told to unopened first, and is the error in the end; it is
// the error at once if nothing else is left to run, or nobody is to be told.
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
