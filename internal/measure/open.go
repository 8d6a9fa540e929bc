package measure

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"nodemask/datasets"
)

// Opener opens a data set by its name.
type Opener = func(ctx context.Context, data string) (*datasets.Graph, error)

// Unopened is a data set that cannot be opened, so that no trial on it can run.
type Unopened struct {
	Data   string
	Trials int // that are missing
	Err    error
}

// UnopenedError says which data sets cannot be opened. Its parts are the errors of opening them.
type UnopenedError struct{ Data []Unopened }

// Error says for each data set how many trials cannot run, and why.
func (e *UnopenedError) Error() string {
	texts := make([]string, len(e.Data))
	for i, u := range e.Data {
		trials := "trials"
		if u.Trials == 1 {
			trials = "trial"
		}
		texts[i] = fmt.Sprintf("cannot run %d %s on %s: %s", u.Trials, trials, u.Data,
			strings.TrimPrefix(u.Err.Error(), u.Data+": "))
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns the errors of opening, for errors.Is and errors.As.
func (e *UnopenedError) Unwrap() []error {
	errs := make([]error, len(e.Data))
	for i, u := range e.Data {
		errs[i] = u.Err
	}
	return errs
}

// trials is how many trials cannot run.
func (e *UnopenedError) trials() (n int) {
	if e != nil {
		for _, u := range e.Data {
			n += u.Trials
		}
	}
	return n
}

// opened is what openAll returns.
type opened struct {
	graphs   map[string]*datasets.Graph
	groups   [][]task       // on data sets that could be opened
	unopened *UnopenedError // nil: all could
}

// openAll opens each data set that tasks are on, before the first of them runs: what is missing is then known at the
// start, and not after hours.
func openAll(ctx context.Context, open Opener, groups [][]task) (opened, error) {
	all := opened{graphs: map[string]*datasets.Graph{}}
	var failed []Unopened
	for _, group := range groups {
		data := group[0].cell.Data // a program is of one data set
		if at := slices.IndexFunc(failed, func(u Unopened) bool { return u.Data == data }); at >= 0 {
			failed[at].Trials += trialsOf(group)
			continue
		}
		if all.graphs[data] == nil {
			g, err := open(ctx, data)
			if ctx.Err() != nil {
				return opened{}, ctx.Err()
			}
			if err != nil {
				failed = append(failed, Unopened{data, trialsOf(group), err})
				continue
			}
			all.graphs[data] = g
		}
		all.groups = append(all.groups, group)
	}
	if len(failed) > 0 {
		all.unopened = &UnopenedError{failed}
	}
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
func (o opened) run(unopened func(*UnopenedError) error, work func() error) error {
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
