package page

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/advice"
	"nodemask/datasets"
	"nodemask/paper/measure"
	"nodemask/paper/record"
)

func TestAPageSaysWhetherMaskingHelps(t *testing.T) {
	cell := record.NewCell("cora", "gin", datasets.Transductive, 10).Masked(0.5)
	for _, c := range []struct {
		differences []float64
		verdict     advice.Verdict
		says        string
	}{
		{nil, advice.Open, "0 of at most 30 splits: too few to tell."},
		{[]float64{1}, advice.Open, "1 of at most 30 splits: too few to tell."},
		{[]float64{3, 3.2, 2.8, 3.1, 2.9, 3, 3.1, 2.9}, advice.Helps,
			"Yes: masking helps GIN here, +3.0 points of macro F1 ("},
		{[]float64{-3, -3.2, -2.8, -3.1, -2.9, -3, -3.1, -2.9}, advice.Hurts, "No: masking harms GIN here, −3.0 points"},
		{[]float64{0.1, -0.1, 0.2, -0.2, 0.1, -0.1, 0.1, -0.1}, advice.NoMatter,
			"No: masking gains GIN less than a point here"},
		{[]float64{-4, 6, -2, 3, 5, -5, 4, 1}, advice.Open, "Not settled: +1.0 points of macro F1 (−"},
	} {
		a := advised(cell, "cora", c.differences)
		require.Equal(t, c.verdict, a.Verdict)
		require.Contains(t, a.Sentence, c.says)
		require.Equal(t, len(c.differences), a.Splits)
		require.Contains(t, a.Open, "Other rates, models and regularisers were not tried")
		require.Equal(t, "nodemask advise --data cora --models gin --setting transductive --train 10", a.Command)
	}
	require.Contains(t, advised(cell, "own:x; rm -r", nil).Command, "--data my-graph --models")
}

func TestAPageComparesPairsOfTheSameSplit(t *testing.T) {
	s := session(t)
	cell := smallCell("0.5")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var last Event
	seen := 0
	s.Handle(ctx, Request{ID: 4, Kind: "advise", Cell: cell}, func(e Event) {
		if last = e; e.Kind == "epoch" {
			require.Equal(t, seen, e.Advised.Splits)
			if seen++; seen == 4 {
				stop()
			}
		}
	})
	require.Equal(t, "advised", last.Kind, "who stops is told what is known: %s", last.Error)
	require.Equal(t, 3, last.Advised.Splits)

	masked, err := cell.Cell()
	require.NoError(t, err)
	masked.Resplit = true
	plain := masked
	plain.Parameters.KeepRate = 1
	var differences []float64
	for seed := uint64(300); seed < 303; seed++ {
		var f1 []float64
		for _, c := range []record.Cell{plain, masked} {
			result, err := s.runner.Trial(t.Context(), measure.Experiment(c, s.graphs[cell.Data]), seed, nil)
			require.NoError(t, err)
			f1 = append(f1, 100*result.Test.MacroF1)
		}
		differences = append(differences, f1[1]-f1[0])
	}
	require.Equal(t, advised(masked, cell.Data, differences), last.Advised)

	one := ask(t, s, Request{ID: 5, Kind: "advise", Cell: smallCell("1")})
	require.Contains(t, one[0].Error, "keep rate 1 masks nothing")
	stopped, end := context.WithCancel(t.Context())
	end()
	s.Handle(stopped, Request{ID: 6, Kind: "advise", Cell: cell}, func(e Event) { last = e })
	require.Equal(t, "stopped", last.Kind)
}

func TestAReaderAsksWhetherMaskingHelps(t *testing.T) {
	b := open(t, browser(t), written(t, func(o *Options) { o.Beside = "nodemask.js" }), 390)
	var text string
	b.set("#data", "sbm")
	b.set("#hidden", "8")
	b.set("#rate", "0.05")
	b.click("#advise")
	b.Until(`document.querySelector('#status').textContent.includes('points of macro F1') || ` +
		`document.querySelector('#advised strong')`)
	b.JS(`(button => { if (!button.disabled) button.click(); return '' })(document.querySelector('#stop'))`, &text)
	b.Until(`document.querySelector('#advised code') && !document.querySelector('#go').disabled`)
	b.JS(`document.querySelector('#advised').textContent`, &text)
	require.Regexp(t, `^(Yes|No|Not settled): .* points? of macro F1 \(.* splits`, text)
	require.Contains(t, text, "nodemask advise --data sbm --models gin --setting transductive --train 10")
	b.look("advised")
}
