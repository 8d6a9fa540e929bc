package record

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

func check(r Record) error {
	if err := cmp.Or(r.Setting.Check(), r.Arrivals.Check(), r.Parameters.CheckRecorded()); err != nil {
		return err
	}
	if r.TrainPercent < 1 || r.TrainPercent > 99 {
		return fmt.Errorf("%d%% to train on: expected 1 to 99", r.TrainPercent)
	}
	if r.ValidationPercent < 0 || r.ValidationPercent > 99 {
		return fmt.Errorf("%d%% of the rest to validate with: expected 1 to 99", r.ValidationPercent)
	}
	if r.SplitHash == "" || r.Seed == 0 {
		return fmt.Errorf("split %q and seed %d: expected both", r.SplitHash, r.Seed)
	}
	if !slices.Contains(Backends(), r.Backend) {
		return fmt.Errorf("backend %.40q: expected one of %q", r.Backend, Backends())
	}
	if r.Digits != "" && r.Digits != "avx2" {
		return fmt.Errorf("digits %.40q: expected avx2, or none", r.Digits)
	}
	if r.Readings != nil {
		return checkReadings(r)
	}
	if err := checkScores(&r.MacroF1, &r.MicroF1, &r.Accuracy, r.AUC, r.MacroF1Together, r.MacroF1Apart,
		&r.ValidationF1); err != nil {
		return err
	}
	if r.Loss < 0 {
		return fmt.Errorf("validation loss %v: expected at least 0", r.Loss)
	}
	if n := min(r.Nodes, r.NodesReached, r.NodesCached); n < 0 {
		return fmt.Errorf("%d nodes: expected at least 0", n)
	}
	if m := r.MAD; m != nil && (min(m.Hidden, m.Logits, m.Softmax) < 0 || max(m.Hidden, m.Logits, m.Softmax) > 2) {
		return fmt.Errorf("MAD %v: expected means of cosine distances, 0 to 2", *m)
	}
	for _, losses := range [][]float64{r.TrainLosses, r.ValidationLosses} {
		if losses != nil && len(losses) != r.Epochs {
			return fmt.Errorf("%d losses of %d epochs: expected one each", len(losses), r.Epochs)
		}
	}
	if _, err := time.Parse(time.RFC3339, r.Date); r.Date != "" && err != nil {
		return fmt.Errorf("date %.40q: expected one like 2026-11-21T10:00:00Z", r.Date)
	}
	return checkTimes(r.BestEpoch, r)
}

func checkScores(scores ...*float64) error {
	for _, score := range scores {
		if score != nil && !(*score >= 0 && *score <= 100) {
			return fmt.Errorf("a score of %v: expected 0 to 100 percent", *score)
		}
	}
	return nil
}

func checkTimes(best int, r Record) error {
	switch {
	case r.Epochs < 0 || r.Epochs > r.MaxEpochs:
		return fmt.Errorf("%d epochs: expected at most %d", r.Epochs, r.MaxEpochs)
	case best < 0 || best > r.Epochs:
		return fmt.Errorf("best epoch %d of %d: expected 1 to %[2]d", best, r.Epochs)
	case r.Seconds < 0:
		return fmt.Errorf("%v seconds: expected at least 0", r.Seconds)
	}
	return nil
}
