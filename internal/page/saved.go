package page

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"

	"nodemask/datasets"
)

// saved is a run that a page shows before its reader trains one: what training in a page gives for what is chosen when
// it opens. 'go test ./internal/page -update' writes it.
//
//go:embed saved.json
var saved []byte

// savedRun is what is saved.
type savedRun struct {
	Seed uint64     `json:"seed"`
	Arms []savedArm `json:"arms"`
}

// savedArm is one trial of it: its curves, and who was masked and what was predicted in its last epoch.
type savedArm struct {
	Cell       Cell      `json:"cell"`
	Train      []float64 `json:"train"`
	Validation []float64 `json:"validation"`
	F1         []float64 `json:"f1"` // on the validation nodes, in percent
	Masked     []int32   `json:"masked,omitempty"`
	Classes    []int32   `json:"classes"`
	Trained    *Trained  `json:"trained"` // without what differs from run to run
	record     string
}

// run trains an arm from its cell.
func (a *savedArm) run(ctx context.Context, s *Session, seed uint64) error {
	a.Train, a.Validation, a.F1, a.Trained = nil, nil, nil, nil
	var last Event
	s.Handle(ctx, Request{ID: 1, Kind: "train", Cell: a.Cell, Seed: seed, Watch: true}, func(e Event) {
		last = e
		if e.Kind != "epoch" {
			return
		}
		a.Train, a.Validation = append(a.Train, short(e.TrainLoss)), append(a.Validation, short(e.ValidationLoss))
		a.F1, a.Masked, a.Classes = append(a.F1, short(e.ValidationF1)), e.Masked, e.Classes
	})
	if last.Trained == nil {
		return fmt.Errorf("training the run that pages open with: %s", last.Error)
	}
	a.Trained, a.record = last.Trained, last.Trained.Record
	a.Trained.Record, a.Trained.Seconds = "", 0
	return nil
}

// short is a number to five digits, as many as a curve shows.
func short(x float64) float64 { return math.Round(x*1e5) / 1e5 }

// savedConfig is the saved run as the page's script reads it, with the graph that it was trained on.
type savedConfig struct {
	Run   json.RawMessage `json:"run"`
	Graph *Graph          `json:"graph"`
	Tree  any             `json:"tree"`
}

func newSavedConfig(ctx context.Context) (*savedConfig, error) {
	const data = "cora"
	s := &Session{graphs: map[string]*datasets.Graph{}} // nothing is computed
	opened, err := s.open(ctx, Request{Data: data})
	if err != nil {
		return nil, err
	}
	tree, err := s.tree(ctx, Request{Data: data, Root: opened.Graph.Start, Hops: 2})
	return &savedConfig{Run: saved, Graph: opened.Graph, Tree: tree.Tree}, err
}
