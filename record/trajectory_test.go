package record

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
)

// someTrajectory is a trajectory that could have been measured.
func someTrajectory(c Cell, seed uint64) Trajectory {
	c = c.Trained()
	t := Trajectory{Data: c.Data, Model: c.Parameters.Model, Setting: c.Setting, TrainPercent: c.TrainPercent,
		Choices: c.TrainedChoices(),
		Seed:    seed, Split: "0123", Epochs: 60, Backend: "go", Version: "nodemask", Protocol: "abc"}
	for range hyper.StopOns() {
		scores := []float64{80.125, 81, 82}[:NumArrivals(c.Setting)]
		t.F1, t.ValidationF1, t.BestEpochs = append(t.F1, scores), append(t.ValidationF1, scores),
			append(t.BestEpochs, []int{1, 2, 3}[:len(scores)])
		if c.Setting == datasets.Inductive {
			t.Cached = append(t.Cached, scores)
		}
	}
	return t
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
		line, err := json.Marshal(someTrajectory(c, 7))
		require.NoError(t, err)
		read, err := parseTrajectory(line)
		require.NoError(t, err)
		back, err := read.Cell()
		require.NoError(t, err)
		require.Equal(t, trained.Key(), back.Key())
		back.Parameters.KeepRate, trained.Parameters.KeepRate = 0, 0 // 1 or the zero value that stands for it
		require.Equal(t, trained, back)
	})
}

func TestATrajectoryIsReadAsOneRecordForEachWayOfStoppingAndArriving(t *testing.T) {
	cell := NewCell("cora", "gin", datasets.Inductive, 10).Masked(0.5)
	one := someTrajectory(cell, 101)
	one.F1[1] = []float64{70, 71, 72}
	one.Cached[1] = []float64{60, 61, 62}
	records, err := one.Records()
	require.NoError(t, err)
	require.Len(t, records, 12)
	cell.Resplit, cell.Parameters.StopOn, cell.Arrivals = true, hyper.StopOnF1, datasets.TrainEdges
	results := NewResults(records)
	require.Equal(t, []float64{71}, results.Values(cell, MacroF1))
	require.Equal(t, []float64{61}, results.Values(cell, MacroF1Together))
	for _, m := range []Metric{MicroF1, Accuracy, MacroF1Apart, MADLogits, NodesCached} {
		require.Empty(t, results.Values(cell, m), "a trajectory does not keep it: %s", m)
	}
	trial := results.Trials(cell)[0]
	require.Equal(t, cell.Key(), trial.CellOf().Key())
	require.Equal(t, uint64(101), trial.Seed)
	require.Equal(t, 2, trial.BestEpoch)

	records, err = someTrajectory(NewCell("cora", "gin", datasets.Transductive, 10), 101).Records()
	require.NoError(t, err)
	require.Len(t, records, 4)
}

func TestTrajectoriesThatCannotBeAreRefused(t *testing.T) {
	for want, change := range map[string]func(*Trajectory){
		`no model "gim"`:            func(t *Trajectory) { t.Model = "gim" },
		"expected names of axes":    func(t *Trajectory) { t.Choices = map[string]string{"luck": "1"} },
		"layers: ":                  func(t *Trajectory) { t.Choices = map[string]string{"layers": "many"} },
		"without data, split, seed": func(t *Trajectory) { t.Split = "" },
		"seed or protocol":          func(t *Trajectory) { t.Protocol = "" },
		"100% to train on":          func(t *Trajectory) { t.TrainPercent = 100 },
		`backend "xla:/evil.so"`:    func(t *Trajectory) { t.Backend = "xla:/evil.so" },
		"3 ways of stopping":        func(t *Trajectory) { t.F1 = t.F1[:3] },
		"2 kinds of arrivals":       func(t *Trajectory) { t.Cached[3] = t.Cached[3][:2] },
		"a score of 101":            func(t *Trajectory) { t.ValidationF1[0] = []float64{1, 101, 2} },
		`setting "deductive"`:       func(t *Trajectory) { t.Setting = "deductive" },
		"transductive trajectory":   func(t *Trajectory) { t.Setting = datasets.Transductive },
		"epochs for 3 ways":         func(t *Trajectory) { t.BestEpochs = t.BestEpochs[1:] },
		"epochs for 1 kinds":        func(t *Trajectory) { t.BestEpochs[2] = t.BestEpochs[2][:1] },
		"scores for 0 ways":         func(t *Trajectory) { t.Cached = nil },
		"-5 epochs: expected":       func(t *Trajectory) { t.Epochs = -5 },
		"best epoch 61 of 60":       func(t *Trajectory) { t.BestEpochs[1] = []int{1, 61, 3} },
		"-1 seconds: expected":      func(t *Trajectory) { t.Seconds = -1 },
		"no early stopping on":      func(t *Trajectory) { t.Choices = map[string]string{"stop": "luck"} },
	} {
		bad := someTrajectory(NewCell("cora", "gin", datasets.Inductive, 10), 7)
		change(&bad)
		line, err := json.Marshal(bad)
		require.NoError(t, err)
		_, err = parseTrajectory(line)
		require.ErrorContains(t, err, want)
	}
	_, err := parseTrajectory([]byte(`{"luck":1}`))
	require.ErrorContains(t, err, "not a trajectory")
	good, err := json.Marshal(someTrajectory(NewCell("cora", "gin", datasets.Inductive, 10), 7))
	require.NoError(t, err)
	_, err = parseTrajectory(append(good, "{}"...))
	require.ErrorContains(t, err, "expected one per line")
}

