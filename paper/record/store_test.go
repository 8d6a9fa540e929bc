package record

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/datasets"
	"nodemask/stats"
)

func lineOf(t require.TestingT, r Record) []byte {
	line, err := Line(r)
	require.NoError(t, err)
	return line
}

func recordsOf(t require.TestingT, s *Store) []Record {
	all, err := s.Load()
	require.NoError(t, err)
	return all
}

func has(t require.TestingT, s *Store, c Cell, seed uint64, backend string) bool {
	is, err := s.Has(c, seed, backend)
	require.NoError(t, err)
	return is
}

func readFile(t require.TestingT, path string) []byte {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return text
}

// appended adds records to a file, whatever there is.
func appended(t require.TestingT, path string, records ...Record) {
	for _, r := range records {
		require.NoError(t, underLock(path, func() ([]byte, error) { return lineOf(t, r), nil }))
	}
}

func writeFile(t require.TestingT, path string, text []byte) {
	require.NoError(t, os.WriteFile(path, text, 0o666))
}

func TestWhatIsAddedIsLoaded(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "results")
	store := Open(folder)
	require.Empty(t, recordsOf(t, store), "a folder that is not there has no results")
	var all []Record
	for i, c := range []Cell{NewCell("cora", "gat", datasets.Inductive, 10),
		NewCell("cora", "gin", datasets.Transductive, 50).Masked(0.5)} {
		c.History = i == 1
		r := testRecord(c, uint64(i+1), 81.5)
		require.NoError(t, store.Add(r))
		all = append(all, r)
	}
	require.Equal(t, all, recordsOf(t, store))
}

func TestALineCutShortByAKillIsLostAndNothingElse(t *testing.T) {
	c := NewCell("cora", "gin", datasets.Transductive, 10)
	line := lineOf(t, testRecord(c, 2, 80))
	for _, torn := range []int{1, len(line) / 2, len(line) - 1} {
		folder := t.TempDir()
		store := Open(folder)
		require.NoError(t, store.Add(testRecord(c, 1, 79)))
		path := filepath.Join(folder, "cora-gin.jsonl")
		whole := readFile(t, path)
		writeFile(t, path, append(whole, line[:torn]...))
		require.Len(t, recordsOf(t, store), 1)
		require.NoError(t, store.Add(testRecord(c, 3, 81)))
		loaded := recordsOf(t, store)
		require.Len(t, loaded, 2)
		require.Equal(t, []uint64{1, 3}, []uint64{loaded[0].Seed, loaded[1].Seed})
	}
}

func TestALineThatWasCutShortIsNamedWithItsPlace(t *testing.T) {
	folder, c := t.TempDir(), NewCell("cora", "gin", datasets.Transductive, 10)
	store := Open(folder)
	require.NoError(t, store.Add(testRecord(c, 1, 79)))
	path := filepath.Join(folder, "cora-gin.jsonl")
	text := readFile(t, path)
	writeFile(t, path, append(text, text[:10]...))
	_, err := store.Verify()
	require.ErrorContains(t, err, fmt.Sprintf("cora-gin.jsonl: byte %d: the last line is cut short, after 10 bytes", len(text)))
}

