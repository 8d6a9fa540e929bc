package page

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// For docs/PERFORMANCE.md: NODEMASK_SPEED=1 go test ./page -run SpeedInBrowsers -v -timeout 30m
func TestSpeedInBrowsers(t *testing.T) {
	if os.Getenv("NODEMASK_SPEED") == "" {
		t.Skip("skipped: measures for minutes; NODEMASK_SPEED=1 has it run")
	}
	path := written(t, func(o *Options) { o.Beside = "nodemask.js" })
	chromium, firefox := open(t, browser(t), path, 1280), openFirefox(t, path)
	native := session(t)
	const script = `(async () => { const ms = []; ` +
		`await window.nodemaskPlayground.engine.ask({kind: 'train', seed: 1, cell: %s}, {epoch: e => ms.push(e.ms)}).done; return JSON.stringify(ms) })()`
	places := []struct {
		name  string
		train func(cell Cell, text []byte) []float64
	}{
		{"Chromium", func(_ Cell, text []byte) (ms []float64) {
			var answer string
			chromium.Run(chromedp.Evaluate(fmt.Sprintf(script, text), &answer,
				func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
			require.NoError(t, json.Unmarshal([]byte(answer), &ms))
			return ms
		}},
		{"Firefox", func(_ Cell, text []byte) (ms []float64) {
			require.NoError(t, json.Unmarshal([]byte(firefox.js(fmt.Sprintf(script, text))), &ms))
			return ms
		}},
		{"native go", func(cell Cell, _ []byte) (ms []float64) {
			began := time.Now()
			native.Handle(t.Context(), Request{ID: 1, Kind: "train", Seed: 1, Cell: cell}, func(e Event) {
				if e.Kind == "epoch" {
					ms = append(ms, e.Milliseconds)
				}
			})
			require.NotEmpty(t, ms, time.Since(began))
			return ms
		}},
	}
	var table strings.Builder
	for _, data := range []string{"cora", "pubmed"} {
		for _, model := range []string{"gin", "gat", "sgat"} {
			cell := Cell{Data: data, Model: model, Setting: "transductive", TrainPercent: 10,
				Choices: map[string]string{"keep": "0.5", "epochs": map[string]string{"cora": "60", "pubmed": "15"}[data]}}
			text, err := json.Marshal(cell)
			require.NoError(t, err)
			all := map[string][]float64{}
			for range 3 { // in turns, so that all share the machine's state
				for _, place := range places {
					all[place.name] = append(all[place.name], place.train(cell, text)[2:]...)
				}
			}
			fmt.Fprintf(&table, "\n| %s %s |", data, model)
			for _, place := range places {
				ms := all[place.name]
				slices.Sort(ms)
				fmt.Fprintf(&table, " %.1f (%.1f) |", ms[0], ms[len(ms)/2])
			}
		}
	}
	t.Logf("ms an epoch, least (median):\n| | Chromium | Firefox | native go |\n|---|---|---|---|%s", table.String())
}
