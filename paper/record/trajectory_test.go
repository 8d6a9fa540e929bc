package record

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
)

// someTrajectory is a record with readings that could have been measured.
func someTrajectory(c Cell, seed uint64) Record {
	t := Readings{}
	stops, arrivals := c.Ways()
	for range stops {
		scores := []float64{80.125, 81, 82}[:arrivals]
		t.F1, t.ValidationF1, t.BestEpochs = append(t.F1, scores), append(t.ValidationF1, scores),
			append(t.BestEpochs, []int{1, 2, 3}[:len(scores)])
		if c.Setting == datasets.Inductive {
			t.Cached = append(t.Cached, scores)
		}
	}
	r := c.Read(seed, "0123", t)
	r.Epochs, r.Backend, r.Version, r.Protocol = 60, "go", "nodemask", "abc"
	return r
}

func TestATrajectoryNamesTheTrainingThatItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model, setting := rapid.SampledFrom(hyper.Models()).Draw(t, "model"),
			rapid.SampledFrom(datasets.Settings()).Draw(t, "setting")
		c := NewCell("cora", model, setting, 10)
		c.Arrivals, c.Parameters.StopOn = datasets.TrainEdges, hyper.StopOnF1
		if rapid.Bool().Draw(t, "masked") {
			c = c.Masked(0.5)
		}
		c.Parameters.AttentionDropout = rapid.SampledFrom([]float64{0, 0.6}).Draw(t, "attention dropout")
		c.Parameters.LearningRate = rapid.SampledFrom([]float64{0.01, 0.005}).Draw(t, "learning rate")
		trained := c.Trained()
		require.True(t, trained.Resplit)
		require.Empty(t, trained.Arrivals)
		require.Equal(t, hyper.StopOnLoss, trained.Parameters.StopOn)
		line := lineOf(t, someTrajectory(c, 7))
		read, err := Parse(line)
		require.NoError(t, err)
		back := read.CellOf()
		require.Equal(t, trained.Key(), back.Key())
		require.Equal(t, trained.Key(), read.Cell)
		back.Parameters.KeepRate, trained.Parameters.KeepRate = 0, 0 // 1 or the zero value that stands for it
		require.Equal(t, trained, back)
	})
}

func TestTrajectoriesThatCannotBeAreRefused(t *testing.T) {
	for want, change := range map[string]func(*trajectory){
		`no model "gim"`:            func(t *trajectory) { t.Model = "gim" },
		"expected names of axes":    func(t *trajectory) { t.Choices = map[string]string{"luck": "1"} },
		"layers: ":                  func(t *trajectory) { t.Choices = map[string]string{"layers": "many"} },
		"without data, split, seed": func(t *trajectory) { t.Split = "" },
		"seed or protocol":          func(t *trajectory) { t.Protocol = "" },
		"100% to train on":          func(t *trajectory) { t.TrainPercent = 100 },
		`backend "xla:/evil.so"`:    func(t *trajectory) { t.Backend = "xla:/evil.so" },
		"3 ways of stopping":        func(t *trajectory) { t.F1 = t.F1[:3] },
		"2 kinds of arrivals":       func(t *trajectory) { t.Cached[3] = t.Cached[3][:2] },
		"a score of 101":            func(t *trajectory) { t.ValidationF1[0] = []float64{1, 101, 2} },
		`setting "deductive"`:       func(t *trajectory) { t.Setting = "deductive" },
		"transductive trajectory":   func(t *trajectory) { t.Setting = datasets.Transductive },
		"epochs for 3 ways":         func(t *trajectory) { t.BestEpochs = t.BestEpochs[1:] },
		"epochs for 1 kinds":        func(t *trajectory) { t.BestEpochs[2] = t.BestEpochs[2][:1] },
		"scores for 0 ways":         func(t *trajectory) { t.Cached = nil },
		"-5 epochs: expected":       func(t *trajectory) { t.Epochs = -5 },
		"best epoch 61 of 60":       func(t *trajectory) { t.BestEpochs[1] = []int{1, 61, 3} },
		"-1 seconds: expected":      func(t *trajectory) { t.Seconds = -1 },
		"no early stopping on":      func(t *trajectory) { t.Choices = map[string]string{"stop": "luck"} },
	} {
		bad := trajectoryOf(someTrajectory(NewCell("cora", "gin", datasets.Inductive, 10), 7))
		change(&bad)
		line, err := json.Marshal(bad)
		require.NoError(t, err)
		_, err = Parse(line)
		require.ErrorContains(t, err, want)
	}
	_, err := Parse([]byte(`{"f1":1}`))
	require.ErrorContains(t, err, "not a trajectory")
	good := lineOf(t, someTrajectory(NewCell("cora", "gin", datasets.Inductive, 10), 7))
	_, err = Parse(append(good, "{}"...))
	require.ErrorContains(t, err, "expected one per line")
}

