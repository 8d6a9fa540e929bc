package page

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/paper/report"
)

// session returns a pure-Go session on this machine.
func session(t *testing.T) *Session {
	t.Helper()
	b, err := backend.Open("go")
	require.NoError(t, err)
	s := NewSession(b)
	t.Cleanup(s.Close)
	return s
}

func ask(t *testing.T, s *Session, r Request) []Event {
	t.Helper()
	var mutex sync.Mutex
	var all []Event
	s.Handle(t.Context(), r, func(e Event) {
		mutex.Lock()
		defer mutex.Unlock()
		all = append(all, e)
	})
	return all
}

// sameAsHere compares a page's trial with the same trial on this machine.
func sameAsHere(t *testing.T, line string, c Cell, seed uint64) {
	t.Helper()
	_, here := trained(t, session(t), Request{Cell: c, Seed: seed})
	sameTrial(t, here.Record, line)
}

// trained returns all answers to a request to train, and the last one's result.
func trained(t *testing.T, s *Session, r Request) ([]Event, *Trained) {
	t.Helper()
	r.Kind = "train"
	events := ask(t, s, r)
	last := events[len(events)-1]
	require.Equal(t, "trained", last.Kind, last.Error)
	return events, last.Trained
}

// sameTrial compares two records of one trial.
func sameTrial(t *testing.T, line, other string) {
	t.Helper()
	here, err := record.Parse([]byte(line))
	require.NoError(t, err)
	there, err := record.Parse([]byte(other))
	require.NoError(t, err)
	assert.Equal(t, here.Cell, there.Cell)
	assert.Equal(t, here.SplitHash, there.SplitHash)
	assert.Equal(t, here.MacroF1, there.MacroF1)
	assert.Equal(t, here.BestEpoch, there.BestEpoch)
	assert.Equal(t, here.Epochs, there.Epochs)
	assert.InDelta(t, here.Loss, there.Loss, 1e-4)
}

var update = flag.Bool("update", false, "train the run that pages open with anew")

// savedRun is the content of saved.json.
type savedRun struct {
	Seed uint64     `json:"seed"`
	Arms []savedArm `json:"arms"`
}

// savedArm is one trial: its curves, and the masked nodes and predictions of its last epoch.
type savedArm struct {
	Cell       Cell      `json:"cell"`
	Train      []float64 `json:"train"`
	Validation []float64 `json:"validation"`
	F1         []float64 `json:"f1"` // on validation nodes, in percent
	Masked     []int32   `json:"masked,omitempty"`
	Classes    []int32   `json:"classes"`
	Trained    *Trained  `json:"trained"` // without fields that differ between runs
	record     string
}

// run trains an arm from its cell.
func (a *savedArm) run(ctx context.Context, s *Session, seed uint64) error {
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

// short rounds to five digits, as many as a curve shows.
func short(x float64) float64 { return math.Round(x*1e5) / 1e5 }

// defaults are both trials of a page's first choices, trained once for all tests.
var defaults = sync.OnceValues(func() (savedRun, error) {
	// Among the first nine seeds, this one scores nearest to the recorded means.
	run := savedRun{Seed: 6}
	b, err := backend.Open("go")
	if err != nil {
		return run, err
	}
	s := NewSession(b)
	defer s.Close()
	for _, keep := range []string{"1", "0.5"} {
		arm := savedArm{Cell: Cell{Data: "cora", Model: "gin", Setting: "inductive", TrainPercent: 50,
			Choices: map[string]string{"keep": keep, "layers": "2"}}}
		if err := arm.run(context.Background(), s, run.Seed); err != nil {
			return run, err
		}
		run.Arms = append(run.Arms, arm)
	}
	return run, nil
})

func TestTheRunThatAPageOpensWithIsWhatTrainingGives(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: trains for seconds")
	}
	run, err := defaults()
	require.NoError(t, err)
	text, err := json.Marshal(run)
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile("saved.json", append(text, '\n'), 0o644))
		return
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("skipped: the last digits of sums differ from those of x86-64")
	}
	require.True(t, string(text)+"\n" == string(saved),
		"the digits differ; 'go test ./page -update' trains it anew")
}

func smallCell(keep string) Cell {
	return Cell{Data: "sbm:nodes=120,classes=3,degree=6,seed=1", Model: "gin", Setting: "inductive", TrainPercent: 50,
		Choices: map[string]string{"keep": keep, "hidden": "8", "epochs": "12"}}
}

