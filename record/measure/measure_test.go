package measure

import (
	"context"
	"fmt"
	"io/fs"
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
)

// tiny is an artifact on a generated graph, with three cells that train in an instant.
func tiny() Artifact {
	quick := func(s *hyper.Parameters) { s.Hidden, s.MaxEpochs = 8, 4 }
	plain := NewCell("sbm", "gin", datasets.Inductive, 20).With(quick)
	plain.Cached = true
	history := NewCell("sbm", "gin", datasets.Transductive, 20).With(quick)
	history.History = true
	masked := plain.Masked(0.5)
	return Artifact{ID: "tiny", Labels: []string{"train"}, Columns: []string{"GIN", "GIN + NM"},
		Rows:   []Row{{Labels: []string{"20 %"}, Entries: []Entry{{Cell: plain, Metric: MacroF1}, {Cell: masked, Metric: MacroF1Cached, Against: &plain}}}},
		Curves: []Curve{{Name: "validation", Losses: &history, Validation: true}}}
}

func tinyOptions(opened *atomic.Int32) Options {
	return Options{Trials: 3, Jobs: 2, Now: func() time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC) },
		Open: func(ctx context.Context, data string) (*datasets.Graph, error) {
			opened.Add(1)
			return datasets.Open(ctx, "sbm:nodes=120,classes=3", datasets.OpenOptions{})
		}}
}

func openGo(t *testing.T) *backend.Backend {
	b, err := backend.Open("go")
	require.NoError(t, err)
	return b
}

func TestReproducingRunsWhatIsMissingAndOnlyThat(t *testing.T) {
	b, store := openGo(t), OpenStore(t.TempDir())
	var opened atomic.Int32
	o := tinyOptions(&opened)
	var states []State
	o.Progress = func(s State) {
		if s.Last != nil {
			states = append(states, s)
		}
	}
	require.NoError(t, Reproduce(t.Context(), b, store, []Artifact{tiny()}, o))
	require.EqualValues(t, 1, opened.Load(), "a data set is opened once")
	require.Len(t, states, 9)
	require.Equal(t, 9, states[8].Done)
	records, err := store.Load()
	require.NoError(t, err)
	require.Len(t, records, 9)
	results := NewResults(records)
	for _, c := range tiny().Cells() {
		trials := results.Trials(c)
		require.Len(t, trials, 3, c.Key())
		for i, r := range trials {
			require.EqualValues(t, i+1, r.Seed)
			require.Equal(t, c.Cached, r.MacroF1Cached != nil)
			require.Equal(t, c.History, len(r.ValidationLosses) == r.Epochs)
			require.Equal(t, "2026-11-21T10:00:00Z", r.Date)
			require.NotRegexp(t, `(^|[ (:])/`, r.Source+" "+r.Device, "no path of this machine")
		}
	}
	// All there: nothing runs, and no data are opened.
	states = nil
	require.NoError(t, Reproduce(t.Context(), b, store, []Artifact{tiny()}, o))
	require.Empty(t, states)
	require.EqualValues(t, 1, opened.Load())
	// One trial more of each.
	o.Trials = 4
	require.NoError(t, Reproduce(t.Context(), b, store, []Artifact{tiny()}, o))
	require.Len(t, states, 3)

	// And a record says all that it takes to have it again.
	for _, old := range records[:2] {
		again, differences, err := Again(t.Context(), b, o.Open, old)
		require.NoError(t, err)
		require.Empty(t, differences)
		require.True(t, Near(old, again))
		old.MacroF1 += 5
		_, differences, err = Again(t.Context(), b, o.Open, old)
		require.NoError(t, err)
		require.Len(t, differences, 1)
		require.False(t, Near(old, again))
	}
}

func TestAnInterruptedRunKeepsWhatIsFinished(t *testing.T) {
	b, store := openGo(t), OpenStore(t.TempDir())
	var opened atomic.Int32
	o := tinyOptions(&opened)
	o.Jobs = 1
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(s State) {
		if s.Done == 2 {
			cancel()
		}
	}
	require.ErrorIs(t, Reproduce(ctx, b, store, []Artifact{tiny()}, o), context.Canceled)
	records, err := store.Load()
	require.NoError(t, err)
	require.Len(t, records, 2)
	require.NotEqual(t, records[0].Cell, records[1].Cell, "the first trial of each cell comes first")
	o.Progress = nil
	require.NoError(t, Reproduce(t.Context(), b, store, []Artifact{tiny()}, o))
	records, err = store.Load()
	require.NoError(t, err)
	require.Len(t, records, 9)
}

// reproduceFolder, if set, makes the test binary a process that reproduces into that folder.
const reproduceFolder = "NODEMASK_TEST_REPRODUCE"

