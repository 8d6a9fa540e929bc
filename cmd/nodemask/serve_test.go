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
func served(t *testing.T, r worker.Training) (events []worker.Event) {
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
	request := worker.Training{Cells: []record.Cell{cell}, Trials: 2, Store: folder}
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

func TestServingEndsWithItsInput(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "go")
	request, err := json.Marshal(worker.Training{Cells: []record.Cell{quickCell()}, Trials: 100_000, Store: t.TempDir()})
	require.NoError(t, err)
	assert.ErrorContains(t, serve(context.Background(), bytes.NewReader(request), io.Discard),
		"interrupted: finished trials are kept")
}

func TestCellsThatCannotBeTrainedAreErrors(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "go")
	sound, err := json.Marshal(quickCell())
	require.NoError(t, err)
	for _, change := range [][2]string{{`"gin"`, `"gun"`}, {`"gin"`, `""`}, {`"sbm:nodes=90,classes=3"`, `""`},
		{`"sbm:nodes=90,classes=3"`, `"sbm:nodes=-1"`}, {`:8,`, `:-8,`}, {`:20,`, `:-20,`}, {`:20,`, `:200,`}, {`:3,`, `:-3,`}} {
		cell := strings.Replace(string(sound), change[0], change[1], 1)
		if !assert.NotEqual(t, string(sound), cell, change) {
			continue
		}
		request := `{"cells":[` + cell + `],"trials":1,"store":"` + t.TempDir() + `"}`
		in, asker := io.Pipe()
		go asker.Write([]byte(request + "\n")) //nolint:errcheck // a pipe in memory
		assert.Error(t, serve(t.Context(), in, io.Discard), change)
		asker.Close() //nolint:errcheck // likewise
	}
}
