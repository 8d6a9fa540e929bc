package paper

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"

	"nodemask/datasets"
	"nodemask/nmgnn"
)

// Record is one trial as a line of JSON, with all that it takes to run it again. F1 and accuracy are in percent.
type Record struct {
	Cell         string            `json:"cell,omitempty"` // [Cell.Key], in stored results
	Data         string            `json:"data"`
	Source       string            `json:"source"`
	Setting      datasets.Setting  `json:"setting"`
	TrainPercent int               `json:"train_percent"`
	Arrivals     datasets.Arrivals `json:"arrivals,omitempty"`
	Resplit      bool              `json:"resplit,omitempty"`
	nmgnn.Settings
	Seed      uint64  `json:"seed"`
	SplitSeed uint64  `json:"split_seed"`
	SplitHash string  `json:"split_hash"`
	MacroF1   float64 `json:"macro_f1"`
	MicroF1   float64 `json:"micro_f1"`
	Accuracy  float64 `json:"accuracy"`
	// Over all nodes of the test graph, by representation.
	MAD *nmgnn.Smoothness `json:"mad,omitempty"`
	// Inductive: how many nodes predicting the test nodes takes, all (as the paper counts), really reached, and with a cache.
	Nodes         int      `json:"nodes,omitempty"`
	NodesReached  int      `json:"nodes_reached,omitempty"`
	NodesCached   int      `json:"nodes_cached,omitempty"`
	MacroF1Cached *float64 `json:"macro_f1_cached,omitempty"` // with --cache-inference

	ValidationF1 float64 `json:"validation_macro_f1"`
	Loss         float64 `json:"validation_loss"`
	BestEpoch    int     `json:"best_epoch"`
	Epochs       int     `json:"epochs"`
	Seconds      float64 `json:"seconds"`
	Backend      string  `json:"backend"`
	Device       string  `json:"device"`
	Version      string  `json:"version"`
	Date         string  `json:"date,omitempty"` // UTC, when the trial ended; in stored results

	// Losses of every epoch, if the cell keeps them: rounded to four digits after the point.
	TrainLosses      []float64 `json:"train_losses,omitempty"`
	ValidationLosses []float64 `json:"validation_losses,omitempty"`
}

// NewRecord describes a result of an experiment.
func NewRecord(x nmgnn.Experiment, b *nmgnn.Backend, r *nmgnn.Result) Record {
	c := Record{Data: x.Graph.Name, Source: x.Graph.Source, Setting: x.Setting, TrainPercent: x.TrainPercent, Resplit: x.Resplit, Settings: x.Settings,
		Seed: r.Seed, SplitSeed: r.SplitSeed, SplitHash: r.SplitHash,
		MacroF1: 100 * r.Test.MacroF1, MicroF1: 100 * r.Test.MicroF1, Accuracy: 100 * r.Test.Accuracy,
		ValidationF1: 100 * r.Validation.MacroF1, Loss: r.History[r.BestEpoch-1].ValidationLoss,
		BestEpoch: r.BestEpoch, Epochs: len(r.History), Seconds: math.Round(r.Seconds*1000) / 1000,
		Backend: b.ID, Device: b.Device(), Version: Version()}
	if x.Setting == datasets.Inductive {
		c.Arrivals = x.Arrivals
	}
	c.MAD = r.MAD
	if r.Nodes != nil {
		c.Nodes, c.NodesReached, c.NodesCached = r.Nodes.All, r.Nodes.Reached, r.Nodes.Cached
	}
	if r.Cached != nil {
		f1 := 100 * r.Cached.MacroF1
		c.MacroF1Cached = &f1
	}
	return c
}

// keepHistory adds the losses of every epoch.
func (c *Record) keepHistory(history []nmgnn.Epoch) {
	round := func(x float64) float64 { return math.Round(x*1e4) / 1e4 }
	for _, e := range history {
		c.TrainLosses = append(c.TrainLosses, round(e.TrainLoss))
		c.ValidationLosses = append(c.ValidationLosses, round(e.ValidationLoss))
	}
}

// CellOf is the cell that a record belongs to.
func (c Record) CellOf() Cell {
	return Cell{Data: c.Data, Setting: c.Setting, TrainPercent: c.TrainPercent, Arrivals: c.Arrivals, Resplit: c.Resplit, Settings: c.Settings,
		Cached: c.MacroF1Cached != nil, History: c.ValidationLosses != nil}
}

// release is the version of this program. Records carry it, so it changes whenever numbers may.
const release = "0.2.0"

// Version names all that a number can depend on: this program, Go, and the modules that compute.
func Version() string {
	modules := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			switch dependency.Path {
			case "github.com/gomlx/gomlx":
				modules += ", gomlx " + dependency.Version
			case "github.com/gomlx/compute":
				modules += ", compute " + dependency.Version
			case "github.com/gomlx/go-xla":
				modules += ", go-xla " + dependency.Version
			}
		}
	}
	return fmt.Sprintf("nodemask %s (%s%s)", release, runtime.Version(), modules)
}

// Line is the record as it is stored, without the line break.
func (c Record) Line() ([]byte, error) { return json.Marshal(c) }
