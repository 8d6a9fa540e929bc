package nb

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nb/internal/notebook"
	"nodemask/nb/worker"
	"nodemask/nmgnn/hyper"
	"nodemask/paper"
	"nodemask/paper/record"
	"nodemask/plots"
)

func TestACellThatShowsThingsLinksNeitherGoMLXNorC(t *testing.T) {
	slow := func(pkg string) []string {
		// As the kernel builds.
		c := exec.Command("go", "list", "-deps", "-tags=netgo,osusergo", "-f", "{{.ImportPath}}{{if .CgoFiles}} in C{{end}}",
			pkg)
		c.Env = append(os.Environ(), "CGO_ENABLED=1")
		out, err := c.Output()
		require.NoError(t, err)
		return slices.DeleteFunc(strings.Split(string(out), "\n"), func(dependency string) bool {
			return !strings.HasPrefix(dependency, "github.com/gomlx/") && !strings.HasSuffix(dependency, " in C")
		})
	}
	assert.Empty(t, slow("nodemask/nb"))
	trains := slow("nodemask/nb/incell")
	assert.Contains(t, trains, "github.com/gomlx/gomlx/core/graph", "or this test sees nothing")
	assert.Contains(t, trains, "runtime/cgo in C", "or this test sees nothing")
}

func TestSmallNotebooksRunOneTrial(t *testing.T) {
	for value, want := range map[string]int{"": 3, "0": 3, "1": 1} {
		t.Setenv("NODEMASK_SMALL", value)
		assert.Equal(t, want, UpTo(3), "NODEMASK_SMALL=%s", value)
	}
}

func TestLabelsAndTitlesSayWhatDiffersAndIsShared(t *testing.T) {
	gin := paper.Cell("cora", "gin", datasets.Inductive, 10)
	assert.Equal(t, "GIN + NM", Label(paper.Masked(gin, 0.5)))
	assert.Equal(t, "GIN + NM, p = 0.9", Label(paper.Masked(gin, 0.9)))
	assert.Equal(t, "GIN + NM, preset", Label(record.NewCell("cora", "gin", datasets.Inductive, 10).Masked(0.5)))
	other := record.NewCell("pubmed", "gin", datasets.Transductive, 20)
	assert.Equal(t, "cora, inductive, 10 % to train on", titleOf([]record.Cell{gin, gin.Masked(0.5)}))
	assert.Equal(t, "several data sets, both settings, several sizes", titleOf([]record.Cell{gin, other}))
}

func TestComparisonsShowHereRecordedAndPaper(t *testing.T) {
	cell := paper.Cell("cora", "gin", datasets.Transductive, 10)
	trial := func(seed uint64, f1 float64) record.Record {
		return record.Record{Cell: cell.Key(), Backend: "go", Seed: seed, MacroF1: f1}
	}
	live := record.NewResults([]record.Record{trial(1, 79)})
	recorded := record.NewResults([]record.Record{trial(1, 78), trial(2, 80)})
	table := compareTable(live, recorded, cell, paper.Masked(cell, 0.3))
	assert.Equal(t, [][]string{
		{"GIN", "transductive", "10 %", "79.00 (1)", "79.00 ± 1.41 (2)", "77.95"},
		{"GIN + NM, p = 0.3", "transductive", "10 %", "–", "–", "–"},
	}, textOf(table))
}

func TestLinesOverSizesHaveBandsFromThreeTrialsOn(t *testing.T) {
	gat := paper.Cell("cora", "gat", datasets.Inductive, 10)
	var records []record.Record
	add := func(c record.Cell, size int, f1 ...float64) {
		c.TrainPercent = size
		for i, x := range f1 {
			records = append(records, record.Record{Cell: c.Key(), Backend: "go", Seed: uint64(i + 1), MacroF1: x})
		}
	}
	add(gat, 10, 40, 42, 44)
	add(gat, 50, 70, 72)
	add(gat.Fair(), 10, 50)
	c := overSizes(record.NewResults(records), gat, gat.Fair(), paper.Masked(gat, 0.5))
	require.NoError(t, c.Check())
	var names []string
	for _, s := range c.Series {
		names = append(names, s.Name)
	}
	assert.Equal(t, []string{"GAT", "GAT, paper", "GAT, attention dropout 0"}, names, "nothing is recorded with masking")
	assert.Equal(t, []float64{10, 50}, c.Series[0].X)
	assert.Equal(t, []float64{42, 71}, c.Series[0].Y)
	assert.Less(t, c.Series[0].Low[0], 40.0)
	assert.Equal(t, 71.0, c.Series[0].Low[1], "two trials have no band")
	assert.True(t, c.Series[1].Reference)
	assert.Equal(t, "Cora, inductive, over the size of the train set", c.Title)
}

