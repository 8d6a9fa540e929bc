package page

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"nodemask/nmgnn/explain"
	"nodemask/plots"
)

// why explains a node's class by the model that was trained last, or unfolds a number of it.
func (s *Session) why(ctx context.Context, r Request) (Event, error) {
	s.mutex.Lock()
	m, of := s.model, s.modelOf
	s.mutex.Unlock()
	if m == nil || of != r.Data {
		return Event{}, fmt.Errorf("no model was trained on %.80q yet: train one first", r.Data)
	}
	g, err := s.graph(ctx, r.Data)
	if err != nil {
		return Event{}, err
	}
	if r.Kind == "explain" {
		e, err := explain.Node(ctx, s.backend, m.Network(), g, r.Root, explain.Options{Masks: pageMasks, Seed: 1})
		if err != nil {
			return Event{}, err
		}
		return explained(explain.View{Explanation: e, Graph: g, Model: m, Nodes: g.NodeIDs})
	}
	layer := m.Settings.Layers - r.Depth
	if layer < 1 || r.Depth < 0 {
		return Event{}, fmt.Errorf("at depth %d a network of %d layers reads the features of a node and computes nothing: "+
			"there is no sum", r.Depth, m.Settings.Layers)
	}
	mask := make([]bool, g.NumNodes())
	for _, v := range r.Masked {
		if v < 0 || int(v) >= len(mask) {
			return Event{}, fmt.Errorf("masked node %d: expected 0 to %d", v, len(mask)-1)
		}
		mask[v] = true
	}
	answer := Event{Kind: "unfolded", Names: map[int32]string{}}
	layers := []int{layer}
	if r.Depth == 0 && m.Settings.Readout != "" {
		layers = []int{layer + 1, layer}
	}
	for _, layer := range layers {
		sum, err := explain.Unfold(s.backend, m, g, r.Root, layer, mask)
		if err != nil {
			return Event{}, err
		}
		answer.Sums = append(answer.Sums, sum)
		for _, term := range sum.Terms {
			if answer.Names[term.Node] = strconv.Itoa(int(term.Node)); g.NodeIDs != nil {
				answer.Names[term.Node] = g.NodeIDs[term.Node]
			}
		}
	}
	return answer, nil
}

// pageMasks is how many masks a page computes: fewer than the command, since it is slower.
const pageMasks = 1 << 12

func explained(v explain.View) (Event, error) {
	var svg bytes.Buffer
	if err := v.WriteSVG(&svg); err != nil {
		return Event{}, err
	}
	e := &Explained{Sentence: v.Sentence(), SVG: svg.String()}
	for _, t := range []plots.Table{v.Branches(), v.Columns()} {
		if len(t.Rows) == 0 {
			continue
		}
		table, err := t.Render(plots.FormatHTML)
		if err != nil {
			return Event{}, err
		}
		e.Tables = append(e.Tables, table)
	}
	return Event{Kind: "explained", Explained: e}, nil
}