func TestEachEpochTellsMasksAndPredictions(t *testing.T) {
	s := session(t)
	events, done := trained(t, s, Request{ID: 7, Cell: smallCell("0.5"), Seed: 3, Watch: true})
	require.Len(t, events, 13)
	for i, e := range events[:12] {
		assert.Equal(t, 7, e.ID)
		assert.Equal(t, "epoch", e.Kind)
		assert.Equal(t, i+1, e.Epoch)
		assert.Positive(t, e.TrainLoss)
		assert.InDelta(t, 30, len(e.Masked), 20, "about half of the 60 train nodes")
		require.Len(t, e.Classes, 120)
	}
	assert.NotEqual(t, events[0].Masked, events[1].Masked)
	one, err := record.Parse([]byte(done.Record))
	require.NoError(t, err)
	assert.Equal(t, one.Cell, done.Key)
	assert.Equal(t, one.MacroF1, done.F1)
	total := 0
	for _, row := range done.Confusion {
		for _, n := range row {
			total += n
		}
	}
	assert.Equal(t, 54, total, "test nodes: 120 less 60 to train on and 6 to validate with")

	// Watching changes no number.
	events, again := trained(t, s, Request{ID: 8, Cell: smallCell("0.5"), Seed: 3})
	assert.Equal(t, done.F1, again.F1)
	assert.Empty(t, events[0].Masked)
	unmasked, _ := trained(t, s, Request{ID: 9, Cell: smallCell("1"), Seed: 3, Watch: true})
	assert.Empty(t, unmasked[0].Masked)
	require.Len(t, unmasked[0].Classes, 120)
}

func TestRunsAreComparedWithTheirUnmaskedTwins(t *testing.T) {
	s := session(t)
	var lines []string
	for _, keep := range []string{"1", "0.5"} {
		for seed := uint64(1); seed <= 3; seed++ {
			_, one := trained(t, s, Request{Cell: smallCell(keep), Seed: seed})
			lines = append(lines, one.Record)
		}
	}
	answer := ask(t, s, Request{Kind: "compare", Records: lines})
	require.Equal(t, "compared", answer[0].Kind, answer[0].Error)
	rows := answer[0].Rows
	require.Len(t, rows, 2)
	assert.Equal(t, 3, rows[0].Trials)
	assert.Nil(t, rows[0].P)
	require.NotNil(t, rows[1].P)
	assert.Equal(t, 3, rows[1].Pairs)
	assert.InDelta(t, rows[1].Mean-rows[0].Mean, *rows[1].Difference, 1e-9)
	assert.Equal(t, "GIN, hidden 8, epochs 12", rows[0].Label)
	assert.Equal(t, "GIN + NM, hidden 8, epochs 12", rows[1].Label)
	other := smallCell("0.5")
	other.Choices["mlp"], other.Choices["norm"] = "1", "none"
	_, one := trained(t, s, Request{Cell: other, Seed: 1})
	assert.Equal(t, "GIN + NM, hidden 8, mlp 1, norm none, epochs 12", one.Label, "what the tables do not have is said")
	broken := ask(t, s, Request{Kind: "compare", Records: []string{`{"luck":1}`}})
	assert.Contains(t, broken[0].Error, "line 1: ")
}

func TestWhatCannotBeIsSaidInWords(t *testing.T) {
	s := session(t)
	onCora := func(model string, setting datasets.Setting, percent int, choices map[string]string) Request {
		return Request{Kind: "train", Seed: 1, Cell: Cell{Data: "cora", Model: model, Setting: setting, TrainPercent: percent,
			Choices: choices}}
	}
	for want, r := range map[string]Request{
		`a request of kind "dance"`:          {Kind: "dance"},
		`no data "/etc/passwd" on this page`: {Kind: "open", Data: "/etc/passwd"},
		"expected one .npz, .graphml, .json or .pt file, nodes.csv": {Kind: "open", Data: "own:cat.jpg",
			Files: map[string][]byte{"cat.jpg": {1}}},
		"node 99999: expected 0 to 2707":    {Kind: "tree", Data: "cora", Root: 99999, Hops: 2},
		`no model "gim"`:                    onCora("gim", "inductive", 10, nil),
		"0 % to train on: expected 1 to 99": onCora("gin", "inductive", 0, nil),
		"expected names of axes":            onCora("gin", "inductive", 10, map[string]string{"luck": "1"}),
		`setting "deductive"`:               onCora("gin", "deductive", 10, nil),
		"seed 0: expected 1 or more":        {Kind: "train", Cell: smallCell("1")},
	} {
		events := ask(t, s, r)
		require.Len(t, events, 1)
		assert.Equal(t, "failed", events[0].Kind)
		assert.Contains(t, events[0].Error, want)
	}
}

