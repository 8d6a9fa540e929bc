package record

import (
	"encoding/json"

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
	// Inductive: how many nodes predicting the test nodes takes, all (as the paper counts), really reached, and with a cache.
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
	Device       string  `json:"device"`
	Version      string  `json:"version"`
	Date         string  `json:"date,omitempty"` // UTC, when the trial ended; in stored results

	// Losses of every epoch, if the cell keeps them: rounded to four digits after the point.
	TrainLosses      []float64 `json:"train_losses,omitempty"`
	ValidationLosses []float64 `json:"validation_losses,omitempty"`
}

// CellOf returns the cell that a record belongs to.
func (r Record) CellOf() Cell {
	return Cell{Data: r.Data, Setting: r.Setting, TrainPercent: r.TrainPercent, Arrivals: r.Arrivals, Resplit: r.Resplit, OwnSplit: r.OwnSplit, ValidationPercent: r.ValidationPercent, Parameters: r.Parameters,
		Cached: r.MacroF1Together != nil && r.MacroF1Apart != nil, History: r.ValidationLosses != nil}
}

// Line returns the record as it is stored, without the line break.
func (r Record) Line() ([]byte, error) { return json.Marshal(r) }
