package record

import (
	"fmt"
	"maps"
	"slices"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/stats"
)

// Record is the result of one trial, with all that a rerun needs. F1 and accuracy are in percent.
type Record struct {
	Cell              string            `json:"cell,omitempty"` // [Cell.Key]; in stored results only
	Data              string            `json:"data"`
	Source            string            `json:"source"`
	Setting           datasets.Setting  `json:"setting"`
	TrainPercent      int               `json:"train_percent"`
	Arrivals          datasets.Arrivals `json:"arrivals,omitempty"`
	Resplit           bool              `json:"resplit,omitempty"`
	OwnSplit          bool              `json:"own_split,omitempty"`
	ValidationPercent int               `json:"validation_percent,omitempty"`
	hyper.Parameters
	Seed      uint64   `json:"seed"`
	SplitSeed uint64   `json:"split_seed"`
	SplitHash string   `json:"split_hash"`
	MacroF1   float64  `json:"macro_f1"`
	MicroF1   float64  `json:"micro_f1"`
	Accuracy  float64  `json:"accuracy"`
	AUC       *float64 `json:"auc,omitempty"` // with two classes, in percent
	// MAD is the mean average distance over all nodes of the test graph, for each of a model's representations.
	MAD *stats.Smoothness `json:"mad,omitempty"`
	// Numbers of nodes read to predict test nodes (inductive setting). Nodes counts the whole graph, as in the paper.
	// NodesReached counts nodes within k hops of a test node in a k-layer model. NodesCached counts nodes read with
	// cached representations.
	Nodes        int `json:"nodes,omitempty"`
	NodesReached int `json:"nodes_reached,omitempty"`
	NodesCached  int `json:"nodes_cached,omitempty"`
	// Macro F1 with --cache-inference: MacroF1Together with the edges between new nodes, MacroF1Apart without them.
	// Before version 0.4.0 there was only MacroF1Apart, hence its JSON name.
	MacroF1Together *float64 `json:"macro_f1_together,omitempty"`
	MacroF1Apart    *float64 `json:"macro_f1_cached,omitempty"`

	ValidationF1 float64 `json:"validation_macro_f1"`
	Loss         float64 `json:"validation_loss"`
	BestEpoch    int     `json:"best_epoch"`
	Epochs       int     `json:"epochs"`
	Seconds      float64 `json:"seconds"`
	Backend      string  `json:"backend"`
	Kernels      string  `json:"kernels,omitempty"` // method of summing over neighbours
	Slower       string  `json:"slower,omitempty"`  // why the trial ran slower than possible
	Digits       string  `json:"digits,omitempty"`  // "avx2": equal on any x86-64 with AVX2; "": depend on the CPU
	Device       string  `json:"device"`
	Version      string  `json:"version"`
	Date         string  `json:"date,omitempty"` // end in UTC; in stored results only

	// Losses of each epoch, to four decimals; nil unless [Cell].History is set.
	TrainLosses      []float64 `json:"train_losses,omitempty"`
	ValidationLosses []float64 `json:"validation_losses,omitempty"`

	// Readings, if set, holds the scores instead of the fields above. Protocol is the hash of the protocol file.
	Readings Readings `json:"-"`
	Protocol string   `json:"-"`
}

// CellOf returns the record's experiment.
func (r Record) CellOf() Cell {
	return Cell{Data: r.Data, Setting: r.Setting, TrainPercent: r.TrainPercent, Arrivals: r.Arrivals, Resplit: r.Resplit,
		OwnSplit: r.OwnSplit, ValidationPercent: r.ValidationPercent, Parameters: r.Parameters,
		Cached: r.MacroF1Together != nil && r.MacroF1Apart != nil, History: r.ValidationLosses != nil,
		Readings: r.Readings != nil}
}

// Differences returns how two records of a trial contradict each other; on the same device and version they should not.
func (r Record) Differences(other Record) (differences []string) {
	differ := func(what string, was, is any) {
		if was, is := fmt.Sprint(was), fmt.Sprint(is); was != is {
			differences = append(differences, fmt.Sprintf("%s: %s, now %s", what, was, is))
		}
	}
	differ("split", r.SplitHash, other.SplitHash)
	if r.SplitHash != other.SplitHash {
		differ("data from", r.Source, other.Source) // other files may order the nodes differently
	}
	differ("macro F1", r.MacroF1, other.MacroF1)
	differ("micro F1", r.MicroF1, other.MicroF1)
	differ("best epoch", r.BestEpoch, other.BestEpoch)
	differ("epochs", r.Epochs, other.Epochs)
	differ("validation loss", r.Loss, other.Loss)
	for _, m := range []Metric{MacroF1Together, MacroF1Apart} {
		was, had := m.Of(r)
		if is, has := m.Of(other); had && has {
			differ(string(m), was, is)
		}
	}
	if r.MAD != nil && other.MAD != nil {
		differ("MAD", *r.MAD, *other.MAD)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Readings)) {
		was := r.Readings[name]
		if is, ok := other.Readings[name]; ok {
			if was.Cached == 0 || is.Cached == 0 {
				was.Cached, is.Cached = 0, 0
			}
			differ(name, was, is)
		}
	}
	return differences
}