func TestTrajectoriesAreKeptOnceAndACutLineIsMended(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "of [results]")
	store := Open(folder)
	c := NewCell("cora", "gin", datasets.Inductive, 10)
	require.NoError(t, store.Add(someTrajectory(c, 1)))
	require.NoError(t, store.Add(someTrajectory(c, 1)))
	require.NoError(t, store.Add(someTrajectory(c.Masked(0.5), 1)))
	path := filepath.Join(folder, "cora-gin.jsonl")
	text := readFile(t, path)
	writeFile(t, path, append(text, text[:100]...))
	require.Len(t, recordsOf(t, store), 2, "the last line has no end")
	require.NoError(t, store.Add(someTrajectory(c, 2)))
	has := func(s *Store, c Cell, seed uint64) bool {
		is := has(t, s, c.Trained(), seed, "go")
		return is
	}
	require.True(t, has(store, c, 2))
	require.False(t, has(store, c, 3))
	require.NoError(t, Open(folder).Add(someTrajectory(c, 3)))
	require.True(t, has(store, c, 3), "what another process adds is seen")
	require.True(t, has(store, c.Masked(0.5), 1))
	require.False(t, has(store, NewCell("cora", "gat", datasets.Inductive, 10), 1))

	writeFile(t, path, []byte(strings.Repeat("x", 10)+"\n"))
	_, err := store.Load()
	require.ErrorContains(t, err, path+": line 1: not a record")
}

func FuzzParseTrajectory(f *testing.F) {
	line := lineOf(f, someTrajectory(NewCell("cora", "gat", datasets.Transductive, 10).Masked(0.5), 7))
	f.Add(line)
	f.Fuzz(func(t *testing.T, line []byte) {
		read, err := Parse(line)
		if err != nil {
			return
		}
		again := lineOf(t, read)
		back, err := Parse(again)
		require.NoError(t, err)
		require.Equal(t, idOf(read), idOf(back))
	})
}

func TestALastLineThatLacksOnlyItsEndIsKept(t *testing.T) {
	plain := NewCell("cora", "gin", datasets.Inductive, 10)
	for c, trial := range map[Cell]func(Cell, uint64) Record{plain.Trained(): someTrajectory,
		plain: func(c Cell, seed uint64) Record { return testRecord(c, seed, 80) }} {
		folder := t.TempDir()
		require.NoError(t, Open(folder).Add(trial(c, 1)))
		path := filepath.Join(folder, "cora-gin.jsonl")
		writeFile(t, path, bytes.TrimSuffix(readFile(t, path), []byte("\n")))
		store := Open(folder)
		require.NoError(t, store.checkEnds())
		for range 2 { // whoever asked before reads on behind what it has seen
			for seed := range uint64(2) {
				require.Equal(t, seed == 0, has(t, store, c, seed+1, "go"))
			}
		}
		require.Len(t, recordsOf(t, store), 1)
		require.NoError(t, store.Add(trial(c, 2)))
		require.True(t, has(t, store, c, 2, "go"))
		require.Len(t, recordsOf(t, store), 2)
	}
}

func TestOneCellIsReadAndEverySumChecked(t *testing.T) {
	folder := t.TempDir()
	store, c := Open(folder), NewCell("cora", "gin", datasets.Inductive, 10)
	wanted := c.Masked(0.5).Trained().Key()
	for seed := range uint64(3) {
		require.NoError(t, store.Add(someTrajectory(c, seed+1)))
		require.NoError(t, store.Add(someTrajectory(c.Masked(0.5), seed+1)))
	}
	read := func() ([]Record, error) {
		return store.LoadOnly(func(key string) bool { return key == wanted }, Pair{"cora", "gin"})
	}
	got, err := read()
	require.NoError(t, err)
	require.Equal(t, []Record{someTrajectory(c.Masked(0.5), 1), someTrajectory(c.Masked(0.5), 2),
		someTrajectory(c.Masked(0.5), 3)}, got)
	none, err := store.Load(Pair{"cora", "gat"})
	require.NoError(t, err)
	require.Empty(t, none)

	path := filepath.Join(folder, "cora-gin.jsonl")
	text := readFile(t, path)
	// A line of another cell that says that it is of this one, and the reverse.
	for _, change := range [][2]string{{`"train_percent":10,"seed":2`,
		`"train_percent":10,"choices":{"keep":"0.5"},"seed":2`}, {`"keep":"0.5"`, `"keep":"0.6"`}} {
		require.Contains(t, string(text), change[0])
		writeFile(t, path, []byte(strings.Replace(string(text), change[0], change[1], 1)))
		_, err = read()
		require.ErrorContains(t, err, "was changed after it was written")
	}
}

func TestATrialOnAnotherSplitOfTheSameSeedIsNotAdded(t *testing.T) {
	s := Open(t.TempDir())
	c := NewCell("cora", "gin", datasets.Transductive, 10)
	require.NoError(t, s.Add(someTrajectory(c, 610)))
	other := someTrajectory(c.Masked(0.5), 610)
	there, err := s.Has(other.CellOf(), 610, "go")
	require.NoError(t, err)
	require.False(t, there)
	other.SplitHash = "4567"
	require.ErrorContains(t, s.Add(other), `cora, 10 %, seed 610 has the splits "0123" and "4567": some trials were run on `+
		"other files of cora")
	records, err := s.Load()
	require.NoError(t, err)
	require.Len(t, records, 1)
	other.SplitHash = "0123"
	require.NoError(t, s.Add(other))
	other.Seed, other.SplitHash = 611, "4567"
	require.NoError(t, s.Add(other))
}
