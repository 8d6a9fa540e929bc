// Package worker runs a process of the command nodemask that trains, checks, exports and explains what a notebook's
// cell asks for. The command is built once; a cell that linked GoMLX itself would be slower on every run.
package worker

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"nodemask/advice"
	"nodemask/datasets"
	"nodemask/paper/record"
	"nodemask/plots"
)

// Subcommand is what the command nodemask calls the process.
const Subcommand = "serve-cells"

// Request holds the line of JSON that the process reads from its standard input, with one field set. Input then stays
// open: its end ends the process, however the cell ended.
type Request struct {
	Train   *Training `json:"train,omitempty"`
	Check   *Check    `json:"check,omitempty"`
	Export  *Export   `json:"export,omitempty"`
	Advise  *Advising `json:"advise,omitempty"`
	Explain *Explain  `json:"explain,omitempty"`
}

// Training asks for the trials of cells that a store lacks.
type Training struct {
	Cells  []record.Cell `json:"cells"`
	Trials int           `json:"trials"` // of each cell; 0: 10
	// FirstSeed is the seed of each cell's first trial; 0: 1. Others follow it.
	FirstSeed uint64 `json:"first_seed,omitempty"`
	Store     string `json:"store"` // folder of the results
}

// Check asks whether theorem 1 holds at the root of an aggregation tree, for an untrained model of every kind.
type Check struct {
	Graph *datasets.Graph `json:"graph"`
	Root  int32           `json:"root"`
	Hops  int             `json:"hops"`
	Mask  []bool          `json:"mask,omitempty"` // [nodes]; nil: none is masked
}

// Export asks for a saved model as an ONNX file.
type Export struct {
	Model  string `json:"model"`            // its file
	Output string `json:"output,omitempty"` // the ONNX file; "": the model's name with .onnx
}

// Exported says what was written for an [Export].
type Exported struct {
	File     string `json:"file"`
	Bytes    int64  `json:"bytes"`
	Model    string `json:"model"` // its title: "GIN"
	Features int    `json:"features"`
	Classes  int    `json:"classes"`
}

// String returns it in one line: "cora.onnx: GIN, 1433 features, 7 classes, 371 kB".
func (e Exported) String() string {
	return fmt.Sprintf("%s: %s, %d features, %d classes, %d kB", e.File, e.Model, e.Features, e.Classes,
		(e.Bytes+999)/1000)
}

// Explain asks why a saved model gives a node its class.
type Explain struct {
	Model string `json:"model"`           // its file
	Data  string `json:"data"`            // name or path of the graph
	Node  string `json:"node"`            // number, or id
	Class string `json:"class,omitempty"` // name or number; "": the predicted one
}

// Explained says why: in a sentence, a drawing of the tree, and tables of the branches and features that count.
type Explained struct {
	Sentence string        `json:"sentence"`
	SVG      string        `json:"svg"`
	Tables   []plots.Table `json:"tables"`
	Text     string        `json:"text"` // the sentence and the tables
}

// Advising asks which regulariser helps a graph. Its trials are kept in the user's cache.
type Advising struct {
	Data   string        `json:"data"`             // a name or a path, as commands have it
	Models []string      `json:"models,omitempty"` // nil: advice.Models
	Budget time.Duration `json:"budget_ns"`        // 0: five minutes
}

// Event holds a line of JSON that the process writes to its standard output, with one field set.
type Event struct {
	Backend  string    `json:"backend,omitempty"` // what the trials run on, before the first
	Epoch    *Epoch    `json:"epoch,omitempty"`
	Trials   *Trials   `json:"trials,omitempty"`
	Theorem  *Theorem  `json:"theorem,omitempty"`
	Exported *Exported `json:"exported,omitempty"`

	Explained *Explained `json:"explained,omitempty"`

	Doing  string         `json:"doing,omitempty"`  // what trials are for, in words, before each of them
	Advice *advice.Advice `json:"advice,omitempty"` // as far as it is known
}

// Epoch holds the losses of one epoch of a trial.
type Epoch struct {
	Cell           string `json:"cell"` // [record.Cell.Key]
	Seed           uint64 `json:"seed"`
	TrainLoss      Number `json:"train_loss"`
	ValidationLoss Number `json:"validation_loss"`
}

// Trials says how many trials are done.
type Trials struct {
	Done   int           `json:"done"`
	Before int           `json:"before"` // of Done: there before
	Left   time.Duration `json:"left"`   // estimated; 0: unknown
}

// Theorem says whether theorem 1 holds for a kind of model.
type Theorem struct {
	Model      string `json:"model"`
	Holds      bool   `json:"holds"`
	Difference Number `json:"difference"`
}

// Number is a float64 that in JSON is null where it is infinite or not a number, and comes back from there as NaN.
type Number float64

// MarshalJSON returns the number, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if x := float64(n); math.IsNaN(x) || math.IsInf(x, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON reads a number, or null.
func (n *Number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(text, (*float64)(n))
}
