package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/stats"
)

// recordOf is a record of a cell with a score.
func recordOf(c Cell, seed uint64, f1 float64) Record {
	r := Record{Cell: c.Key(), Data: c.Data, Source: "embedded", Setting: c.Setting, TrainPercent: c.TrainPercent,
		Arrivals: c.Arrivals, Resplit: c.Resplit,
		Parameters: c.Parameters, Seed: seed, SplitSeed: 1, SplitHash: "5eed", MacroF1: f1, MicroF1: f1, Accuracy: f1,
		BestEpoch: 1, Epochs: 2, Seconds: 0.5, Backend: "go", Device: "d", Version: "v", Date: "2026-11-21T10:00:00Z"}
	if c.Setting == datasets.Inductive {
		r.Arrivals = datasets.AllEdges
		if c.Arrivals != "" {
			r.Arrivals = c.Arrivals
		}
	}
	if c.Cached {
		r.MacroF1Together, r.MacroF1Apart = &f1, &f1
	}
	if c.History {
		r.TrainLosses, r.ValidationLosses = []float64{2, 1}, []float64{2, 1.5}
	}
	return r
}

func TestWhatIsAddedIsLoaded(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "results")
	store := OpenStore(folder)
	none, err := store.Load()
	require.NoError(t, err)
	require.Empty(t, none, "a folder that is not there has no results")
	var all []Record
	for i, c := range []Cell{NewCell("cora", "gat", datasets.Inductive, 10),
		NewCell("cora", "gin", datasets.Transductive, 50).Masked(0.5)} {
		c.History = i == 1
		r := recordOf(c, uint64(i+1), 81.5)
		require.NoError(t, store.Add(r))
		all = append(all, r)
	}
	loaded, err := store.Load()
	require.NoError(t, err)
	require.Equal(t, all, loaded)
}

func TestALineCutShortByAKillIsLostAndNothingElse(t *testing.T) {
	c := NewCell("cora", "gin", datasets.Transductive, 10)
	line, err := recordOf(c, 2, 80).Line()
	require.NoError(t, err)
	for _, torn := range []int{1, len(line) / 2, len(line) - 1} {
		folder := t.TempDir()
		store := OpenStore(folder)
		require.NoError(t, store.Add(recordOf(c, 1, 79)))
		path := filepath.Join(folder, "cora-gin.jsonl")
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, append(whole, line[:torn]...), 0o666))
		loaded, err := store.Load()
		require.NoError(t, err)
		require.Len(t, loaded, 1)
		require.NoError(t, store.Add(recordOf(c, 3, 81)))
		loaded, err = store.Load()
		require.NoError(t, err)
		require.Len(t, loaded, 2)
		require.Equal(t, []uint64{1, 3}, []uint64{loaded[0].Seed, loaded[1].Seed})
	}
}

func TestALastLineThatLacksOnlyItsEndIsKept(t *testing.T) {
	folder, c := t.TempDir(), NewCell("cora", "gin", datasets.Transductive, 10)
	store := OpenStore(folder)
	require.NoError(t, store.Add(recordOf(c, 1, 79)))
	require.NoError(t, store.Add(recordOf(c, 2, 80)))
	path := filepath.Join(folder, "cora-gin.jsonl")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, bytes.TrimSuffix(text, []byte("\n")), 0o666))
	loaded, err := store.Load()
	require.NoError(t, err)
	require.Len(t, loaded, 2)
	require.NoError(t, store.checkEnds())
	require.NoError(t, store.Add(recordOf(c, 3, 81)))
	loaded, err = store.Load()
	require.NoError(t, err)
	require.Len(t, loaded, 3)
}

func TestALineThatWasCutShortIsNamedWithItsPlace(t *testing.T) {
	folder, c := t.TempDir(), NewCell("cora", "gin", datasets.Transductive, 10)
	store := OpenStore(folder)
	require.NoError(t, store.checkEnds(), "there is no folder yet")
	require.NoError(t, store.Add(recordOf(c, 1, 79)))
	require.NoError(t, store.checkEnds())
	path := filepath.Join(folder, "cora-gin.jsonl")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(text, text[:10]...), 0o666))
	require.ErrorContains(t, store.checkEnds(), fmt.Sprintf("cora-gin.jsonl: byte %d: the last line is cut short, after "+
		"10 bytes", len(text)))
}