func TestRecordsThatCannotBeAreRefusedWithFileAndLine(t *testing.T) {
	c := NewCell("cora", "gin", datasets.Inductive, 10)
	good := lineOf(t, testRecord(c, 1, 80))
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
		change(`"split_hash":"5eed",`, ``):         "expected both",
		string(good) + "{}":                        "bytes after a record",
	} {
		_, err := Parse([]byte(line))
		require.ErrorContains(t, err, want, line)
		folder := t.TempDir()
		writeFile(t, filepath.Join(folder, "cora-gin.jsonl"), []byte(string(good)+"\n"+line+"\n"))
		_, err = Open(folder).Load()
		require.ErrorContains(t, err, "cora-gin.jsonl: line 2: ")
	}
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "cora-gin.jsonl"), bytes.Repeat([]byte("x"), longestLine+1))
	_, err := Open(folder).Load()
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
		"a score of 101: expected":              func(r *Record) { r.ValidationF1 = 101 },
		"-1 nodes: expected at least 0":         func(r *Record) { r.NodesReached = -1 },
		"MAD {0 2.5 0}: expected":               func(r *Record) { r.MAD = &stats.Smoothness{Logits: 2.5} },
		"1 losses of 2 epochs: expected one":    func(r *Record) { r.TrainLosses = []float64{1} },
		`date "yesterday": expected one like`:   func(r *Record) { r.Date = "yesterday" },
		`a record with backend "xla:/tmp/evil.so": expected one of ["xla:cuda" "xla:cpu" "go"]`: func(r *Record) {
			r.Backend = "xla:/tmp/evil.so"
		},
		`backend "": expected`:         func(r *Record) { r.Backend = "" },
		`backend "go:parallelism=4": `: func(r *Record) { r.Backend = "go:parallelism=4" },
	} {
		r := testRecord(NewCell("cora", "gin", datasets.Inductive, 10), 1, 80)
		change(&r)
		r.Cell = r.CellOf().Key() // key matching the parameters
		line := lineOf(t, r)
		_, err := Parse(line)
		require.ErrorContains(t, err, want)
	}
}

func TestCommittedRecordsBelongToTheirCells(t *testing.T) {
	files, err := filepath.Glob("../../results/*.jsonl")
	require.NoError(t, err)
	count := 0
	for _, path := range files {
		text := readFile(t, path)
		for line := range bytes.Lines(text) {
			r, err := Parse(line)
			require.NoError(t, err, path)
			require.Equal(t, r.CellOf().Key(), r.Cell)
			require.Equal(t, path, Open("../../results").path(Pair{r.Data, r.Model}), "where more of its trials would go")
			count++
		}
	}
	require.NotZero(t, count)
	require.Len(t, recordsOf(t, Open("../../results")), count, "no trial is there twice")
}

func TestLinkedFilesAreReadAsTheyAreWritten(t *testing.T) {
	folder, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "all")
	writeFile(t, elsewhere, nil)
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(folder, "cora-gin.jsonl")))
	require.NoError(t, os.Symlink(filepath.Join(folder, "nowhere"), filepath.Join(folder, "gone.jsonl")))
	r := testRecord(NewCell("cora", "gin", datasets.Inductive, 10), 1, 80)
	require.NoError(t, Open(folder).Add(r))
	require.True(t, has(t, Open(folder), r.CellOf(), 1, "go"))
	require.Equal(t, []Record{r}, recordsOf(t, Open(folder)))
}

func TestLoneArrivalsDoNotMeasureCaching(t *testing.T) {
	c := NewCell("cora", "gin", datasets.Inductive, 10)
	c.Cached = true
	both := testRecord(c, 1, 80)
	old := both
	old.MacroF1Together = nil
	line := lineOf(t, old)
	require.Contains(t, string(line), `"macro_f1_cached":80`, "what records before 0.4.0 have is the score apart")
	read, err := Parse(line)
	require.NoError(t, err)
	score, ok := MacroF1Apart.Of(read)
	require.True(t, ok)
	require.Equal(t, 80.0, score)
	_, ok = MacroF1Together.Of(read)
	require.False(t, ok)
	require.False(t, read.CellOf().Measures(c))
	require.True(t, both.CellOf().Measures(c))

	store := Open(t.TempDir())
	require.NoError(t, store.Add(old))
	require.NoError(t, store.Add(both))
	require.Equal(t, []Record{both}, recordsOf(t, store), "a record with both takes the place of one with less")

	for _, wrong := range []float64{-1, 101} {
		for _, spoil := range []func(*Record){func(r *Record) { r.MacroF1Together = &wrong },
			func(r *Record) { r.MacroF1Apart = &wrong }} {
			r := both
			spoil(&r)
			line := lineOf(t, r)
			_, err = Parse(line)
			require.ErrorContains(t, err, "expected 0 to 100 percent")
		}
	}
}

