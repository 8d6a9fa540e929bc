package train

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
)

// Runner runs trials one after the other on one backend. It keeps the program it compiled last for as long as trials
// can share it ([Trainer.Switch]): trials of one experiment, with splits of their own too, and of experiments that mask
// at other rates, learn at another rate or stop otherwise. Only one goroutine may use it at a time.
type Runner struct {
	backend *backend.Backend
	program Experiment // what the trainer trained last
	split   *datasets.Split
	trainer *Trainer
	// readings says that the trainer validates and tests with all kinds of arrivals.
	readings bool
}

// NewRunner returns a runner. Close it after use.
func NewRunner(b *backend.Backend) *Runner { return &Runner{backend: b} }

// inParallel calls work once for each of a number of jobs (0: 1), all at the same time, each with a runner of its own,
// and returns the first error, which cancels the others' context. On a CPU, XLA's jobs keep to one core each: threads
// that they share would wait for one another.
func inParallel(ctx context.Context, b *backend.Backend, jobs int, work func(ctx context.Context,
	r *Runner) error) error {
	if jobs < 2 {
		r := NewRunner(b)
		defer r.Close()
		return work(ctx, r)
	}
	return Pinned(ctx, b, jobs, work)
}

// Pinned does what [inParallel] does, but keeps a single job to one core as well. XLA divides some sums by the cores
// that it has, and so rounds them differently (seen for GAT, in the seventh digit): pinned, a trial has the same
// numbers to the last digit whatever the number of jobs.
func Pinned(ctx context.Context, b *backend.Backend, jobs int, work func(ctx context.Context, r *Runner) error) error {
	jobs = max(jobs, 1)
	open, err := b.ForJobs()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for job := range jobs {
		group.Go(func() error {
			own, err := open(job)
			if err != nil {
				return err
			}
			if own != b {
				defer own.Finalize()
			}
			r := NewRunner(own)
			defer r.Close()
			return work(ctx, r)
		})
	}
	return group.Wait()
}

// Trial runs the trial of a seed. report, if not nil, is called after each epoch.
func (r *Runner) Trial(ctx context.Context, x Experiment, seed uint64,
	report func(epoch int, e Epoch)) (*Result, error) {
	if err := x.Check(); err != nil {
		return nil, err
	}
	if err := r.prepare(x, seed, false); err != nil {
		return nil, err
	}
	trial, err := r.trainer.Train(ctx, seed, report)
	if err != nil {
		return nil, err
	}
	result := &Result{Trial: trial, SplitSeed: r.split.Seed, SplitHash: r.split.Hash()}
	if err := x.measure(ctx, r.trainer, result); err != nil {
		return nil, err
	}
	return result, nil
}

// Masked returns the nodes that the last epoch masked, as numbers of the experiment's graph, in the order of the train
// graph. It is for the report function of [Runner.Trial].
func (r *Runner) Masked() []int32 {
	if r.trainer == nil || r.trainer.drawn == nil || !r.trainer.options.Mask.KeepRate.Active() {
		return nil
	}
	var masked []int32
	for i, v := range r.trainer.view.Train.Nodes {
		if r.trainer.drawn.Delta[i] == 0 {
			masked = append(masked, v)
		}
	}
	return masked
}

// Predict returns the class of every node of the experiment's graph by the weights so far, without masking; -1 for
// nodes that are not in the test graph. It is for the report function of [Runner.Trial], and costs a pass over the test
// graph.
func (r *Runner) Predict() ([]int32, error) {
	if r.trainer == nil {
		return nil, errors.New("no trial to predict with")
	}
	classes, err := r.trainer.Predict()
	if err != nil {
		return nil, err
	}
	all := slices.Repeat([]int32{-1}, r.program.Graph.NumNodes())
	for i, v := range r.trainer.view.Test.Nodes {
		all[v] = classes[i]
	}
	return all, nil
}

// Close frees the program.
func (r *Runner) Close() {
	if r.trainer != nil {
		r.trainer.Close()
		r.trainer = nil
	}
}

// prepare makes the trainer for a trial, unless the last one will do. With readings, it validates and tests with all
// kinds of arrivals.
func (r *Runner) prepare(x Experiment, seed uint64, readings bool) error {
	room := x.Resplit || readings
	x.Resplit, x.SplitSeed = false, x.splitSeed(seed)
	if x.Arrivals == "" {
		x.Arrivals = datasets.AllEdges
	}
	split, views, err := r.divide(x, readings)
	if err != nil {
		return err
	}
	o := OptionsOf(x.Parameters, views[0])
	o.Also, o.Room = views[1:], room
	if err := r.turnTo(x, views[0], o, readings); err != nil {
		return err
	}
	r.program, r.split, r.readings = x, split, readings
	return nil
}

// divide returns the split and the views that an experiment trains on: those of the last trial, if they are the same.
func (r *Runner) divide(x Experiment, readings bool) (split *datasets.Split, views []*datasets.View, err error) {
	was := r.program
	same := r.trainer != nil && was.Graph == x.Graph && was.TrainPercent == x.TrainPercent &&
		was.SplitSeed == x.SplitSeed &&
		was.OwnSplit == x.OwnSplit && was.ValidationPercent == x.ValidationPercent
	if split = r.split; !same {
		if split, err = x.Split(x.SplitSeed); err != nil {
			return nil, nil, err
		}
	}
	if same && was.Setting == x.Setting && was.Arrivals == x.Arrivals && r.readings == readings {
		return split, r.trainer.views(), nil
	}
	if readings {
		views, err = readingViews(x.Graph, split, x.Setting)
		return split, views, err
	}
	view, err := datasets.NewView(x.Graph, split, x.Setting, x.Arrivals)
	return split, []*datasets.View{view}, err
}

// turnTo makes the trainer for a view: the last one switches to it, if it can.
func (r *Runner) turnTo(x Experiment, view *datasets.View, o Options, readings bool) error {
	if r.trainer != nil && r.readings == readings && sameModel(r.program, x) {
		err := r.trainer.Switch(view, o)
		if err == nil {
			return nil
		}
		if !errors.Is(err, errOtherProgram) {
			r.Close()
			return err
		}
	}
	r.Close()
	if err := x.checkMemory(r.backend, 1); err != nil {
		return err
	}
	trainer, err := New(r.backend, nmgnn.Build(x.Parameters, x.Graph.NumClasses()), x.Graph, view, o)
	if err == nil {
		r.trainer = trainer
	}
	return err
}

// sameModel says whether two experiments train the same model on the same graph, whatever the split and the rest that
// [Trainer.Switch] can change.
func sameModel(a, b Experiment) bool {
	for _, x := range []*Experiment{&a, &b} {
		*x = Experiment{Graph: x.Graph, Parameters: x.Parameters}
		p := &x.Parameters
		p.Preset, p.KeepRate, p.MaskOver, p.Rescale, p.LearningRate, p.WeightDecay = "", 0, "", false, 0, 0
		p.NormalizeFeatures, p.MaxEpochs, p.Patience, p.StopOn = false, 0, 0, ""
	}
	return a == b
}
