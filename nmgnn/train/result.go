package train

import (
	"fmt"

	"nodemask/datasets"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/stats"
)

// Epoch holds the training loss (masked and dropped, before the update) and validation scores (neither, after it).
type Epoch struct {
	TrainLoss, ValidationLoss, ValidationF1, ValidationAccuracy float64
}

// Result is one trial, its split and measurements.
type Result struct {
	Seed        uint64
	History     []Epoch
	BestEpoch   int           // counted from 1; its weights were restored
	Seconds     float64       // of training and evaluation, without compiling
	Validation  stats.Metrics // at the best epoch, in the validation graph
	Test        stats.Metrics // in the test graph
	AUC         *float64      // of the test nodes by ROC; nil: not two classes, or in batches
	Predictions []int32       // class of every node of the whole graph; -1 outside the test graph
	Weights     []infer.Weight

	SplitSeed uint64
	SplitHash string
	Split     *datasets.Split   // freed with the weights
	StopOn    hyper.StopOn      // score that chose the best epoch
	Arrivals  datasets.Arrivals // how new nodes joined; "" in the transductive setting
	Nodes     *NodeCounts       // in the inductive setting; nil for trials in batches
	MAD       *stats.Smoothness // with Smoothness
	Cached    *stats.Metrics    // test metrics from the cache, with CacheInference
	Apart     *stats.Metrics    // likewise, as if each arrived alone
	Cache     *cached.Cache     // with Keep
}

// NodeCounts counts the distinct nodes read to predict the test nodes.
type NodeCounts struct {
	// All counts the test graph's nodes: the paper's count without caching.
	All int
	// Reached counts test nodes and those within as many hops as layers, which is all that is read without a cache.
	Reached int
	// Cached counts nodes outside the train graph, validation nodes included, and their train neighbours.
	Cached int
}

// Saved returns the trained model of a result of x. Saving it needs weights (see [RunOptions].KeepBest) and one run per
// prediction ([hyper.Parameters.CheckOneRun]).
func (r *Result) Saved(x Experiment) *cached.Model {
	m := &cached.Model{Settings: x.Parameters, Own: x.Own, Classes: x.Graph.Classes, Features: x.Graph.Features.Width,
		FeatureNames: x.Graph.FeatureNames, Data: x.Graph.Name, Seed: r.Seed, Weights: r.Weights}
	if x.Own != nil {
		m.Settings.Model = ""
	}
	return m
}

// String returns a line like "Trial(seed 1: macro F1 81.2 % on test nodes, best epoch 43 of 93)".
func (r *Result) String() string {
	return fmt.Sprintf("Trial(seed %d: macro F1 %.1f %% on test nodes, best epoch %d of %d)", r.Seed, 100*r.Test.MacroF1,
		r.BestEpoch, len(r.History))
}

// Facts returns the results as pairs of name and value.
func (r *Result) Facts() [][2]string {
	percent := func(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }
	return [][2]string{{"macro F1 on test nodes", percent(r.Test.MacroF1)}, {"accuracy", percent(r.Test.Accuracy)},
		{"macro F1 on validation nodes", percent(r.Validation.MacroF1)},
		{"best epoch", fmt.Sprintf("%d of %d", r.BestEpoch, len(r.History))},
		{"seconds", fmt.Sprintf("%.1f", r.Seconds)}}
}
