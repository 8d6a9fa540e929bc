package measure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

// tiny cells train in an instant.
func tiny() []record.Cell {
	quick := func(p *hyper.Parameters) { p.Hidden, p.MaxEpochs = 8, 4 }
	plain := record.NewCell("sbm", "gin", datasets.Inductive, 20).With(quick)
	plain.Cached = true
	history := record.NewCell("sbm", "gin", datasets.Transductive, 20).With(quick)
	history.History = true
	return []record.Cell{plain, plain.Masked(0.5), history}
}

// tinyOptions count how often data are opened.
func tinyOptions() (o Options, opened *atomic.Int32) {
	opened = new(atomic.Int32)
	return Options{Seeds: hyper.Seeds(1, 3), Jobs: 2,
		Open: func(ctx context.Context, data string) (*datasets.Graph, error) {
			opened.Add(1)
			return datasets.Open(ctx, "sbm:nodes=120,classes=3", datasets.OpenOptions{})
		}}, opened
}

func loaded(t *testing.T, store *record.Store) []record.Record {
	t.Helper()
	records, err := store.Load()
	require.NoError(t, err)
	return records
}

func openGo(t *testing.T) *backend.Backend {
	b, err := backend.Open("go")
	require.NoError(t, err)
	return b
}

func TestWhatIsMissingIsRunAndOnlyThat(t *testing.T) {
	b, store := openGo(t), record.Open(t.TempDir())
	o, opened := tinyOptions()
	var states []State
	begun := 0
	o.Progress = func(s State) {
		if s.Last != nil {
			states = append(states, s)
		} else if begun++; begun == 1 {
			require.Zero(t, s.Done, "the first trial is heard of when it begins")
		}
	}
	require.NoError(t, Missing(t.Context(), b, store, tiny(), o))
	require.Equal(t, 9, begun)
	require.EqualValues(t, 1, opened.Load(), "a data set is opened once")
	require.Len(t, states, 9)
	require.Equal(t, 9, states[8].Done)
	records := loaded(t, store)
	require.Len(t, records, 9)
	results := record.NewResults(records)
	for _, c := range tiny() {
		trials := results.Trials(c)
		require.Len(t, trials, 3, c.Key())
		for i, r := range trials {
			require.EqualValues(t, i+1, r.Seed)
			require.Equal(t, c.Cached, r.MacroF1Together != nil)
			require.Equal(t, c.Cached, r.MacroF1Apart != nil)
			require.Equal(t, c.History, len(r.ValidationLosses) == r.Epochs)
			require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`, r.Date)
			require.NotRegexp(t, `(^|[ (:])/`, r.Source+" "+r.Device, "no path of this machine")
		}
	}
	// Complete: nothing runs, and no data are opened.
	states = nil
	require.NoError(t, Missing(t.Context(), b, store, tiny(), o))
	require.Empty(t, states)
	require.EqualValues(t, 1, opened.Load())
	o.Seeds = hyper.Seeds(1, 4)
	require.NoError(t, Missing(t.Context(), b, store, tiny(), o))
	require.Len(t, states, 3)

	for _, old := range records[:2] {
		differences, err := Again(t.Context(), b, o.Open, old, 1<<40)
		require.NoError(t, err)
		require.Empty(t, differences)
		old.MacroF1 += 5
		differences, err = Again(t.Context(), b, o.Open, old, 1<<40)
		require.NoError(t, err)
		require.Len(t, differences, 1)
	}
	// A record from before 0.4.0 has only the score apart.
	old := results.Trials(tiny()[0])[0]
	old.MacroF1Together = nil
	differences, err := Again(t.Context(), b, o.Open, old, 1<<40)
	require.NoError(t, err)
	require.Empty(t, differences)
	other := *old.MacroF1Apart + 1
	old.MacroF1Apart = &other
	differences, err = Again(t.Context(), b, o.Open, old, 1<<40)
	require.NoError(t, err)
	require.Len(t, differences, 1)
	require.Contains(t, differences[0], "macro F1 with caching, apart: ")
}

func TestAnInterruptedRunKeepsWhatIsFinished(t *testing.T) {
	b, store := openGo(t), record.Open(t.TempDir())
	o, _ := tinyOptions()
	o.Jobs = 1
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(s State) {
		if s.Done == 2 {
			cancel()
		}
	}
	require.ErrorIs(t, Missing(ctx, b, store, tiny(), o), context.Canceled)
	records := loaded(t, store)
	require.Len(t, records, 2)
	require.NotEqual(t, records[0].Cell, records[1].Cell, "the first trial of each cell comes first")
	o.Progress = nil
	require.NoError(t, Missing(t.Context(), b, store, tiny(), o))
	records = loaded(t, store)
	require.Len(t, records, 9)
}

// measureFolder, if set, makes the test binary measure into that folder.
const measureFolder = "NODEMASK_TEST_MEASURE"

func TestMain(m *testing.M) {
	folder := os.Getenv(measureFolder)
	if folder == "" {
		os.Exit(m.Run())
	}
	b, err := backend.Open("go")
	if err == nil {
		o, _ := tinyOptions()
		o.Seeds = hyper.Seeds(1, 6)
		err = Missing(context.Background(), b, record.Open(folder), tiny(), o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func measuring(t *testing.T, folder string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), measureFolder+"="+folder)
	c.Stderr = os.Stderr
	require.NoError(t, c.Start())
	return c
}

// linesOf returns the stored lines without fields that differ between runs.
func linesOf(t *testing.T, folder string) []string {
	t.Helper()
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	var all []string
	for _, file := range files {
		if filepath.Ext(file.Name()) != ".jsonl" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, file.Name()))
		require.NoError(t, err)
		for line := range bytes.Lines(text) {
			r, err := record.Parse(line)
			require.NoError(t, err)
			r.Seconds, r.Date = 0, ""
			line, err := record.Line(r)
			require.NoError(t, err)
			all = append(all, string(line))
		}
	}
	slices.Sort(all)
	return all
}

func TestKilledAndResumedRunsGiveTheSameRecords(t *testing.T) {
	undisturbed, killed := t.TempDir(), t.TempDir()
	begin := time.Now()
	require.NoError(t, measuring(t, undisturbed).Wait())
	took := time.Since(begin)
	want := linesOf(t, undisturbed)
	require.Len(t, want, 18)
	r := rand.New(rand.NewPCG(1, 1))
	for kills := 0; kills < 20; {
		c := measuring(t, killed)
		timer := time.AfterFunc(time.Duration(r.Float64()*float64(took)), func() { _ = c.Process.Kill() })
		if c.Wait() != nil {
			kills++
			continue
		}
		timer.Stop()
		require.Equal(t, want, linesOf(t, killed))
		killed = t.TempDir() // the next runs need work again
	}
	require.NoError(t, measuring(t, killed).Wait())
	require.Equal(t, want, linesOf(t, killed))
}

func TestProcessesOnOneFolderNeverAddATrialTwice(t *testing.T) {
	folder := t.TempDir()
	processes := []*exec.Cmd{measuring(t, folder), measuring(t, folder), measuring(t, folder)}
	for _, c := range processes {
		require.NoError(t, c.Wait())
	}
	lines := linesOf(t, folder)
	require.Len(t, lines, 18)
	require.Len(t, slices.Compact(lines), 18)
}

func TestBackendsOfRecordsAreThoseThatThereAre(t *testing.T) {
	require.Equal(t, backend.IDs(), record.Backends())
}

func TestDataThatCannotBeOpenedAreNamedBeforeTheFirstTrial(t *testing.T) {
	b, store := openGo(t), record.Open(t.TempDir())
	o, opened := tinyOptions()
	sbm := o.Open
	o.Open = func(ctx context.Context, data string) (*datasets.Graph, error) {
		if data != "sbm" {
			opened.Add(1)
			return nil, errors.New(data + ": not on this machine")
		}
		return sbm(ctx, data)
	}
	cells := tiny()
	for i, data := range []string{"far", "far", "away"} {
		cells[i].Data = data
	}
	o.Progress = func(State) { t.Error("a trial was run") }
	require.EqualError(t, Missing(t.Context(), b, store, append(cells, tiny()...), o),
		"far: not on this machine\naway: not on this machine")
	require.EqualValues(t, 3, opened.Load(), "each is tried once")

	// Cancelling while data are opened is no fault of theirs.
	ctx, cancel := context.WithCancel(t.Context())
	o.Open = func(context.Context, string) (*datasets.Graph, error) { cancel(); return nil, errors.New("far") }
	require.Equal(t, context.Canceled, Missing(ctx, b, store, cells, o))
}
