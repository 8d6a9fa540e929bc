package train

import (
	"fmt"

	"nodemask/nmgnn/infer"
	"nodemask/stats"
)

// Epoch holds the training loss (with mask and dropout, before the update) and validation scores (without, after it).
type Epoch struct {
	TrainLoss, ValidationLoss, ValidationF1, ValidationAccuracy float64
}

// Trial is one training run.
type Trial struct {
	Seed        uint64
	History     []Epoch
	BestEpoch   int           // counted from 1; its weights were restored
	Seconds     float64       // training and evaluation, without compiling
	Validation  stats.Metrics // at the best epoch, in the validation graph
	Test        stats.Metrics // in the test graph
	Predictions []int32       // class of every node of the whole graph; -1 outside the test graph
	Weights     []infer.Weight
}

// String returns a line like "Trial(seed 1: macro F1 81.2 % on test nodes, best epoch 43 of 93)".
func (t *Trial) String() string {
	return fmt.Sprintf("Trial(seed %d: macro F1 %.1f %% on test nodes, best epoch %d of %d)", t.Seed, 100*t.Test.MacroF1,
		t.BestEpoch, len(t.History))
}

// Facts returns the results as pairs of name and value.
func (t *Trial) Facts() [][2]string {
	percent := func(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }
	return [][2]string{{"macro F1 on test nodes", percent(t.Test.MacroF1)}, {"accuracy", percent(t.Test.Accuracy)},
		{"macro F1 on validation nodes", percent(t.Validation.MacroF1)},
		{"best epoch", fmt.Sprintf("%d of %d", t.BestEpoch, len(t.History))},
		{"seconds", fmt.Sprintf("%.1f", t.Seconds)}}
}
