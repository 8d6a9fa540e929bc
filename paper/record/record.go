package record

import (
	"fmt"
	"maps"
	"slices"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/stats"
)

// Record is one trial as a line of JSON, with all that it takes to run it again. F1 and accuracy are in percent.
type Record struct {
	Cell              string            `json:"cell,omitempty"` // [Cell.Key], in stored results
	Data              string            `json:"data"`
	Source            string            `json:"source"`
	Setting           datasets.Setting  `json:"setting"`
	TrainPercent      int               `json:"train_percent"`
	Arrivals          datasets.Arrivals `json:"arrivals,omitempty"`
	Resplit           bool              `json:"resplit,omitempty"`
	OwnSplit          bool              `json:"own_split,omitempty"` // the data's own split
	ValidationPercent int               `json:"validation_percent,omitempty"`
	hyper.Parameters
	Seed      uint64  `json:"seed"`
	SplitSeed uint64  `json:"split_seed"`
	SplitHash string  `json:"split_hash"`
	MacroF1   float64 `json:"macro_f1"`
	MicroF1   float64 `json:"micro_f1"`
	Accuracy  float64 `json:"accuracy"`
	// Over all nodes of the test graph, by representation.
	MAD *stats.Smoothness `json:"mad,omitempty"`
	// Inductive: how many nodes predicting the test nodes takes, all (as the paper counts), really reached, and with a
	// cache.
	Nodes        int `json:"nodes,omitempty"`
	NodesReached int `json:"nodes_reached,omitempty"`
	NodesCached  int `json:"nodes_cached,omitempty"`
	// With --cache-inference: of new nodes that see one another, and of new nodes that do not. Records before 0.4.0 have
	// the second alone, under the name that it keeps.
	MacroF1Together *float64 `json:"macro_f1_together,omitempty"`
	MacroF1Apart    *float64 `json:"macro_f1_cached,omitempty"`

	ValidationF1 float64 `json:"validation_macro_f1"`
	Loss         float64 `json:"validation_loss"`
	BestEpoch    int     `json:"best_epoch"`
	Epochs       int     `json:"epochs"`
	Seconds      float64 `json:"seconds"`
	Backend      string  `json:"backend"`
	Kernels      string  `json:"kernels,omitempty"` // how the backend computes sums over neighbours
	Slower       string  `json:"slower,omitempty"`  // why the backend was slower than it could be
	Digits       string  `json:"digits,omitempty"`  // "avx2": the same on any x86-64 with AVX2; "": the processor's own
	Device       string  `json:"device"`
	Version      string  `json:"version"`
	Date         string  `json:"date,omitempty"` // UTC, when the trial ended; in stored results

	// Losses of every epoch, if the cell keeps them: rounded to four digits after the point.
	TrainLosses      []float64 `json:"train_losses,omitempty"`
	ValidationLosses []float64 `json:"validation_losses,omitempty"`

	// Readings are the scores of a training, by how it is stopped and how new nodes arrive, instead of those above; nil:
	// it has those. Protocol is the hash of the rules that a training was run under, fixed before.
	Readings Readings `json:"-"`
	Protocol string   `json:"-"`
}

// CellOf returns the cell that a record belongs to.
func (r Record) CellOf() Cell {
	return Cell{Data: r.Data, Setting: r.Setting, TrainPercent: r.TrainPercent, Arrivals: r.Arrivals, Resplit: r.Resplit,
		OwnSplit: r.OwnSplit, ValidationPercent: r.ValidationPercent, Parameters: r.Parameters,
		Cached: r.MacroF1Together != nil && r.MacroF1Apart != nil, History: r.ValidationLosses != nil,
		Readings: r.Readings != nil}
}

// Differences lists what another record of the trial says otherwise of what both measured: nothing on the same device
// and version.
func (r Record) Differences(other Record) (differences []string) {
	differ := func(what string, was, is any) {
		if was, is := fmt.Sprint(was), fmt.Sprint(is); was != is {
			differences = append(differences, fmt.Sprintf("%s: %s, now %s", what, was, is))
		}
	}
	differ("split", r.SplitHash, other.SplitHash)
	if r.SplitHash != other.SplitHash {
		differ("data from", r.Source, other.Source) // other files of a data set may have its nodes in another order
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
	for _, name := range slices.Sorted(maps.Keys(r.Readings)) { // the other may have more
		was := r.Readings[name]
		if is, ok := other.Readings[name]; ok {
			if was.Cached == 0 || is.Cached == 0 { // one of the two does not keep it
				was.Cached, is.Cached = 0, 0
			}
			differ(name, was, is)
		}
	}
	return differences
}
