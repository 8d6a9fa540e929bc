package measure

import (
	"context"
	"math"
	"slices"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/record"
)

// trajectoryOf runs a trial of a cell and describes all its readings.
func trajectoryOf(ctx context.Context, r *train.Runner, b *backend.Backend, c record.Cell, g *datasets.Graph,
	seed uint64) (record.Trajectory, error) {
	ran, err := r.Readings(ctx, Experiment(c, g), seed)
	if err != nil {
		return record.Trajectory{}, err
	}
	t := record.Trajectory{Data: c.Data, Model: c.Parameters.Model, Setting: c.Setting, TrainPercent: c.TrainPercent,
		Choices: c.TrainedChoices(),
		Seed:    seed, Split: ran.SplitHash, Epochs: ran.Epochs, Seconds: math.Round(ran.Seconds*1000) / 1000, Backend: b.ID,
		Version: record.Version()}
	for range hyper.StopOns() {
		for _, list := range []*[][]float64{&t.F1, &t.Cached, &t.ValidationF1} {
			*list = append(*list, nil)
		}
		t.BestEpochs = append(t.BestEpochs, nil)
	}
	percent := func(x float64) float64 { return math.Round(1e5*x) / 1e3 }
	for _, reading := range ran.Readings {
		i := slices.Index(hyper.StopOns(), reading.StopOn)
		if reading.Cached {
			t.Cached[i] = append(t.Cached[i], percent(reading.Test.MacroF1))
			continue
		}
		t.F1[i] = append(t.F1[i], percent(reading.Test.MacroF1))
		t.ValidationF1[i] = append(t.ValidationF1[i], percent(reading.Validation.MacroF1))
		t.BestEpochs[i] = append(t.BestEpochs[i], reading.BestEpoch)
	}
	if c.Setting != datasets.Inductive {
		t.Cached = nil
	}
	return t, nil
}