func TestAStoppedTrialEndsAndTheNextOneRuns(t *testing.T) {
	s := session(t)
	long := smallCell("0.5")
	long.Choices["epochs"], long.Choices["patience"] = "100000", "100000"
	var kinds []string
	s.Handle(t.Context(), Request{ID: 1, Kind: "train", Cell: long, Seed: 1}, func(e Event) {
		kinds = append(kinds, e.Kind)
		if e.Epoch == 3 {
			s.Handle(t.Context(), Request{ID: 2, Kind: "stop", Stop: 1}, func(Event) {})
		}
	})
	assert.Equal(t, []string{"epoch", "epoch", "epoch", "stopped"}, kinds)
	trained(t, s, Request{ID: 3, Cell: smallCell("1"), Seed: 1})
	assert.Equal(t, "stopped", ask(t, s, Request{ID: 4, Kind: "stop", Stop: 99})[0].Kind, "there is nothing to stop")
}

func TestAGraphOfOnesOwnIsOpenedDrawnAndTrainedOn(t *testing.T) {
	s := session(t)
	files := map[string][]byte{"nodes.csv": []byte("id,label,x,z\n"), "edges.csv": []byte("source,target\n")}
	for v := range 60 {
		files["nodes.csv"] = fmt.Appendf(files["nodes.csv"], "n%d,%c,%d,1\n", v, "ab"[v%2], v%2)
	}
	for v := range 58 {
		files["edges.csv"] = fmt.Appendf(files["edges.csv"], "n%d,n%d\n", v, v+2)
	}
	opened := ask(t, s, Request{Kind: "open", Data: "own:x", Files: files})
	require.Equal(t, "opened", opened[0].Kind, opened[0].Error)
	assert.Equal(t, Graph{Name: "own:x", Nodes: 60, Edges: 58, Features: 2, Classes: []string{"a", "b"}}, *opened[0].Graph)
	tree := ask(t, s, Request{Kind: "tree", Data: "own:x", Root: 5, Hops: 2})
	require.Equal(t, "tree", tree[0].Kind, tree[0].Error)
	text, err := json.Marshal(tree[0].Tree)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"classes":["a","b"]`)
	_, one := trained(t, s, Request{Seed: 1, Cell: Cell{Data: "own:x", Model: "gin", Setting: "transductive",
		TrainPercent: 50, Choices: map[string]string{"hidden": "8", "epochs": "5"}}})
	_, err = record.Parse([]byte(one.Record))
	require.NoError(t, err)
}

func TestAGraphWithoutClassesIsLookedAtAndNotTrainedOn(t *testing.T) {
	s := session(t)
	opened := ask(t, s, Request{Kind: "open", Data: "own:friends",
		Files: map[string][]byte{"friends.txt": []byte("ann bob\nbob cleo\n")}})
	require.Equal(t, "opened", opened[0].Kind, opened[0].Error)
	assert.Equal(t, Graph{Name: "friends", Nodes: 3, Edges: 2}, *opened[0].Graph)
	tree := ask(t, s, Request{Kind: "tree", Data: "own:friends", Root: 1, Hops: 2})
	require.Equal(t, "tree", tree[0].Kind, tree[0].Error)
	text, err := json.Marshal(tree[0].Tree)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"cleo"`)
	refused := ask(t, s, Request{Kind: "train", Seed: 1, Cell: Cell{Data: "own:friends", Model: "gin",
		Setting: "transductive", TrainPercent: 50}})
	assert.Equal(t, "friends can be looked at, but not trained on: number of classes: 0, expected at least two to tell apart",
		refused[0].Error)
	without := ask(t, s, Request{Kind: "open", Data: "own:net",
		Files: map[string][]byte{"net.graphml": []byte(`<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/>` +
			`<edge source="a" target="b"/></graph></graphml>`)}})
	require.Equal(t, "opened", without[0].Kind, without[0].Error)
	assert.Equal(t, 2, without[0].Graph.Nodes)
	drawn := ask(t, s, Request{Kind: "tree", Data: "own:net", Root: 0, Hops: 2})
	require.Equal(t, "tree", drawn[0].Kind, drawn[0].Error)
	broken := ask(t, s, Request{Kind: "open", Data: "own:x", Files: map[string][]byte{"x.txt": []byte("a b\na\n")}})
	assert.Contains(t, broken[0].Error, `x.txt: line 2: found "a": expected two ids`)
}

