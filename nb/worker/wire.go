// Package worker runs the command nodemask for a notebook cell: a cell that links GoMLX would start slower.
package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"nodemask/advice"
	"nodemask/datasets"
	"nodemask/paper/record"
	"nodemask/plots"
)

// Subcommand is the name of the process's subcommand.
const Subcommand = "serve-cells"

// Request is one line of JSON on standard input, with one field set. Closing standard input ends the process.
type Request struct {
	Train   *Training `json:"train,omitempty"`
	Check   *Check    `json:"check,omitempty"`
	Advise  *Advising `json:"advise,omitempty"`
	Explain *Explain  `json:"explain,omitempty"`
}

// Limits of a request; larger ones would exhaust memory or never end.
const (
	maxTrials = 1_000_000
	maxHops   = 100
)

// Sound returns an error unless one field is set, complete and consistent. It does not open files.
func (r Request) Sound() error {
	asked := 0
	for _, is := range []bool{r.Train != nil, r.Check != nil, r.Advise != nil, r.Explain != nil} {
		if is {
			asked++
		}
	}
	switch {
	case asked == 0:
		return errors.New("the request asks for nothing")
	case asked > 1:
		return fmt.Errorf("the request asks for %d things: expected one", asked)
	case r.Train != nil && (r.Train.Trials < 0 || r.Train.Trials > maxTrials):
		return fmt.Errorf("the request asks for %d trials: expected 0 to %d", r.Train.Trials, maxTrials)
	case r.Train != nil && r.Train.Store == "":
		return errors.New("the request names no store")
	case r.Check != nil:
		return r.Check.check()
	case r.Explain != nil && r.Explain.Model == "":
		return errors.New("the request names no model")
	case r.Advise != nil && r.Advise.Data == "", r.Explain != nil && r.Explain.Data == "":
		return errors.New("the request names no graph")
	}
	return nil
}

func (c *Check) check() error {
	if c.Graph == nil || c.Graph.Edges == nil {
		return errors.New("the request has no graph")
	}
	g := *c.Graph
	if len(g.Labels) == 0 { // theorem 1 needs no labels
		g.Labels = slices.Repeat([]int32{datasets.Unlabelled}, max(g.Edges.NumNodes(), 0))
	}
	if err := g.Check(); err != nil {
		return err
	}
	switch nodes := g.NumNodes(); {
	case c.Root < 0 || int(c.Root) >= nodes:
		return fmt.Errorf("the request has the root %d: expected 0 to %d", c.Root, nodes-1)
	case c.Hops < 0 || c.Hops > maxHops:
		return fmt.Errorf("the request has %d hops: expected 0 to %d", c.Hops, maxHops)
	case c.Mask != nil && len(c.Mask) != nodes:
		return fmt.Errorf("the request masks %d nodes of %d", len(c.Mask), nodes)
	}
	return nil
}

// Training requests the trials that a store lacks.
type Training struct {
	Cells  []record.Cell `json:"cells"`
	Trials int           `json:"trials"` // per cell; 0: 10
	// FirstSeed is each cell's first seed; 0: 1.
	FirstSeed uint64 `json:"first_seed,omitempty"`
	Store     string `json:"store"`
}

// Check requests a test of theorem 1 for an untrained model of every kind.
type Check struct {
	Graph *datasets.Graph `json:"graph"`
	Root  int32           `json:"root"`
	Hops  int             `json:"hops"`
	Mask  []bool          `json:"mask,omitempty"` // [nodes]; nil: nothing masked
}

// Explain requests why a saved model predicts a node's class.
type Explain struct {
	Model string `json:"model"`
	Data  string `json:"data"`            // name or path of the graph
	Node  string `json:"node"`            // number, or id
	Class string `json:"class,omitempty"` // name or number; "": the predicted one
}

// Explained holds a sentence, a drawing of the tree, and tables of the main branches and features.
type Explained struct {
	Sentence string        `json:"sentence"`
	SVG      string        `json:"svg"`
	Tables   []plots.Table `json:"tables"`
	Text     string        `json:"text"` // sentence and tables
}

// Advising requests which regulariser helps a graph; trials stay in the user's cache.
type Advising struct {
	Data   string        `json:"data"`             // name or path, as in commands
	Models []string      `json:"models,omitempty"` // nil: advice.Models
	Budget time.Duration `json:"budget_ns"`        // 0: five minutes
}

// Event is one line of JSON on standard output, with one field set.
type Event struct {
	Backend string   `json:"backend,omitempty"` // before the first trial
	Epoch   *Epoch   `json:"epoch,omitempty"`
	Trials  *Trials  `json:"trials,omitempty"`
	Theorem *Theorem `json:"theorem,omitempty"`

	Explained *Explained `json:"explained,omitempty"`

	Doing  string         `json:"doing,omitempty"`  // purpose of the next trials, in words
	Advice *advice.Advice `json:"advice,omitempty"` // so far
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
	Before int `json:"before"` // those of Done from earlier runs
}

// Theorem reports whether theorem 1 holds for a kind of model.
type Theorem struct {
	Model      string `json:"model"`
	Holds      bool   `json:"holds"`
	Difference Number `json:"difference"`
}

// Number is a float64 that JSON writes as null if infinite or NaN; null reads as NaN.
type Number float64

// MarshalJSON returns the number, or null.
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
