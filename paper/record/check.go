package record

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// recordedCell also checks that the fields match the key.
func recordedCell(r Record) (Cell, error) {
	c := r.CellOf()
	if key := c.Key(); r.Cell != key {
		return c, fmt.Errorf("a record of cell %q with the parameters of %q", r.Cell, key)
	}
	if err := r.Setting.Check(); err != nil {
		return c, fmt.Errorf("not a record: %w", err)
	}
	if err := r.Arrivals.Check(); err != nil {
		return c, fmt.Errorf("not a record: %w", err)
	}
	if r.TrainPercent < 1 || r.TrainPercent > 99 {
		return c, fmt.Errorf("a record with %d%% to train on: expected 1 to 99", r.TrainPercent)
	}
	if r.ValidationPercent < 0 || r.ValidationPercent > 99 {
		return c, fmt.Errorf("a record with %d%% of the rest to validate with: expected 1 to 99", r.ValidationPercent)
	}
	if err := r.Parameters.CheckRecorded(); err != nil {
		return c, fmt.Errorf("a record with invalid parameters: %w", err)
	}
	return c, nil
}

func check(r Record, c Cell) error {
	if r.Readings != nil {
		return checkReadings(r, c)
	}
	for _, score := range []*float64{&r.MacroF1, &r.MicroF1, &r.Accuracy, r.AUC, r.MacroF1Together, r.MacroF1Apart} {
		if score != nil && !(*score >= 0 && *score <= 100) {
			return fmt.Errorf("a score of %v: expected 0 to 100 percent", *score)
		}
	}
	if r.SplitHash == "" || r.Seed == 0 {
		return errors.New("a record without split or seed")
	}
	if err := checkRun(r); err != nil {
		return fmt.Errorf("a record with %w", err)
	}
	if !slices.Contains(Backends(), r.Backend) {
		return fmt.Errorf("a record of backend %.40q: expected one of %s", r.Backend, strings.Join(Backends(), ", "))
	}
	return nil
}

func checkRun(r Record) error {
	if r.ValidationF1 < 0 || r.ValidationF1 > 100 {
		return fmt.Errorf("validation macro F1 %v: expected 0 to 100 percent", r.ValidationF1)
	}
	if r.Loss < 0 {
		return fmt.Errorf("validation loss %v: expected at least 0", r.Loss)
	}
	for _, n := range []int{r.Nodes, r.NodesReached, r.NodesCached} {
		if n < 0 {
			return fmt.Errorf("%d nodes: expected at least 0", n)
		}
	}
	if m := r.MAD; m != nil {
		for _, mad := range []float64{m.Hidden, m.Logits, m.Softmax} {
			if mad < 0 || mad > 2 {
				return fmt.Errorf("MAD %v: expected a mean of cosine distances, 0 to 2", mad)
			}
		}
	}
	if err := checkDigits(r); err != nil {
		return err
	}
	for _, losses := range [][]float64{r.TrainLosses, r.ValidationLosses} {
		if losses != nil && len(losses) != r.Epochs {
			return fmt.Errorf("%d losses of %d epochs: expected one each", len(losses), r.Epochs)
		}
	}
	if _, err := time.Parse(time.RFC3339, r.Date); r.Date != "" && err != nil {
		return fmt.Errorf("date %.40q: expected one like 2026-11-21T10:00:00Z", r.Date)
	}
	return checkTimes(r.BestEpoch, r.Epochs, r.MaxEpochs, r.Seconds)
}

func checkDigits(r Record) error {
	if r.Digits != "" && r.Digits != "avx2" {
		return fmt.Errorf("digits %.40q: expected avx2, or none", r.Digits)
	}
	return nil
}

// checkTimes accepts zeros, which mean not recorded.
func checkTimes(best, epochs, most int, seconds float64) error {
	switch {
	case epochs < 0 || epochs > most:
		return fmt.Errorf("%d epochs: expected at most %d", epochs, most)
	case best < 0 || best > epochs:
		return fmt.Errorf("best epoch %d of %d: expected 1 to %[2]d", best, epochs)
	case seconds < 0:
		return fmt.Errorf("%v seconds: expected at least 0", seconds)
	}
	return nil
}
