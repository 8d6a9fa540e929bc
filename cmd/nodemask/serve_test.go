package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nb/worker"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

// served returns the events of a request whose client stays.
func served(t *testing.T, r worker.Request) (events []worker.Event) {
	t.Helper()
	request, err := json.Marshal(r)
	require.NoError(t, err)
	in, asker := io.Pipe()
	defer asker.Close()                   //nolint:errcheck // a pipe in memory
	go asker.Write(append(request, '\n')) //nolint:errcheck // likewise
	var out bytes.Buffer
	require.NoError(t, serve(t.Context(), in, &out))
	lines := json.NewDecoder(&out)
	for lines.More() {
		var e worker.Event
		require.NoError(t, lines.Decode(&e))
		events = append(events, e)
	}
	return events
}

func quickCell() record.Cell {
	return record.NewCell("sbm:nodes=90,classes=3", "gin", datasets.Transductive,
		20).With(func(p *hyper.Parameters) { p.Hidden, p.MaxEpochs = 8, 3 })
}

func TestServedTrainingTellsOfEveryEpochAndTrial(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "go")
	cell, folder := quickCell(), t.TempDir()
	request := worker.Request{Train: &worker.Training{Cells: []record.Cell{cell}, Trials: 2, Store: folder}}
	epochs := 0
	var last worker.Trials
	runsOn := worker.Event{Backend: "go, fused kernels"}
	events := served(t, request)
	assert.Equal(t, runsOn, events[0])
	for _, e := range events[1:] {
		if e.Epoch != nil {
			epochs++
			assert.Equal(t, cell.Key(), e.Epoch.Cell)
			assert.Positive(t, e.Epoch.TrainLoss)
		} else {
			last = *e.Trials
		}
	}
	assert.Equal(t, 6, epochs)
	assert.Equal(t, worker.Trials{Done: 2}, last)
	records, err := record.Open(folder).Load()
	require.NoError(t, err)
	assert.Len(t, records, 2)
	assert.Equal(t, []worker.Event{runsOn}, served(t, request), "all are there")
}

func TestServedChecksTellOfEveryModel(t *testing.T) {
	g, err := datasets.Open(t.Context(), "sbm:nodes=60,classes=3", datasets.OpenOptions{})
	require.NoError(t, err)
	var models []string
	for _, e := range served(t, worker.Request{Check: &worker.Check{Graph: g, Root: 5, Hops: 2}}) {
		assert.True(t, e.Theorem.Holds, e.Theorem.Model)
		models = append(models, e.Theorem.Model)
	}
	assert.Equal(t, hyper.Models(), models)
	bare := &datasets.Graph{Name: "bare", Edges: g.Edges, Features: datasets.Features{Rows: 60}}
	assert.Len(t, served(t, worker.Request{Check: &worker.Check{Graph: bare, Root: 5, Hops: 2}}), len(models),
		"without features")
	assert.Empty(t, served(t, worker.Request{Check: &worker.Check{Graph: g, Root: 5}}), "without hops")
}

func TestServingEndsWithItsInput(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "go")
	request, err := json.Marshal(worker.Request{Train: &worker.Training{Cells: []record.Cell{quickCell()}, Trials: 100_000,
		Store: t.TempDir()}})
	require.NoError(t, err)
	assert.EqualError(t, serve(context.Background(), bytes.NewReader(request), io.Discard),
		"interrupted: finished trials are kept")
}

func TestRequestsThatCannotBeAreMisuse(t *testing.T) {
	for text, want := range map[string]string{
		"":               "the request: EOF",
		"{}":             "the request asks for nothing",
		`{"check":{}}`:   "the request has no graph",
		`{"export":{}}`:  "the request names no model",
		`{"explain":{}}`: "the request names no model",
		"hello":          "the request: invalid character 'h' looking for beginning of value",
	} {
		err := serve(t.Context(), strings.NewReader(text), io.Discard)
		var m misuse
		assert.ErrorAs(t, err, &m)
		assert.EqualError(t, err, want)
	}
}