func TestMergingAtTheSameTimeAddsEachTrialOnce(t *testing.T) {
	there := OpenStore(t.TempDir())
	for seed := range uint64(50) {
		require.NoError(t, there.Add(recordOf(NewCell("cora", []string{"gin", "gat"}[seed%2], datasets.Inductive, 10),
			seed+1, 80)))
	}
	folder := t.TempDir()
	var merging sync.WaitGroup
	var total atomic.Int64
	for range 4 {
		merging.Go(func() {
			added, err := OpenStore(folder).Merge(there.folder) // as another process would
			total.Add(int64(added))
			if err != nil {
				t.Error(err)
			}
		})
	}
	merging.Wait()
	require.EqualValues(t, 50, total.Load())
	for _, name := range []string{"cora-gin.jsonl", "cora-gat.jsonl"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		require.Equal(t, 25, bytes.Count(text, []byte("\n")), name)
	}
}

func TestManyWritersLoseNothing(t *testing.T) {
	folder := t.TempDir()
	c := NewCell("cora", "gin", datasets.Transductive, 10)
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			store := OpenStore(folder) // as another process would
			for i := range 25 {
				if err := store.Add(recordOf(c, uint64(25*w+i+1), 80)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	loaded, err := OpenStore(folder).Load()
	require.NoError(t, err)
	require.Len(t, loaded, 100)
}

func TestRecordsThatCannotBeAreRefusedWithFileAndLine(t *testing.T) {
	c := NewCell("cora", "gin", datasets.Inductive, 10)
	good, err := recordOf(c, 1, 80).Line()
	require.NoError(t, err)
	change := func(from, to string) string {
		require.Contains(t, string(good), from)
		return strings.Replace(string(good), from, to, 1)
	}
	for line, want := range map[string]string{
		"{":    "not a record",
		"null": "parameters of",
		change(`"keep_rate":1`, `"keep_rate":0.5`): `a record of cell "cora/gin/inductive/10%" with the parameters of ` +
			`"cora/gin/inductive/10%/keep=0.5"`,
		change(`"macro_f1":80`, `"macro_f1":180`):  "a score of 180",
		change(`"split_hash":"5eed"`, `"extra":1`): "unknown field",
		change(`"split_hash":"5eed",`, ``):         "without split",
		string(good) + "{}":                        "bytes after a record",
	} {
		_, err := ParseRecord([]byte(line))
		require.ErrorContains(t, err, want, line)
		folder := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(folder, "x.jsonl"), []byte(string(good)+"\n"+line+"\n"), 0o666))
		_, err = OpenStore(folder).Load()
		require.ErrorContains(t, err, "x.jsonl: line 2: ")
	}
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "x.jsonl"), bytes.Repeat([]byte("x"), longestLine+1), 0o666))
	_, err = OpenStore(folder).Load()
	require.ErrorContains(t, err, "line 1")
}

