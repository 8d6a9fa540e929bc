package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

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
	graph := func(edges, rest string) string {
		return `{"check":{"graph":{"Edges":` + edges + `,"Features":{"Rows":2}` + rest
	}
	const edge = `{"Offsets":[0,1,2],"Indices":[1,0]}`
	for text, want := range map[string]string{
		"":                                   "the request: EOF",
		"hello":                              "the request: invalid character 'h' looking for beginning of value",
		"{}":                                 "the request asks for nothing",
		`{"check":{},"explain":{}}`:          "the request asks for 2 things: expected one",
		`{"check":{}}`:                       "the request has no graph",
		`{"explain":{}}`:                     "the request names no model",
		`{"explain":{"model":"a"}}`:          "the request names no graph",
		`{"advise":{}}`:                      "the request names no graph",
		`{"train":{}}`:                       "the request names no store",
		`{"train":{"trials":-1}}`:            "the request asks for -1 trials: expected 0 to 1000000",
		`{"train":{"trials":1000000000000}}`: "the request asks for 1000000000000 trials: expected 0 to 1000000",
		graph(`{}`, "}}}"):                   `graph "": 2 rows of features for 0 nodes`,
		graph(`{"Offsets":[0,1,2],"Indices":[1,2]}`, "}}}"):                          `graph "": `,
		graph(`{"Offsets":[0,9,2],"Indices":[1,0]}`, "}}}"):                          `graph "": `,
		graph(`{"Offsets":[0,1,1],"Indices":[1]}`, "}}}"):                            `graph "": some edge is stored in one direction only`,
		graph(edge, `,"Labels":[0]}}}`):                                              `graph "": 1 labels for 2 nodes`,
		graph(edge, `,"Labels":[0,7]}}}`):                                            `graph "": node 0 has label 0`,
		graph(edge, `,"NodeIDs":["a"]}}}`):                                           `graph "": 1 node names for 2 nodes`,
		`{"check":{"graph":{"Edges":` + edge + `,"Features":{"Rows":3}}}}`:           `graph "": 3 rows of features for 2 nodes`,
		`{"check":{"graph":{"Edges":` + edge + `,"Features":{"Rows":2,"Width":1}}}}`: `graph "": `,
		graph(edge, `},"root":2}}`):                                                  "the request has the root 2: expected 0 to 1",
		graph(edge, `},"root":-1}}`):                                                 "the request has the root -1: expected 0 to 1",
		graph(edge, `},"hops":-1}}`):                                                 "the request has -1 hops: expected 0 to 100",
		graph(edge, `},"hops":1000000}}`):                                            "the request has 1000000 hops: expected 0 to 100",
		graph(edge, `},"mask":[true]}}`):                                             "the request masks 1 nodes of 2",
	} {
		err := serve(t.Context(), strings.NewReader(text), io.Discard)
		var m misuse
		assert.ErrorAs(t, err, &m, text)
		assert.ErrorContains(t, err, want, text)
	}
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
		request := `{"train":{"cells":[` + cell + `],"trials":1,"store":"` + t.TempDir() + `"}}`
		in, asker := io.Pipe()
		go asker.Write([]byte(request + "\n")) //nolint:errcheck // a pipe in memory
		assert.Error(t, serve(t.Context(), in, io.Discard), change)
		asker.Close() //nolint:errcheck // likewise
	}
}

// FuzzServe asks for checks of theorem 1 on any graphs, small ones to the end. Other requests would open any files.
func FuzzServe(f *testing.F) {
	g, err := datasets.Open(f.Context(), "sbm:nodes=40,classes=2,degree=3", datasets.OpenOptions{})
	if err != nil {
		f.Fatal(err)
	}
	request, err := json.Marshal(worker.Request{Check: &worker.Check{Graph: g, Root: 5, Hops: 1, Mask: make([]bool, 40)}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(request)
	f.Add([]byte(`{"check":{"graph":{"Edges":{"Offsets":[0,1,2],"Indices":[1,0]},"Features":{"Rows":2}},"hops":2}}`))
	f.Add([]byte(`{"check":{"graph":{"Edges":{"Offsets":[0,0],"Indices":null},"OneWay":true,"Labels":[0],"Classes":["a"],` +
		`"Features":{"Rows":1,"Width":3,"Offsets":[0,1],"Columns":[2],"Values":[1]}},"hops":1}}`))
	f.Fuzz(func(t *testing.T, request []byte) {
		var r worker.Request
		if json.Unmarshal(request, &r) == nil && r.Sound() == nil && (r.Check == nil || r.Check.Hops > 2 ||
			r.Check.Graph.NumNodes() > 50 || r.Check.Graph.Features.Width > 50) {
			return
		}
		in, asker := io.Pipe()
		go asker.Write(append(request, '\n')) //nolint:errcheck // a pipe in memory
		time.AfterFunc(time.Second, func() { asker.Close() })
		if err := serve(t.Context(), in, io.Discard); err != nil && strings.Contains(err.Error(), "panic") {
			t.Fatal(err)
		}
	})
}
