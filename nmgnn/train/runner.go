package train

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels"
)

// Runner runs trials one by one on one backend; it is not safe for concurrent use. Trials that differ only in seed,
// split, keep rate, drop rates, learning rate or stopping rule share a compiled program. A Runner identifies a graph by
// pointer and reads the graph once: do not change graphs between trials.
type Runner struct {
	// Programs limits how many compiled programs are kept, memory permitting; 0 means 1.
	Programs int

	backend  *backend.Backend
	checked  *datasets.Graph
	split    *datasets.Split
	trainer  *trainer
	program  program
	seed     uint64
	compiled []compiled // least recently used first
}

type compiled struct {
	of      program
	trainer *trainer
}

// NewRunner returns a runner. Close it after use.
func NewRunner(b *backend.Backend) *Runner { return &Runner{backend: b} }

// Trial runs and returns one trial. report (may be nil) is called after each epoch.
func (r *Runner) Trial(ctx context.Context, x Experiment, seed uint64,
	report func(epoch int, e Epoch)) (*Result, error) {
	if err := x.Check(); err != nil {
		return nil, err
	}
	if err := r.prepare(x, seed, false); err != nil {
		return nil, err
	}
	trial, err := trainBy(ctx, r.trainer, seed, report)
	if err != nil {
		return nil, err
	}
	if err := x.complete(ctx, r.trainer, trial, r.split); err != nil {
		return nil, err
	}
	if x.Setting == datasets.Inductive {
		all, reached, cached := r.trainer.view.CountRead(len(r.trainer.model.Layers))
		trial.Nodes = &NodeCounts{All: all, Reached: reached, Cached: cached}
	}
	if trial.AUC, err = r.trainer.auc(); err != nil {
		return nil, err
	}
	if x.Smoothness {
		s, err := r.trainer.Smoothness(ctx)
		if err != nil {
			return nil, err
		}
		trial.MAD = &s
	}
	return trial, nil
}

// Masked returns the nodes masked in the last epoch, ascending, numbered as in the experiment's graph. Call Masked only
// within the report function of [Runner.Trial].
func (r *Runner) Masked() []int32 {
	if r.trainer == nil || r.trainer.drawn == nil || !r.trainer.options.KeepRate.Active() {
		return nil
	}
	var masked []int32
	delta := r.trainer.drawn.Delta
	for i, v := range r.trainer.view.Train.Nodes {
		if delta[i] == 0 {
			masked = append(masked, v)
		}
	}
	return masked
}

// Predict returns the class of every node under the current weights, without masking, or -1 for nodes outside the test
// graph. Call Predict only within the report function of [Runner.Trial]; each call costs a forward pass.
func (r *Runner) Predict() ([]int32, error) {
	if r.trainer == nil {
		return nil, errors.New("no trial to predict with")
	}
	return r.trainer.predict(testGraph{})
}

// Close frees the compiled programs.
func (r *Runner) Close() { r.keep(0) }

func (r *Runner) keep(programs int) {
	for len(r.compiled) > programs {
		r.compiled[0].trainer.Close()
		if r.compiled[0].trainer == r.trainer {
			r.trainer = nil
		}
		r.compiled = r.compiled[1:]
	}
}

// Has reports whether a compiled program probably fits the experiment; split sizes are not compared.
func (r *Runner) Has(x Experiment) bool { return r.find(programOf(x, false)) >= 0 }

func (r *Runner) find(p program) int {
	return slices.IndexFunc(r.compiled, func(c compiled) bool { return c.of == p })
}

func (r *Runner) prepare(x Experiment, seed uint64, readings bool) (err error) {
	if err := r.check(x.Graph); err != nil {
		return err
	}
	room := x.Splits() || readings
	x.Resplit, x.SplitSeed, x.Arrivals = false, x.splitSeed(seed), cmp.Or(x.Arrivals, datasets.AllEdges)
	of, split, views := programOf(x, readings), r.split, []*datasets.View(nil)
	if r.trainer != nil && r.program == of && r.seed == x.SplitSeed {
		views = r.trainer.views()
	} else if split, err = x.Split(x.SplitSeed); err != nil {
		return err
	} else if views, err = viewsOf(x, split, readings); err != nil {
		return err
	}
	o := optionsOf(x.Parameters)
	o.Also, o.Room = views[1:], room
	if x.Own != nil { // a custom model's drop rates cannot be replaced
		o.Rates = nil
	}
	if err := r.turnTo(x, of, views[0], o); err != nil {
		return err
	}
	r.program, r.split, r.seed = of, split, x.SplitSeed
	return nil
}

func viewsOf(x Experiment, split *datasets.Split, readings bool) (views []*datasets.View, err error) {
	ways := []datasets.Arrivals{x.Arrivals}
	if readings && x.Setting == datasets.Inductive {
		ways = datasets.AllArrivals()
	}
	views = make([]*datasets.View, len(ways))
	for i, way := range ways {
		if views[i], err = datasets.NewView(x.Graph, split, x.Setting, way); err != nil {
			return nil, err
		}
	}
	return views, nil
}

func (r *Runner) check(g *datasets.Graph) error {
	if err := gomlx.CheckOpen(r.backend); err != nil || g == r.checked {
		return err
	}
	if err := g.Check(); err != nil {
		return err
	}
	r.checked = g
	return nil
}

func (r *Runner) turnTo(x Experiment, of program, view *datasets.View, o options) error {
	if i := r.find(of); i >= 0 {
		c := r.compiled[i]
		r.compiled = slices.Delete(r.compiled, i, i+1)
		err := c.trainer.switchTo(view, o)
		if err == nil {
			r.trainer, r.compiled = c.trainer, append(r.compiled, c)
			return nil
		}
		c.trainer.Close()
		if c.trainer == r.trainer {
			r.trainer = nil
		}
		if !errors.Is(err, kernels.ErrNoFit) {
			return err
		}
	}
	r.keep(max(r.Programs, 1) - 1)
	err := x.checkMemory(r.backend, 1)
	if err != nil && len(r.compiled) > 0 {
		r.Close()
		err = x.checkMemory(r.backend, 1)
	}
	if err != nil {
		return err
	}
	trainer, err := newTrainer(r.backend, x.model(), x.Graph, view, o)
	if err == nil {
		r.trainer, r.compiled = trainer, append(r.compiled, compiled{of, trainer})
	}
	return err
}

// Experiments with equal values of type program share a compiled program.
type program struct {
	Experiment
	readings, masks       bool
	drops, attention, own bool
}

// programOf returns settings of x that cannot change without recompiling (see [trainer.switchTo]).
func programOf(x Experiment, readings bool) program {
	p := x.Parameters
	of := program{readings: readings, masks: p.KeepRate.Active(), drops: p.Dropout > 0,
		attention: p.AttentionDropout > 0, own: p.RegulariserRate > 0}
	p.Preset, p.KeepRate, p.MaskOver, p.LearningRate, p.WeightDecay = "", 0, "", 0, 0
	p.Dropout, p.AttentionDropout, p.RegulariserRate = 0, 0, 0
	p.NormalizeFeatures, p.MaxEpochs, p.Patience, p.StopOn = false, 0, 0, ""
	if readings {
		x.Arrivals = ""
	}
	of.Experiment = Experiment{Graph: x.Graph, Parameters: p, Own: x.Own, Setting: x.Setting, Arrivals: x.Arrivals,
		TrainPercent: x.TrainPercent, OwnSplit: x.OwnSplit, ValidationPercent: x.ValidationPercent}
	return of
}
