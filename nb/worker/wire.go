// Package worker runs the command nodemask for notebook cells, which would start slower if they linked GoMLX.
package worker

import (
	"encoding/json"
	"math"

	"nodemask/paper/record"
)

// Subcommand is the name of the subcommand that trains for notebook cells. It reads a [Training] from standard input
// and writes each [Event], as lines of JSON. It ends when standard input is closed.
const Subcommand = "serve-cells"

// Training is a request for trials of experiments (cells). Trials that are in the store are not run again.
type Training struct {
	Cells  []record.Cell `json:"cells"`
	Trials int           `json:"trials"` // per cell; 0 means 10
	// FirstSeed is the seed of each cell's first trial; 0 means 1.
	FirstSeed uint64 `json:"first_seed,omitempty"`
	Store     string `json:"store"`
}

// Event reports progress. Exactly one field is set.
type Event struct {
	Backend string  `json:"backend,omitempty"` // sent before the first trial
	Epoch   *Epoch  `json:"epoch,omitempty"`
	Trials  *Trials `json:"trials,omitempty"`
}

// Epoch holds an epoch's losses.
type Epoch struct {
	Cell           string `json:"cell"` // [record.Cell.Key]
	Seed           uint64 `json:"seed"`
	TrainLoss      Number `json:"train_loss"`
	ValidationLoss Number `json:"validation_loss"`
}

// Trials counts finished trials.
type Trials struct {
	Done   int `json:"done"`
	Before int `json:"before"` // trials that earlier runs finished
}

// Number is a float64 that JSON writes as null if infinite or NaN; null reads as NaN.
type Number float64

// MarshalJSON returns the number, or null if infinite or NaN.
func (n Number) MarshalJSON() ([]byte, error) {
	if x := float64(n); math.IsNaN(x) || math.IsInf(x, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON reads a number, or null as NaN.
func (n *Number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(text, (*float64)(n))
}