func FuzzRecord(f *testing.F) {
	c := NewCell("cora", "gat", datasets.Inductive, 10)
	c.Cached, c.History = true, true
	line, err := Line(testRecord(c, 1, 80))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add([]byte("{}"))
	f.Add(lineOf(f, someTraining(NewCell("cora", "gat", datasets.Transductive, 10).Masked(0.5), 7)))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := Parse(line)
		if err != nil {
			return
		}
		same, err := Parse(lineOf(t, r))
		require.NoError(t, err, "what was read can be written and read")
		require.Equal(t, fmt.Sprintf("%+v", r.CellOf()), fmt.Sprintf("%+v", same.CellOf()))
	})
}

func TestATrialIsReadFromTheFileOfItsPairAlone(t *testing.T) {
	folder := t.TempDir()
	gin, gat := testRecord(NewCell("cora", "gin", datasets.Inductive, 10), 1, 80),
		testRecord(NewCell("cora", "gat", datasets.Inductive, 10), 1, 80)
	write := func(name string, r Record) { appended(t, filepath.Join(folder, name), r) }
	write("cora-gin.jsonl", gin)
	writeFile(t, filepath.Join(folder, "pubmed-gin.jsonl"), []byte("damaged\n"))
	all, err := Open(folder).Load(PairOf(gin.CellOf()))
	require.NoError(t, err)
	require.Equal(t, []Record{gin}, all)
	_, err = Open(folder).Load()
	require.ErrorContains(t, err, "pubmed-gin.jsonl: line 1: ")
	require.NoError(t, os.Remove(filepath.Join(folder, "pubmed-gin.jsonl")))

	write("runs.jsonl", gat)
	_, err = Open(folder).Verify()
	require.ErrorContains(t, err, "runs.jsonl: line 1: a trial of gat on cora: expected it in cora-gat.jsonl; move the "+
		"line there")
}

func TestSharedCellsAreMergedWithAllThatIsToBeMeasured(t *testing.T) {
	plain := NewCell("cora", "gin", datasets.Inductive, 10)
	cached, history := plain, plain
	cached.Cached, history.History = true, true
	other := plain.Masked(0.5)
	merged := Merged([]Cell{plain, other, cached, history})
	require.Len(t, merged, 2)
	require.True(t, merged[0].Cached && merged[0].History)
	require.Equal(t, other, merged[1])

	transductive := NewCell("cora", "gin", datasets.Transductive, 10)
	transductive.Cached = true
	require.False(t, Merged([]Cell{transductive})[0].Cached, "nothing arrives there")
}

func TestDataOfAnyNameHaveTheirFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-c_./\\:]{0,4}`),
			rapid.StringMatching(`(\.\./){0,3}[\x00-\x1f\x7f]{0,3}[a-z]{0,3}(/\.\.){0,2}`), rapid.StringMatching(`[a-b/]{300}`),
		).Draw(t, "first")
		// Names that differ in details that file names often lose.
		second := rapid.SampledFrom([]string{strings.ToUpper(first), strings.ToLower(first), "." + first,
			strings.TrimLeft(first, "."), strings.ReplaceAll(first, "/", "_"), strings.ReplaceAll(first, "_", "/"),
			"../" + first, first + "/", first + first}).Draw(t, "second")
		for _, name := range []string{first, second} {
			require.Regexp(t, `^[a-z0-9_-][a-z0-9._-]{0,150}$`, fileName(name+"-gin"), "a name that any file system takes")
		}
		if first != second {
			require.NotEqual(t, fileName(first+"-gin"), fileName(second+"-gin"))
		}
	})
	folder := t.TempDir()
	r := testRecord(NewCell("../a/B", "gin", datasets.Inductive, 10), 1, 80)
	require.NoError(t, Open(folder).Add(r))
	require.Equal(t, []Record{r}, recordsOf(t, Open(folder)))
}
