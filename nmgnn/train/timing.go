package train

import (
	"context"
	"time"

	"github.com/gomlx/gomlx/core/tensors"

	"nodemask/internal/ended"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/learn"
)

// timeEpochs returns the wall time of each epoch, from drawing the mask until the loss is known, for benchmarks. It
// continues from the current weights (seed 1 in a new trainer), and neither stops early nor keeps weights.
func (t *trainer) timeEpochs(ctx context.Context, epochs int, validate bool) (laps []time.Duration, err error) {
	defer gomlx.Guard(&err, "training")
	if t.timing == nil {
		if err := t.start.Reset(t.store, t.options.LearningRate, 1); err != nil {
			return nil, err
		}
		t.timing, t.trained = learn.NewDraws(1, t.trainNodes()), true
	}
	program := t.epoch
	if !validate {
		if t.trainOnly == nil {
			if t.trainOnly, err = t.compileStep(false); err != nil {
				return nil, err
			}
		}
		program = t.trainOnly
	}
	for range epochs {
		if err := ended.Err(ctx); err != nil {
			return laps, err
		}
		begin := time.Now()
		outputs, err := t.step(program, t.timing)
		if err != nil {
			return laps, err
		}
		tensors.ToScalar[float32](outputs[0])
		laps = append(laps, time.Since(begin))
		gomlx.Finalize(outputs)
	}
	return laps, nil
}