func TestSourceIsATypeWithMethodsOrAFunction(t *testing.T) {
	text := printed(t, func() { Source("nmgnn", "GIN", "GIN.Forward") })
	assert.Contains(t, text, "```go\n// GIN is the masked ")
	assert.Contains(t, text, "z = near.rooted(z, b, mask)")
	assert.Equal(t, 2, strings.Count(text, "```go\n"))
}

func printed(t *testing.T, show func()) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	old := os.Stdout
	os.Stdout = file
	defer func() { os.Stdout = old }()
	show()
	text, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	return string(text)
}

func quickCell() record.Cell {
	return record.NewCell("sbm:nodes=90,classes=3", "gin", datasets.Transductive, 20).
		With(func(s *hyper.Parameters) { s.Hidden, s.MaxEpochs = 8, 3 })
}

func TestTrainedTrialsAreKeptAndNotRunAgain(t *testing.T) {
	t.Setenv("NODEMASK_LIVE", t.TempDir())
	t.Setenv("GOMLX_BACKEND", "go")
	cell := quickCell()
	assert.Contains(t, printed(t, func() { Train(2, cell) }), "2 of 2 trials run in ")
	text := printed(t, func() { Train(2, cell) })
	assert.Contains(t, text, "All trials (2) were run before.")
	assert.Contains(t, text, "**GIN, seed 2 collapsed**: macro F1 on validation nodes is 14.8 %, and one class for every node "+
		"has 16.7 %. Try `Norm: hyper.NormBoth`, or `NormalizeFeatures: false`, or a `LearningRate` below 0.01.")
	require.Len(t, Live().Trials(cell), 2)
	last := Live().Trials(cell)[1]
	assert.NotEmpty(t, last.TrainLosses, "to be shown where nothing is run again")
	assert.NotEmpty(t, last.ValidationLosses)
	// One of three trials is left to run.
	ran, err := trainInto(t.Context(), notebook.NewProgress("a test", 0), map[string]string{},
		worker.Training{Cells: []record.Cell{cell}, Trials: 3})
	require.NoError(t, err)
	assert.Equal(t, 1, ran)
	assert.Contains(t, printed(t, func() { Train(3, cell) }), "were run before.")
	text = printed(t, func() { Again(2, cell) })
	assert.Contains(t, text, "All trials (1) were run before.")
	assert.Regexp(t, `│ GIN  │  \d\d\.\d{4} │        – │`, text)
}

// trainUntilStopped, if set, makes the test binary a long training cell.
const trainUntilStopped = "NODEMASK_TEST_TRAIN"

func TestMain(m *testing.M) {
	if os.Getenv(trainUntilStopped) == "" {
		os.Exit(m.Run())
	}
	Train(10_000, quickCell())
}

func TestTheStopButtonEndsTrainingAndKeepsFinishedTrials(t *testing.T) {
	folder := t.TempDir()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), trainUntilStopped+"=1", "NODEMASK_LIVE="+folder, "GOMLX_BACKEND=go")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	require.NoError(t, c.Start())
	store := record.Open(folder)
	require.Eventually(t, func() bool {
		records, err := store.Load()
		return err == nil && len(records) >= 2
	}, time.Minute, time.Millisecond)
	require.NoError(t, c.Process.Signal(os.Interrupt)) // what gonb sends
	require.NoError(t, c.Wait(), "%s", out.String())
	records, err := store.Load()
	require.NoError(t, err)
	assert.Contains(t, out.String(), fmt.Sprintf("Stopped after %d of 10000 trials. What is finished is kept: run the "+
		"cell again to go on.\n", len(records)))
	assert.Less(t, len(records), 10_000)
}

func TestTheTheoryOfATreeIsChecked(t *testing.T) {
	g := Data("cora")
	text := printed(t, func() { CheckTree(g, 5, 2, 3) })
	assert.Contains(t, text, "the 2-aggregation tree of node 5 is right: 15 nodes; its paths are the graph's walks, and "+
		"lemmas 1 and 2 hold")
	assert.Contains(t, text, "theorem 1 holds: untrained networks of 2 layers (gin, ")
	assert.Equal(t, []string{"5", "13966"}, []string{idOf(g, 5), idOf(g, 35)})
	text = printed(t, func() { TreeSizes(g, 5, 2) })
	assert.Contains(t, text, "│    15 │")
	text = printed(t, func() { Twins(g, 1, false) })
	assert.Contains(t, text, "nodes with a twin")
}

func textOf(t plots.Table) (rows [][]string) {
	for _, row := range t.Rows {
		var cells []string
		for _, field := range row {
			cells = append(cells, field.Text)
		}
		rows = append(rows, cells)
	}
	return rows
}
