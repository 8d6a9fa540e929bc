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

func someTraining(c Cell, seed uint64) Record {
	readings := Readings{}
	for i, name := range ReadingNames(c.Setting) {
		one := Reading{F1: 80.125 + float64(i), ValidationF1: 80 + float64(i), BestEpoch: i}
		if c.Setting == datasets.Inductive {
			one.Cached = 79
		}
		readings[name] = one
	}
	r := c.Read(seed, "0123", readings)
	r.Epochs, r.Backend, r.Version, r.Protocol = 60, "go", "nodemask", "abc"
	return r
}

func TestATrainingNamesTheTrainingThatItWas(t *testing.T) {
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
		line := lineOf(t, someTraining(c, 7))
		read, err := Parse(line)
		require.NoError(t, err)
		back := read.CellOf()
		require.Equal(t, trained.Key(), back.Key())
		require.Equal(t, trained.Key(), read.Cell)
		back.Parameters.KeepRate, trained.Parameters.KeepRate = 0, 0 // 1 or the zero value
		require.Equal(t, trained, back)
	})
}

func TestTrainingsThatCannotBeAreRefused(t *testing.T) {
	for want, change := range map[string]func(*training){
		`no model "gim"`:         func(t *training) { t.Model = "gim" },
		"expected names of axes": func(t *training) { t.Choices = map[string]string{"luck": "1"} },
		"layers: ":               func(t *training) { t.Choices = map[string]string{"layers": "many"} },
		`split ""`:               func(t *training) { t.Split = "" },
		`protocol ""`:            func(t *training) { t.Protocol = "" },
		"100% to train on":       func(t *training) { t.TrainPercent = 100 },
		`backend "xla:/evil.so"`: func(t *training) { t.Backend = "xla:/evil.so" },
		"a score of 101":         func(t *training) { t.Readings["loss/all-edges"] = Reading{ValidationF1: 101} },
		`setting "deductive"`:    func(t *training) { t.Setting = "deductive" },
		"from the cache": func(t *training) {
			t.Setting, t.Readings = datasets.Transductive, Readings{"loss": {Cached: 1}}
		},
		`a reading "luck"`:     func(t *training) { t.Readings["luck"] = Reading{} },
		`a reading "loss"`:     func(t *training) { t.Readings["loss"] = Reading{} },
		"0 readings":           func(t *training) { t.Readings = Readings{} },
		"-5 epochs: expected":  func(t *training) { t.Epochs = -5 },
		"best epoch 61 of 60":  func(t *training) { t.Readings["loss/all-edges"] = Reading{BestEpoch: 61} },
		"-1 seconds: expected": func(t *training) { t.Seconds = -1 },
		"no early stopping on": func(t *training) { t.Choices = map[string]string{"stop": "luck"} },
	} {
		bad := trainingOf(someTraining(NewCell("cora", "gin", datasets.Inductive, 10), 7))
		change(&bad)
		line, err := json.Marshal(bad)
		require.NoError(t, err)
		_, err = Parse(line)
		require.ErrorContains(t, err, want)
	}
	good := lineOf(t, someTraining(NewCell("cora", "gin", datasets.Inductive, 10), 7))
	_, err := Parse(append(good, "{}"...))
	require.ErrorContains(t, err, "expected one per line")
}

func TestTrainingsAreKeptOnceAndACutLineIsMended(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "of [results]")
	store := Open(folder)
	c := NewCell("cora", "gin", datasets.Inductive, 10)
	require.NoError(t, store.Add(someTraining(c, 1)))
	require.NoError(t, store.Add(someTraining(c, 1)))
	require.NoError(t, store.Add(someTraining(c.Masked(0.5), 1)))
	path := filepath.Join(folder, "cora-gin.jsonl")
	text := readFile(t, path)
	require.Equal(t, 2, bytes.Count(text, []byte("\n")), "a trial that is there is not added")
	writeFile(t, path, append(text, text[:100]...))
	require.Len(t, recordsOf(t, store), 2, "the last line has no end")
	require.NoError(t, store.Add(someTraining(c, 2)))
	has := func(s *Store, c Cell, seed uint64) bool {
		is := has(t, s, c.Trained(), seed, "go")
		return is
	}
	require.True(t, has(store, c, 2))
	require.False(t, has(store, c, 3))
	require.NoError(t, Open(folder).Add(someTraining(c, 3)))
	require.True(t, has(store, c, 3), "what another process adds is seen")
	require.True(t, has(store, c.Masked(0.5), 1))
	require.False(t, has(store, NewCell("cora", "gat", datasets.Inductive, 10), 1))

	writeFile(t, path, []byte(strings.Repeat("x", 10)+"\n"))
	_, err := store.Load()
	require.ErrorContains(t, err, path+": line 1: not a record")
}

func TestALastLineThatLacksOnlyItsEndIsKept(t *testing.T) {
	plain := NewCell("cora", "gin", datasets.Inductive, 10)
	for c, trial := range map[Cell]func(Cell, uint64) Record{plain.Trained(): someTraining,
		plain: func(c Cell, seed uint64) Record { return testRecord(c, seed, 80) }} {
		folder := t.TempDir()
		require.NoError(t, Open(folder).Add(trial(c, 1)))
		path := filepath.Join(folder, "cora-gin.jsonl")
		writeFile(t, path, bytes.TrimSuffix(readFile(t, path), []byte("\n")))
		store := Open(folder)
		_, err := store.Verify()
		require.NoError(t, err)
		for range 2 { // the second call reads only new lines
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
