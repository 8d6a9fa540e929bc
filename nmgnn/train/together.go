package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nodemask/internal/ended"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/learn"
	"nodemask/nmgnn/internal/variables"
)

// TrainTogether runs a trial for each of [Options].Together seeds, side by side in one program: each trial has weights,
// masks and dropout of its own, those that [Trainer.Train] would give it, and stops by itself; epochs go on until the
// last one has stopped. Last digits may differ from those of the trial alone, as sums may be in another order. report,
// if not nil, is called after each epoch of each trial, by its place in seeds.
func (t *Trainer) TrainTogether(ctx context.Context, seeds []uint64,
	report func(trial, epoch int, e Epoch)) (trials []*Trial, err error) {
	defer gomlx.Guard(&err, "training")
	if len(seeds) != t.options.Together || len(seeds) < 2 {
		return nil, fmt.Errorf("%d trials on a trainer of %d together: expected as many, and more than one", len(seeds),
			t.options.Together)
	}
	begin := time.Now()
	t.trained = true
	if err := t.start.Reset(t.store, t.options.LearningRate, seeds...); err != nil {
		return nil, err
	}
	draws, all := make([]*learn.Draws, len(seeds)), make([]*followed, len(seeds))
	for i, seed := range seeds {
		draws[i] = learn.NewDraws(seed, t.trainNodes())
		all[i] = newFollowed(&Trial{Seed: seed}, t.options, []ending{{On: t.options.StopOn}})
	}
	for slices.ContainsFunc(all, (*followed).goesOn) {
		if err := ended.Err(ctx); err != nil {
			return nil, err
		}
		if err := t.epochTogether(draws, all, report); err != nil {
			return nil, err
		}
	}
	for i, f := range all {
		stopped, err := f.end()
		if err == nil {
			err = f.trial.endedBy(stopped[0], t.options)
		}
		if err != nil {
			return nil, fmt.Errorf("seed %d: %w", seeds[i], err)
		}
		trials = append(trials, f.trial)
	}
	if err := variables.SetWeights(t.store, together(trials)); err != nil {
		return nil, err
	}
	classes, err := t.Predict()
	if err != nil {
		return nil, err
	}
	n := len(classes) / len(seeds)
	for i, trial := range trials {
		trial.Predictions = learn.OnGraph(t.graph, t.view.Test, classes[i*n:(i+1)*n])
		if trial.Test, err = (whole{t}).Score(trial.Predictions); err != nil {
			return nil, err
		}
		trial.Seconds = time.Since(begin).Seconds() / float64(len(trials))
	}
	return trials, nil
}

// notTogether says what keeps a layer of one's own from being compiled for several trials.
func (t *Trainer) notTogether(err error) error {
	if t.options.Together == 1 {
		return err
	}
	return fmt.Errorf("%d trials together: %w: expected layers that make all weights by nmgnn.Weights and its siblings, and "+
		"use them in Input.Times alone, or trials one by one", t.options.Together, err)
}

// epochTogether trains all trials for an epoch, and takes what those measured that go on.
func (t *Trainer) epochTogether(draws []*learn.Draws, all []*followed, report func(trial, epoch int, e Epoch)) error {
	outputs, err := t.step(t.epoch, draws...)
	if err != nil {
		return err
	}
	measured, err := t.measured(outputs)
	if err != nil {
		return err
	}
	var weights []infer.Weight // of all trials, if one keeps its own
	for i, f := range all {
		if !f.goesOn() {
			continue
		}
		if err := f.take(measured[i].epochs, measured[i].metrics, func() (_ []infer.Weight, err error) {
			if weights == nil {
				if weights, err = variables.WeightsOf(t.store); err != nil {
					return nil, err
				}
			}
			return ofTrial(weights, i, len(all)), nil
		}); err != nil {
			return err
		}
		if report != nil {
			report(i, len(f.trial.History), measured[i].epochs[0])
		}
	}
	return nil
}

// together puts the weights of several trials side by side, as [variables.SetTrials] has them.
func together(trials []*Trial) (all []infer.Weight) {
	for k, w := range trials[0].Weights {
		w.Dimensions, w.Values = append([]int{len(trials)}, w.Dimensions...), nil
		for _, trial := range trials {
			w.Values = append(w.Values, trial.Weights[k].Values...)
		}
		all = append(all, w)
	}
	return all
}

// ofTrial copies the weights of one of several trials side by side.
func ofTrial(all []infer.Weight, trial, trials int) (weights []infer.Weight) {
	for _, w := range all {
		n := len(w.Values) / trials
		w.Dimensions, w.Values = w.Dimensions[1:], slices.Clone(w.Values[trial*n:(trial+1)*n])
		weights = append(weights, w)
	}
	return weights
}

// runTogether is [Experiment.Run] for [RunOptions].Together. Where too few seeds are left, the last is trained again.
func (x Experiment) runTogether(ctx context.Context, b *backend.Backend, seeds []uint64,
	o RunOptions) ([]*Result, error) {
	if x.Resplit || x.Smoothness || x.CacheInference || x.Keep {
		return nil, errors.New("trials together share a split and are only tested: expected an experiment without Resplit, " +
			"Smoothness, CacheInference and Keep, or trials one by one")
	}
	results, side := make([]*Result, len(seeds)), min(o.Together, len(seeds))
	ended := x.ended(results, o)
	r := &Runner{backend: b, checked: x.Graph}
	defer r.Close()
	if err := r.prepare(x, seeds[0], false, side); err != nil {
		return results, err
	}
	for first := 0; first < len(seeds); first += side {
		some := slices.Clone(seeds[first:min(first+side, len(seeds))])
		left := len(some)
		for len(some) < side {
			some = append(some, some[left-1])
		}
		trials, err := r.trainer.TrainTogether(ctx, some, func(i, epoch int, e Epoch) {
			if o.Progress != nil && i < left {
				o.Progress(Progress{Trial: first + i, Seed: some[i], Epoch: epoch, Last: e})
			}
		})
		if err != nil {
			return results, err
		}
		for i, trial := range trials[:left] {
			result, err := r.resultOf(ctx, x, trial)
			if err != nil {
				return results, err
			}
			ended(first+i, result)
		}
	}
	return results, nil
}