func TestMain(m *testing.M) {
	folder := os.Getenv(reproduceFolder)
	if folder == "" {
		os.Exit(m.Run())
	}
	b, err := backend.Open("go")
	if err == nil {
		var opened atomic.Int32
		o := tinyOptions(&opened)
		o.Trials = 6
		err = Reproduce(context.Background(), b, OpenStore(folder), []Artifact{tiny()}, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// reproducing starts a process that reproduces into a folder.
func reproducing(t *testing.T, folder string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), reproduceFolder+"="+folder)
	c.Stderr = os.Stderr
	require.NoError(t, c.Start())
	return c
}

// linesOf are all records of a folder as they were written, without what differs from run to run.
func linesOf(t *testing.T, folder string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	require.NoError(t, err)
	var all []string
	for _, path := range paths {
		records, err := readRecords(path)
		require.NoError(t, err)
		for _, r := range records {
			r.Seconds = 0
			line, err := r.Line()
			require.NoError(t, err)
			all = append(all, string(line))
		}
	}
	slices.Sort(all)
	return all
}

func TestKillingAtTwentyRandomMomentsAndResumingGivesTheRecordsOfAnUndisturbedRun(t *testing.T) {
	undisturbed, killed := t.TempDir(), t.TempDir()
	begin := time.Now()
	require.NoError(t, reproducing(t, undisturbed).Wait())
	took := time.Since(begin)
	want := linesOf(t, undisturbed)
	require.Len(t, want, 18)
	r := rand.New(rand.NewPCG(1, 1))
	for kills := 0; kills < 20; {
		c := reproducing(t, killed)
		timer := time.AfterFunc(time.Duration(r.Float64()*float64(took)), func() { _ = c.Process.Kill() })
		if c.Wait() != nil {
			kills++
			continue
		}
		timer.Stop()
		require.Equal(t, want, linesOf(t, killed))
		killed = t.TempDir() // the next ones have work to do again
	}
	require.NoError(t, reproducing(t, killed).Wait())
	require.Equal(t, want, linesOf(t, killed))
}

func TestProcessesOnOneFolderNeverRunATrialTwice(t *testing.T) {
	folder := t.TempDir()
	processes := []*exec.Cmd{reproducing(t, folder), reproducing(t, folder), reproducing(t, folder)}
	for _, c := range processes {
		require.NoError(t, c.Wait())
	}
	lines := linesOf(t, folder)
	require.Len(t, lines, 18)
	require.Len(t, slices.Compact(lines), 18)
	_, err := os.Stat(filepath.Join(folder, claimsFolder))
	require.ErrorIs(t, err, fs.ErrNotExist, "no claims are left")
}

func TestACellThatAnotherHasInHandIsClaimedOnce(t *testing.T) {
	store := OpenStore(t.TempDir())
	first, err := store.claim("cell", "go")
	require.NoError(t, err)
	require.NotNil(t, first)
	second, err := store.claim("cell", "go")
	require.NoError(t, err)
	require.Nil(t, second)
	other, err := store.claim("cell", "xla:cpu")
	require.NoError(t, err)
	require.NotNil(t, other)
	require.NoError(t, first.release())
	second, err = store.claim("cell", "go")
	require.NoError(t, err)
	require.NotNil(t, second)
	require.NoError(t, second.release())
	require.NoError(t, other.release())
}

func TestTrialsOfOneArtifactMeasureWhatOthersNeedOfThem(t *testing.T) {
	// table-gin-cora needs only F1 of this cell; table-scale-cora the F1 from the cache too.
	quick := Artifact{ID: "quick"}
	cell := NewCell("cora", "gin", datasets.Inductive, 10)
	quick.Rows = []Row{{Entries: []Entry{{Cell: cell, Metric: MacroF1}}}}
	var opened atomic.Int32
	o := tinyOptions(&opened)
	o.Trials = 1
	store := OpenStore(t.TempDir())
	require.NoError(t, Reproduce(t.Context(), openGo(t), store, []Artifact{quick}, o))
	records, err := store.Load()
	require.NoError(t, err)
	require.Len(t, records, 1)
	require.NotNil(t, records[0].MacroF1Cached)
	require.NotEmpty(t, records[0].ValidationLosses, "fig-loss-cora draws it")
}

func TestShardsHaveEveryCellOnce(t *testing.T) {
	var cells []Cell
	for _, a := range Artifacts() {
		cells = append(cells, a.Cells()...)
	}
	cells = merge(cells)
	seen := map[string]int{}
	for shard := range 5 {
		tasks, _ := plan(cells, nil, "go", Options{Trials: 1, Shard: shard, Shards: 5})
		require.NotEmpty(t, tasks)
		for _, task := range tasks {
			seen[task.cell.Key()]++
		}
	}
	require.Len(t, seen, len(cells))
	for key, times := range seen {
		require.Equal(t, 1, times, key)
	}
}

func TestTrialsThatLackWhatIsNeededRunAgain(t *testing.T) {
	plain := NewCell("cora", "gin", datasets.Inductive, 10)
	cached := plain
	cached.Cached = true
	have := []Record{recordOf(plain, 1, 80), recordOf(plain, 2, 80)}
	tasks, total := plan([]Cell{plain}, have, "go", Options{Trials: 2})
	require.Empty(t, tasks)
	require.Equal(t, 2, total)
	tasks, _ = plan([]Cell{cached}, have, "go", Options{Trials: 2})
	require.Equal(t, []task{{cached, []uint64{1}}, {cached, []uint64{2}}}, tasks)
	tasks, _ = plan([]Cell{plain}, have, "xla:cpu", Options{Trials: 1})
	require.Len(t, tasks, 1, "another backend's trials are not this one's")
}