func TestTrajectoriesAreKeptOnceAndACutLineIsMended(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "of [results]")
	store := OpenTrajectories(folder, "")
	c := NewCell("cora", "gin", datasets.Inductive, 10)
	require.NoError(t, store.Add(someTrajectory(c, 1)))
	require.NoError(t, store.Add(someTrajectory(c, 1)))
	require.NoError(t, store.Add(someTrajectory(c.Masked(0.5), 1)))
	path := filepath.Join(folder, "cora-gin.jsonl")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(text, text[:100]...), 0o666))
	all, err := store.Load()
	require.NoError(t, err)
	require.Len(t, all, 2, "the last line has no end")
	require.NoError(t, store.Add(someTrajectory(c, 2)))
	has := func(s *Store[Trajectory], c Cell, seed uint64) bool {
		is, err := s.Has(c.Trained(), seed, "go")
		require.NoError(t, err)
		return is
	}
	require.True(t, has(store, c, 2))
	require.False(t, has(store, c, 3))
	require.NoError(t, OpenTrajectories(folder, "").Add(someTrajectory(c, 3)))
	require.True(t, has(store, c, 3), "what another process adds is seen")
	require.True(t, has(store, c.Masked(0.5), 1))
	require.False(t, has(store, NewCell("cora", "gat", datasets.Inductive, 10), 1))

	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("x", 10)+"\n"), 0o666))
	_, err = store.Load()
	require.ErrorContains(t, err, path+": line 1: not a trajectory")
}

func FuzzParseTrajectory(f *testing.F) {
	line, err := json.Marshal(someTrajectory(NewCell("cora", "gat", datasets.Transductive, 10).Masked(0.5), 7))
	require.NoError(f, err)
	f.Add(line)
	f.Fuzz(func(t *testing.T, line []byte) {
		read, err := parseTrajectory(line)
		if err != nil {
			return
		}
		id, err := read.ID()
		require.NoError(t, err)
		again, err := json.Marshal(read)
		require.NoError(t, err)
		back, err := parseTrajectory(again)
		require.NoError(t, err)
		other, err := back.ID()
		require.NoError(t, err)
		require.Equal(t, id, other)
	})
}

func TestATrajectoryThatLacksOnlyItsEndIsKept(t *testing.T) {
	folder, c := t.TempDir(), NewCell("cora", "gin", datasets.Inductive, 10)
	require.NoError(t, OpenTrajectories(folder, "").Add(someTrajectory(c, 1)))
	path := filepath.Join(folder, "cora-gin.jsonl")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text[:len(text)-1], 0o666))
	store := OpenTrajectories(folder, "")
	for range 2 { // whoever asked before reads on behind what it has seen
		for seed := range uint64(2) {
			has, err := store.Has(c.Trained(), seed+1, "go")
			require.NoError(t, err)
			require.Equal(t, seed == 0, has)
		}
	}
	require.NoError(t, store.Add(someTrajectory(c, 2)))
	has, err := store.Has(c.Trained(), 2, "go")
	require.NoError(t, err)
	require.True(t, has)
	all, err := store.Load()
	require.NoError(t, err)
	require.Len(t, all, 2)
}

func TestCellsAreReadWithoutOthersWhoseSumsAreCheckedAllTheSame(t *testing.T) {
	folder := t.TempDir()
	store, c := OpenTrajectories(folder, ""), NewCell("cora", "gin", datasets.Inductive, 10)
	wanted := c.Masked(0.5).Trained().Key()
	for seed := range uint64(3) {
		require.NoError(t, store.Add(someTrajectory(c, seed+1)))
		require.NoError(t, store.Add(someTrajectory(c.Masked(0.5), seed+1)))
	}
	read := func() (map[string][]Trajectory, error) {
		return store.ByCell(func(key string) bool { return key == wanted })(Pair{"cora", "gin"})
	}
	got, err := read()
	require.NoError(t, err)
	require.Equal(t, map[string][]Trajectory{wanted: {someTrajectory(c.Masked(0.5), 1), someTrajectory(c.Masked(0.5), 2),
		someTrajectory(c.Masked(0.5), 3)}}, got)
	all, err := store.ByCell(nil)(Pair{"cora", "gin"})
	require.NoError(t, err)
	require.Len(t, all, 2)
	none, err := store.ByCell(nil)(Pair{"cora", "gat"})
	require.NoError(t, err)
	require.Empty(t, none)

	path := filepath.Join(folder, "cora-gin.jsonl")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	// A line of another cell that says that it is of this one, and the reverse.
	for _, change := range [][2]string{{`"train_percent":10,"seed":2`,
		`"train_percent":10,"choices":{"keep":"0.5"},"seed":2`}, {`"keep":"0.5"`, `"keep":"0.6"`}} {
		require.Contains(t, string(text), change[0])
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), change[0], change[1], 1)), 0o666))
		_, err = read()
		require.ErrorContains(t, err, "was changed after it was written")
	}
}