func TestEveryChoiceMakesTheCellOfItsReading(t *testing.T) {
	all, err := axes()
	require.NoError(t, err)
	for model, known := range all {
		for i, axis := range known {
			for k, option := range axis.Options {
				keep, arm := "1", judge.Plain
				if axis.Masked {
					keep, arm = "0.5", judge.Masked
				}
				// All axes but this one at their first option: the cell of that reading.
				reading := make(judge.Reading, len(known))
				reading[i] = k
				want, err := reading.Cell(known, arm, "cora", model, datasets.Inductive, 10)
				require.NoError(t, err)
				chosen := map[string]string{"keep": keep, "resplit": "true"}
				for j, other := range known {
					if other.Masked && arm != judge.Masked || other.Plain && arm != judge.Plain ||
						other.Setting != "" && other.Setting != "inductive" {
						continue
					}
					for name, value := range other.Options[reading[j]].Choices {
						chosen[name] = value
					}
				}
				got, err := Cell{Data: "cora", Model: model, Setting: datasets.Inductive, TrainPercent: 10, Choices: chosen}.Cell()
				require.NoError(t, err, "%s: %s", axis.Name, option.Name)
				require.Equal(t, want.Key(), got.Key())
			}
		}
	}
}

// cellOf returns the cell that a table or figure names.
func cellOf(t *testing.T, text string) record.Cell {
	var chosen Cell
	require.NoError(t, json.Unmarshal([]byte(text), &chosen))
	c, err := chosen.Cell()
	require.NoError(t, err)
	return c
}

func TestEveryEntryOfATableSaysWhichCellItIs(t *testing.T) {
	seen := 0
	for _, a := range report.Artifacts() {
		if a.IsChart() || a.Tuned {
			continue
		}
		keys := map[string]bool{}
		for _, c := range a.Cells() {
			keys[c.Key()] = true
		}
		for _, row := range a.Table(record.NewResults(nil)).Rows {
			for _, field := range row {
				if field.Cell == "" {
					continue
				}
				c := cellOf(t, field.Cell)
				require.True(t, keys[c.Key()], "%s is no cell of %s", c.Key(), a.ID)
				seen++
			}
		}
	}
	require.Greater(t, seen, 300)
}

func TestEveryPointOfAFigureSaysWhichCellItIs(t *testing.T) {
	records := report.Open("../results").Records
	seen := map[string]int{}
	for _, a := range report.Artifacts() {
		keys := map[string]bool{}
		for _, c := range a.Cells() {
			keys[c.Trained().Key()] = true
		}
		for _, chart := range a.Charts(records) {
			places, err := chart.Places()
			require.NoError(t, err)
			for _, place := range places {
				c := cellOf(t, place.Cell)
				require.True(t, keys[c.Trained().Key()], "%s is no cell of %s", c.Key(), a.ID)
				seen[a.ID]++
			}
		}
	}
	require.Equal(t, 4, seen["fig-loss-cora"], "a button a line, plain and masked in two settings")
	require.Greater(t, seen["fig-keep-rate-gin"], 15)
	require.Greater(t, seen["fig-depth"], 30)
}

func TestManyTrialsInARowTakeNoMoreMemory(t *testing.T) {
	s := session(t)
	held := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	train := func(from, to int) {
		for seed := from; seed <= to; seed++ {
			cell := smallCell([]string{"1", "0.5"}[seed%2])
			cell.Choices["layers"] = strconv.Itoa(1 + seed%3) // needs another program
			trained(t, s, Request{Cell: cell, Seed: uint64(seed), Watch: true})
		}
	}
	train(1, 50)
	before := held()
	train(51, 200)
	require.Less(t, held(), before*1.2+1<<20)
}
