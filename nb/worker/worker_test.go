package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/internal/checkout"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
	"nodemask/paper/report"
)

func TestCellsArriveAsTheyWereSent(t *testing.T) {
	var cells []record.Cell
	for _, a := range report.Artifacts() {
		cells = append(cells, a.Cells()...)
	}
	odd := record.NewCell("./a folder, \"mine\"", "gat", datasets.Inductive,
		33).Masked(1. / 3).With(func(p *hyper.Parameters) { p.LearningRate, p.KeepRate = 1e-300, 0 })
	odd.Arrivals, odd.Resplit, odd.Cached, odd.History = datasets.TrainEdges, true, true, true
	cells = append(cells, odd)
	sent := Training{Cells: cells, Trials: 3, FirstSeed: 100, Store: "a/b"}
	text, err := json.Marshal(sent)
	require.NoError(t, err)
	var received Training
	require.NoError(t, json.Unmarshal(text, &received))
	require.Equal(t, sent, received)
}

func TestNumbersThatAreNoneBecomeNull(t *testing.T) {
	text, err := json.Marshal([]Number{0.1, Number(math.NaN()), Number(math.Inf(1))})
	require.NoError(t, err)
	assert.Equal(t, "[0.1,null,null]", string(text))
	var back []Number
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, Number(0.1), back[0])
	assert.True(t, math.IsNaN(float64(back[1])) && math.IsNaN(float64(back[2])))
}

func TestTheReasonOfAFailureIsOneLine(t *testing.T) {
	failed := errors.New("exit status 1")
	for said, want := range map[string]string{
		"": "exit status 1",
		"warning: slow\nnodemask: no data set \"corra\"\n":  "no data set \"corra\"",
		"# nodemask/nb\nnb/nb.go:3:1: undefined: x\nmore\n": "nb/nb.go:3:1: undefined: x",
		"\npanic: oh\n\ngoroutine 1 [running]:\n":           "panic: oh",
	} {
		assert.Equal(t, want, reason([]byte(said), failed))
	}
}

// program makes a project whose command nodemask has this main.
func program(t *testing.T, project, body string) {
	t.Helper()
	folder := filepath.Join(project, "cmd", "nodemask")
	require.NoError(t, os.MkdirAll(folder, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(project, "go.mod"), []byte("module nodemask\n\ngo 1.24\n"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "main.go"),
		[]byte("package main\n\nimport (\n\"fmt\"\n\"os\"\n\"os/signal\"\n)\n\nfunc main() {\n"+body+"\n_, _, _ = fmt.Print, "+
			"signal.Stop, os.Exit\n}\n"), 0o666))
}

func TestTheCommandIsNeverOlderThanItsSources(t *testing.T) {
	project := t.TempDir()
	for want := range 2 {
		program(t, project, fmt.Sprintf("fmt.Println(`{\"trials\":{\"done\":%d}}`)", want))
		var both sync.WaitGroup
		for range 2 { // two cells at once
			both.Go(func() {
				var events []Event
				assert.NoError(t, Train(t.Context(), project, Training{}, func(e Event) { events = append(events, e) }))
				assert.Equal(t, []Event{{Trials: &Trials{Done: want}}}, events)
			})
		}
		both.Wait()
	}
}

func TestSetupBuildsTheCommandWithTheFlagsOfACell(t *testing.T) {
	root, err := checkout.Root()
	require.NoError(t, err)
	script, err := os.ReadFile(filepath.Join(root, "scripts", "lab", "setup.sh"))
	require.NoError(t, err)
	// With other flags the first cell would rebuild everything.
	require.Contains(t, string(script), fmt.Sprintf("    %s step \"nodemask cannot be built\" \\\n        "+
		"go run ./scripts/build .nodemask/bin/nodemask ./cmd/nodemask %s\n", goWork, linkFlags))
}

func TestWhatGoesWrongIsSaidInALine(t *testing.T) {
	project := t.TempDir()
	for body, want := range map[string]string{
		"undefined()": "nodemask cannot be built: cmd/nodemask/main.go:10:1: undefined: undefined",
		`fmt.Fprintln(os.Stderr, "nodemask: no\nsuch thing"); os.Exit(1)`:         "no",
		`fmt.Fprintln(os.Stderr, "nodemask: --node 9: no such node"); os.Exit(2)`: "node 9: no such node",
		`panic("oh")`: "panic: oh",
		`os.Exit(3)`:  "exit status 3",
		`fmt.Println("{}"); fmt.Println("hello")`: "nodemask serve-cells: unreadable answer: invalid character 'h' looking " +
			"for beginning of value",
	} {
		program(t, project, body)
		assert.EqualError(t, Train(t.Context(), project, Training{}, func(Event) {}), want, body)
	}
	t.Setenv("PATH", "")
	assert.EqualError(t, Train(t.Context(), project, Training{}, func(Event) {}),
		"nodemask cannot be built: the go command was not found")
}

func TestCancellingInterruptsTheProcessAndWaitsForIt(t *testing.T) {
	project := t.TempDir()
	program(t, project, `c := make(chan os.Signal, 1); signal.Notify(c, os.Interrupt); fmt.Println("{}"); <-c; `+
		`fmt.Println("{\"trials\":{\"done\":7}}")`)
	ctx, cancel := context.WithCancel(t.Context())
	var last Event
	err := Train(ctx, project, Training{}, func(e Event) { last = e; cancel() })
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, Event{Trials: &Trials{Done: 7}}, last, "what it finished is heard of")

	program(t, project, `fmt.Fprintln(os.Stderr, "half way"); fmt.Print(os.Args[1:])`)
	var said string
	out, err := Output(t.Context(), project, func(text string) { said = text }, "a", "b")
	require.NoError(t, err)
	assert.Equal(t, "[a b]", string(out))
	assert.Equal(t, "half way", said)
}

// training, if set, makes the test binary a long training cell that writes to that folder.
const training = "NODEMASK_TEST_STORE"

func TestMain(m *testing.M) {
	folder := os.Getenv(training)
	if folder == "" {
		os.Exit(m.Run())
	}
	project, err := checkout.Root()
	if err != nil {
		panic(err)
	}
	cell := record.NewCell("sbm:nodes=90,classes=3", "gin", datasets.Transductive,
		20).With(func(p *hyper.Parameters) { p.Hidden, p.MaxEpochs = 8, 3 })
	panic(Train(context.Background(), project, Training{Cells: []record.Cell{cell}, Trials: 100_000, Store: folder},
		func(Event) {}))
}

func TestAProcessDoesNotOutliveAKilledCell(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("looks for processes in /proc")
	}
	root, err := checkout.Root()
	require.NoError(t, err)
	// Build first, so that the wait below is short.
	require.NoError(t, build(t.Context(), root, filepath.Join(root, ".nodemask", "bin", "nodemask")))
	folder := t.TempDir()
	mark := training + "=" + folder
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), mark, "GOMLX_BACKEND=go")
	require.NoError(t, c.Start())
	require.Eventually(t, func() bool {
		records, err := record.Open(folder).Load()
		return err == nil && len(records) > 0
	}, time.Minute, 10*time.Millisecond)
	require.Equal(t, 2, processesWith(mark), "the cell, and the process that trains for it")
	require.NoError(t, c.Process.Kill())
	_ = c.Wait()
	require.Eventually(t, func() bool { return processesWith(mark) == 0 }, 10*time.Second, 10*time.Millisecond)
}

func processesWith(entry string) (count int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		environment, err := os.ReadFile(file)
		if err == nil && strings.Contains("\x00"+string(environment), "\x00"+entry+"\x00") {
			count++
		}
	}
	return count
}
