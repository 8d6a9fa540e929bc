package train

import (
	"nodemask/nmgnn/infer"
	"nodemask/stats"
)

// Epoch holds what was measured in one epoch: the loss that was trained on (with mask and dropout, before the update),
// and the validation scores after it (without them).
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
	Predictions []int32       // class of every node of the whole graph; -1 of those that are not in the test graph
	Weights     []infer.Weight
}
