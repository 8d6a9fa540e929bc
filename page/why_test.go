package page

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/infer"
)

func TestATrainedModelIsExplainedAndUnfolded(t *testing.T) {
	s := session(t)
	cell := smallCell("0.5")
	cell.Setting = "transductive"
	asked := func(r Request) Event {
		r.Data = cell.Data
		events := ask(t, s, r)
		require.Len(t, events, 1)
		return events[0]
	}
	require.Contains(t, asked(Request{Kind: "explain"}).Error, "no model was trained on")
	trained(t, s, Request{ID: 1, Cell: cell, Seed: 3})

	e := asked(Request{Kind: "explain", Root: 5})
	require.Equal(t, "explained", e.Kind, e.Error)
	require.Contains(t, e.Explained.Sentence, "GIN says that node 5 is ")
	require.Contains(t, e.Explained.SVG, "<svg ")
	require.Len(t, e.Explained.Tables, 2)

	g := s.graphs[cell.Data]
	all, err := s.model.Network().Represent(s.backend, g.Edges, g.Features, infer.Options{})
	require.NoError(t, err)
	for depth, layer := range map[int]int{0: 2, 1: 1} {
		e := asked(Request{Kind: "unfold", Root: 7, Depth: depth})
		require.Equal(t, "unfolded", e.Kind, e.Error)
		require.Equal(t, "7", e.Names[7])
		last := e.Sums[len(e.Sums)-1]
		require.Equal(t, layer, last.Layer)
		for i, want := range all[layer-1].Row(7) {
			require.InDelta(t, want, last.Steps[len(last.Steps)-1].Values[i], 1e-4)
		}
		if depth == 0 {
			require.Len(t, e.Sums, 2, "the logits are read from the representations")
			for i, want := range all[2].Row(7) {
				require.InDelta(t, want, e.Sums[0].Steps[0].Values[i], 1e-4)
			}
		}
	}
	masked := asked(Request{Kind: "unfold", Root: 7, Masked: []int32{g.Edges.Neighbours(7)[0]}})
	require.Zero(t, masked.Sums[1].Terms[1].Kept)
	require.Contains(t, asked(Request{Kind: "unfold", Root: 7, Depth: 2}).Error, "there is no sum")
	require.Contains(t, asked(Request{Kind: "unfold", Root: 120}).Error, "node 120: the graph has 120 nodes")
	require.Contains(t, asked(Request{Kind: "unfold", Masked: []int32{-1}}).Error, "masked node -1: expected 0 to 119")
	require.Contains(t, asked(Request{Kind: "explain", Root: -1}).Error, "root -1: the graph has 120 nodes")
}

func TestAReaderUnfoldsANumberOfTheTree(t *testing.T) {
	ctx := browser(t)
	b := open(t, ctx, written(t, func(o *Options) { o.Beside = "nodemask.js" }), 390)
	b.click("#watch") // epochs that nobody watches have no rest between them
	b.click("#go")
	b.Until(`!document.querySelector('#explain').disabled && document.querySelector('#go').disabled === false`)
	b.click("#explain")
	b.Until(`document.querySelectorAll('#because table').length === 2`)
	var text string
	b.JS(`document.querySelector('#because p').textContent`, &text)
	require.Contains(t, text, "GIN says that node ")
	click := func(level int) {
		var done bool
		b.JS(fmt.Sprintf(`document.querySelector('#live .nodemask-explorer').shadowRoot.querySelector('.tree [aria-level="%d"]')`+
			`.dispatchEvent(new MouseEvent('click', {bubbles: true}))`, level), &done)
	}
	click(2)
	b.Until(`document.querySelectorAll('#sums table').length === 1`)
	b.JS(`document.querySelector('#sums p').textContent`, &text)
	require.Contains(t, text, "The last row is what the network itself computes")
	b.Is(true, `Boolean(document.querySelector('#live .nodemask-explorer').shadowRoot.querySelector('.tree [aria-level="3"]'))`,
		"nothing was folded")
	click(1)
	b.Until(`document.querySelectorAll('#sums table').length === 2`)
	b.Is(390, `document.documentElement.scrollWidth`, "tables scroll, and the page does not")
	b.look("unfolded")
}
