package page

import (
	"context"
	_ "embed"
	"encoding/json"

	"nodemask/datasets"
)

// saved is the trial that a page shows at first, written by 'go test ./page -update'.
//
//go:embed saved.json
var saved []byte

type savedConfig struct {
	Run   json.RawMessage `json:"run"`
	Graph *Graph          `json:"graph"`
	Tree  any             `json:"tree"`
}

func newSavedConfig(ctx context.Context) (*savedConfig, error) {
	const data = "cora"
	s := &Session{graphs: map[string]*datasets.Graph{}} // needs no backend, as it does not train
	opened, err := s.open(ctx, Request{Data: data})
	if err != nil {
		return nil, err
	}
	tree, err := s.tree(ctx, Request{Data: data, Root: opened.Graph.Start, Hops: 2})
	return &savedConfig{Run: saved, Graph: opened.Graph, Tree: tree.Tree}, err
}