func TestRecordsThatTheirKeyCannotCatchAreRefusedToo(t *testing.T) {
	for want, change := range map[string]func(*Record){
		`no model "gim": expected one of gin, `: func(r *Record) { r.Model = "gim" },
		"layers: 0: expected 1 to 128":          func(r *Record) { r.Layers = 0 },
		"hidden width: 65537: expected":         func(r *Record) { r.Hidden = 1<<16 + 1 },
		"dropout 1: expected a probability":     func(r *Record) { r.Dropout = 1 },
		"keep rate -0.5: expected":              func(r *Record) { r.KeepRate = -0.5 },
		"keep rate 1.5: expected":               func(r *Record) { r.KeepRate = 1.5 },
		"learning rate 0: expected":             func(r *Record) { r.LearningRate = 0 },
		`no early stopping on "luck"`:           func(r *Record) { r.StopOn = "luck" },
		`no masking over "some"`:                func(r *Record) { r.MaskOver = "some" },
		`no regulariser "luck"`:                 func(r *Record) { r.Regulariser = "luck" },
		`setting "sideways": expected`:          func(r *Record) { r.Setting = "sideways" },
		`arrivals "some": expected`:             func(r *Record) { r.Arrivals = "some" },
		"0% to train on: expected 1 to 99":      func(r *Record) { r.TrainPercent = 0 },
		"400% to train on: expected 1 to 99":    func(r *Record) { r.TrainPercent = 400 },
		"-5 epochs: expected at most 1000":      func(r *Record) { r.Epochs = -5 },
		"1001 epochs: expected at most 1000":    func(r *Record) { r.Epochs = 1001 },
		"best epoch 3 of 2: expected 1 to 2":    func(r *Record) { r.BestEpoch = 3 },
		"best epoch -1 of 2: expected 1 to 2":   func(r *Record) { r.BestEpoch = -1 },
		"-1 seconds: expected at least 0":       func(r *Record) { r.Seconds = -1 },
		"validation loss -0.5: expected":        func(r *Record) { r.Loss = -0.5 },
		"validation macro F1 101: expected":     func(r *Record) { r.ValidationF1 = 101 },
		"-1 nodes: expected at least 0":         func(r *Record) { r.NodesReached = -1 },
		"MAD 2.5: expected":                     func(r *Record) { r.MAD = &stats.Smoothness{Logits: 2.5} },
		"1 losses of 2 epochs: expected one":    func(r *Record) { r.TrainLosses = []float64{1} },
		`date "yesterday": expected one like`:   func(r *Record) { r.Date = "yesterday" },
		`a record of backend "xla:/tmp/evil.so": expected one of xla:cuda, xla:cpu, go`: func(r *Record) {
			r.Backend = "xla:/tmp/evil.so"
		},
		`a record of backend "": expected`:         func(r *Record) { r.Backend = "" },
		`a record of backend "go:parallelism=4": `: func(r *Record) { r.Backend = "go:parallelism=4" },
	} {
		r := recordOf(NewCell("cora", "gin", datasets.Inductive, 10), 1, 80)
		change(&r)
		r.Cell = r.CellOf().Key() // its cell is called what it is
		line, err := r.Line()
		require.NoError(t, err)
		_, err = ParseRecord(line)
		require.ErrorContains(t, err, want)
	}
}

func TestEveryCommittedRecordIsOfTheCellThatItsParametersMake(t *testing.T) {
	files, err := filepath.Glob("../results/*.jsonl")
	require.NoError(t, err)
	count := 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for line := range bytes.Lines(text) {
			r, err := ParseRecord(line)
			require.NoError(t, err, path)
			require.Equal(t, r.CellOf().Key(), r.Cell)
			require.Equal(t, path, OpenStore("../results").path(Pair{r.Data, r.Model}), "where more of its trials would go")
			count++
		}
	}
	require.NotZero(t, count)
	all, err := OpenStore("../results").Load()
	require.NoError(t, err)
	require.Len(t, all, count, "no trial is there twice")
}

func TestFoldersOfAnyNameKeepTheirRecords(t *testing.T) {
	for _, name := range []string{"results[1]", "[", "a*b", "?", "new\nline", "sub/folder"} {
		folder := filepath.Join(t.TempDir(), name)
		r := recordOf(NewCell("cora", "gin", datasets.Inductive, 10), 1, 80)
		require.NoError(t, OpenStore(folder).Add(r))
		loaded, err := OpenStore(folder).Load()
		require.NoError(t, err)
		require.Equal(t, []Record{r}, loaded, name)
	}
}

func TestLinkedFilesAreReadAsTheyAreWritten(t *testing.T) {
	folder, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "all")
	require.NoError(t, os.WriteFile(elsewhere, nil, 0o666))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(folder, "cora-gin.jsonl")))
	require.NoError(t, os.Symlink(filepath.Join(folder, "nowhere"), filepath.Join(folder, "gone.jsonl")))
	r := recordOf(NewCell("cora", "gin", datasets.Inductive, 10), 1, 80)
	require.NoError(t, OpenStore(folder).Add(r))
	has, err := OpenStore(folder).Has(r.CellOf(), 1, "go")
	require.NoError(t, err)
	require.True(t, has)
	loaded, err := OpenStore(folder).Load()
	require.NoError(t, err)
	require.Equal(t, []Record{r}, loaded)
}

