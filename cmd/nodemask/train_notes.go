package main

import (
	"fmt"
	"strings"

	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
)

// collapsed names the trials that learnt nothing, and what to try; "" if there is none.
func collapsed(x train.Experiment, results []*train.Result) string {
	var seeds, try []string
	best, constant := 0.0, 0.0
	for _, r := range results {
		if r.Validation.Collapsed() {
			seeds = append(seeds, fmt.Sprint(r.Seed))
			constant, _ = r.Validation.Constant()
			best = max(best, r.Validation.MacroF1)
		}
	}
	if len(seeds) == 0 {
		return ""
	}
	p := x.Parameters
	if hyper.TraitsOf(p.Model).MLP && p.Norm == "" {
		try = append(try, "--norm both")
	}
	if p.NormalizeFeatures {
		try = append(try, "--raw-features")
	} else {
		try = append(try, "features that are divided by their sums (without --raw-features)")
	}
	try = append(try, fmt.Sprintf("a --learning-rate below %v", p.LearningRate))
	return fmt.Sprintf("%s collapsed: macro F1 on validation is at most %.1f %%, and one class for every node has %.1f %%: "+
		"try %s", seedsInWords(seeds), 100*best, 100*constant, strings.Join(try, ", or "))
}

// lateGain is by how much validation macro F1 has to rise after the epoch that early stopping keeps for a trial to be
// named: more than scores on the 27 validation nodes of Cora's largest train set wobble.
const lateGain = 0.1

// stoppedEarly names the trials whose validation macro F1 was far better in a later epoch than in the one that early
// stopping kept, as where the loss is lowest before the model predicts well; "" if there is none.
func stoppedEarly(x train.Experiment, results []*train.Result) string {
	if x.Parameters.StopOn == hyper.StopOnF1 {
		return ""
	}
	var seeds, epochs []string
	kept, later := 0.0, 0.0 // the best of each
	for _, r := range results {
		best := 0.0
		for _, epoch := range r.History[min(r.BestEpoch, len(r.History)):] {
			best = max(best, epoch.ValidationF1)
		}
		if best >= r.Validation.MacroF1+lateGain {
			seeds, epochs = append(seeds, fmt.Sprint(r.Seed)), append(epochs, fmt.Sprint(r.BestEpoch))
			kept, later = max(kept, r.Validation.MacroF1), max(later, best)
		}
	}
	if len(seeds) == 0 {
		return ""
	}
	which := "epoch"
	if len(epochs) > 1 {
		which = "epochs"
	}
	return fmt.Sprintf("%s kept %s %s, with a macro F1 on validation of at most %.1f %%, which later came to %.1f %%: "+
		"try --stop-on f1", seedsInWords(seeds), which, strings.Join(epochs, ", "), 100*kept, 100*later)
}

func seedsInWords(seeds []string) string {
	if len(seeds) == 1 {
		return "seed " + seeds[0]
	}
	return "seeds " + strings.Join(seeds, ", ")
}