func TestMergingAddsWhatIsMissingOnce(t *testing.T) {
	plain := NewCell("cora", "gin", datasets.Inductive, 10)
	cached := plain
	cached.Cached = true
	here, there := OpenStore(t.TempDir()), OpenStore(t.TempDir())
	require.NoError(t, here.Add(recordOf(plain, 1, 80)))
	require.NoError(t, here.Add(recordOf(plain, 2, 81)))
	require.NoError(t, there.Add(recordOf(plain, 2, 81)))
	require.NoError(t, there.Add(recordOf(plain, 3, 82)))
	require.NoError(t, there.Add(recordOf(cached, 1, 80)))
	added, err := here.Merge(there.folder)
	require.NoError(t, err)
	require.Equal(t, 2, added, "seed 3, and seed 1 with what is cached")
	loaded, err := here.Load()
	require.NoError(t, err)
	require.Len(t, loaded, 3)
	require.NotNil(t, loaded[0].MacroF1Together)
	added, err = here.Merge(there.folder)
	require.NoError(t, err)
	require.Zero(t, added)
	_, err = here.Merge(filepath.Join(t.TempDir(), "nowhere"))
	require.ErrorContains(t, err, "no folder")
}

func TestRecordsWithoutNodesThatSeeOneAnotherDoNotMeasureCaching(t *testing.T) {
	c := NewCell("cora", "gin", datasets.Inductive, 10)
	c.Cached = true
	both := recordOf(c, 1, 80)
	old := both
	old.MacroF1Together = nil
	line, err := old.Line()
	require.NoError(t, err)
	require.Contains(t, string(line), `"macro_f1_cached":80`, "what records before 0.4.0 have is the score apart")
	read, err := ParseRecord(line)
	require.NoError(t, err)
	score, is := MacroF1Apart.Of(read)
	require.True(t, is)
	require.Equal(t, 80.0, score)
	_, is = MacroF1Together.Of(read)
	require.False(t, is)
	require.False(t, read.CellOf().Measures(c))
	require.True(t, both.CellOf().Measures(c))

	store := OpenStore(t.TempDir())
	require.NoError(t, store.Add(old))
	require.NoError(t, store.Add(both))
	loaded, err := store.Load()
	require.NoError(t, err)
	require.Equal(t, []Record{both}, loaded, "a record with both takes the place of one with less")

	for _, wrong := range []float64{-1, 101} {
		for _, spoil := range []func(*Record){func(r *Record) { r.MacroF1Together = &wrong },
			func(r *Record) { r.MacroF1Apart = &wrong }} {
			r := both
			spoil(&r)
			line, err := r.Line()
			require.NoError(t, err)
			_, err = ParseRecord(line)
			require.ErrorContains(t, err, "expected 0 to 100 percent")
		}
	}
}

func FuzzRecord(f *testing.F) {
	c := NewCell("cora", "gat", datasets.Inductive, 10)
	c.Cached, c.History = true, true
	line, err := recordOf(c, 1, 80).Line()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := ParseRecord(line)
		if err != nil {
			return
		}
		again, err := json.Marshal(r)
		require.NoError(t, err)
		same, err := ParseRecord(again)
		require.NoError(t, err, "what was read can be written and read")
		require.Equal(t, fmt.Sprintf("%+v", r.CellOf()), fmt.Sprintf("%+v", same.CellOf()))
	})
}

func TestPairsAreReadFromTheirFilesAndThoseThatMayHoldThem(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, records ...Record) {
		var text []byte
		for _, r := range records {
			line, err := r.Line()
			require.NoError(t, err)
			text = append(append(text, sealed(line)...), '\n')
		}
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), text, 0o666))
	}
	gin, gat := recordOf(NewCell("cora", "gin", datasets.Inductive, 10), 1, 80),
		recordOf(NewCell("cora", "gat", datasets.Inductive, 10), 1, 80)
	more := gin
	more.Seed = 2
	write("cora-gin.jsonl", gin)
	write("x.jsonl", gat, more) // of any trials
	require.NoError(t, os.WriteFile(filepath.Join(folder, "pubmed-gin.jsonl"), []byte("damaged\n"), 0o666))
	all, err := OpenStore(folder).Load(gin.CellOf().Pair())
	require.NoError(t, err)
	require.Equal(t, []Record{gin, more}, all)
	_, err = OpenStore(folder).Load()
	require.ErrorContains(t, err, "pubmed-gin.jsonl: line 1: ")

	write("pubmed-gin.jsonl", gat) // where whoever asks for cora and gat does not look
	_, err = OpenStore(folder).Load()
	require.ErrorContains(t, err, "pubmed-gin.jsonl: line 1: a trial of gat on cora: expected it in cora-gat.jsonl; "+
		"move the line there")
	_, err = OpenStore(folder).Verify()
	require.ErrorContains(t, err, "expected it in cora-gat.jsonl")
}
