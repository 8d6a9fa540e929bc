package record

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
)

func TestContradictoryRecordsAreNamedWithBothPlaces(t *testing.T) {
	folder, c := t.TempDir(), NewCell("cora", "gin", datasets.Inductive, 10)
	more := c
	more.Cached = true
	store := Open(folder)
	path := filepath.Join(folder, "cora-gin.jsonl")
	appended(t, path, append(testRecords(c, 80, 80), testRecord(more, 2, 80), testRecord(c, 2, 80))...)
	trials, err := store.Verify()
	require.NoError(t, err, "records that say the same, or more")
	require.Equal(t, 2, trials)
	appended(t, path, testRecord(c, 1, 81))
	_, err = store.Verify()
	require.ErrorContains(t, err, path+": line 5: contradicts "+path+", line 1, of the same trial "+
		"(cora/gin/inductive/10%, seed 1, go): macro F1: 80, now 81; micro F1: 80, now 81")
	for seed := range uint64(12) {
		appended(t, path, testRecord(c, seed+10, 80), testRecord(c, seed+10, 79))
	}
	_, err = store.Verify()
	require.ErrorContains(t, err, "and 3 more")
	require.Equal(t, 10, strings.Count(err.Error(), "contradicts"))
}

func TestContradictoryTrainingsOfATrialAreNamed(t *testing.T) {
	c := NewCell("cora", "gin", datasets.Inductive, 10)
	for want, change := range map[string]func(*Record){
		"split: 0123, now 4567":                         func(t *Record) { t.SplitHash = "4567" },
		"f1/all-edges: {83.125 79 83 3}, now {1 2 3 4}": func(t *Record) { t.Readings["f1/all-edges"] = Reading{1, 2, 3, 4} },
		"epochs: 60, now 61":                            func(t *Record) { t.Epochs = 61 },
	} {
		store, other := Open(t.TempDir()), someTraining(c, 1)
		path := filepath.Join(store.folder, "cora-gin.jsonl")
		appended(t, path, someTraining(c, 1), someTraining(c, 1))
		trials, err := store.Verify()
		require.NoError(t, err)
		require.Equal(t, 1, trials)
		change(&other)
		appended(t, path, other)
		_, err = store.Verify()
		require.ErrorContains(t, err, "cora-gin.jsonl: line 3: contradicts ")
		require.ErrorContains(t, err, want)
	}
}

func TestTrainingsOfAnotherProtocolAreNotCounted(t *testing.T) {
	folder, c := t.TempDir(), NewCell("cora", "gin", datasets.Inductive, 10)
	require.NoError(t, Open(folder).Add(someTraining(c, 1)))
	require.Len(t, recordsOf(t, OpenUnder(folder, "abc")), 1)
	for name, read := range map[string]func(*Store) error{
		"load":   func(s *Store) error { _, err := s.Load(); return err },
		"verify": func(s *Store) error { _, err := s.Verify(); return err },
		"has":    func(s *Store) error { _, err := s.Has(c.Trained(), 1, "go"); return err },
	} {
		err := read(OpenUnder(folder, "def"))
		require.ErrorContains(t, err, `cora-gin.jsonl: line 1: a training under protocol "abc": expected def`, name)
	}
}

func TestALineThatWasChangedAfterItWasWrittenIsRefused(t *testing.T) {
	records, trainings := t.TempDir(), t.TempDir()
	c := NewCell("cora", "gin", datasets.Inductive, 10)
	require.NoError(t, Open(records).Add(testRecord(c, 1, 80)))
	require.NoError(t, Open(trainings).Add(someTraining(c, 1)))
	for _, test := range []struct {
		folder, from, to string
		load             func() error
	}{
		{records, `"macro_f1":80`, `"macro_f1":81`, func() error { _, err := Open(records).Load(); return err }},
		{trainings, `"cached":79`, `"cached":78`,
			func() error { _, err := Open(trainings).Load(); return err }},
	} {
		require.NoError(t, test.load())
		path := filepath.Join(test.folder, "cora-gin.jsonl")
		text := readFile(t, path)
		require.True(t, json.Valid(text), "still JSON")
		require.Contains(t, string(text), test.from)
		changed := bytes.Replace(text, []byte(test.from), []byte(test.to), 1)
		writeFile(t, path, changed)
		require.ErrorContains(t, test.load(), "cora-gin.jsonl: line 1: a ")
		require.ErrorContains(t, test.load(), "was changed after it was written: its CRC-32C is ")
		without := append(changed[:bytes.LastIndexByte(changed, ',')], "}\n"...)
		writeFile(t, path, without)
		require.NoError(t, test.load(), "lines of programs before have no sum")
	}
}

func TestRecordsSayWhoseDigitsTheyHave(t *testing.T) {
	c := NewCell("cora", "gin", datasets.Inductive, 10)
	for _, own := range []Record{testRecord(c, 1, 80), someTraining(c, 1)} {
		everywhere := own
		everywhere.Digits = "avx2"
		everywhere.Epochs++
		folder := t.TempDir()
		store := Open(folder)
		path := filepath.Join(folder, "cora-gin.jsonl")
		appended(t, path, own, everywhere)
		line := lineOf(t, everywhere)
		again, err := Parse(line)
		require.NoError(t, err)
		require.Equal(t, "avx2", again.Digits)
		trials, err := store.Verify()
		require.NoError(t, err, "digits of a processor and of all need not be the same")
		require.Equal(t, 1, trials)
		everywhere.Epochs++
		appended(t, path, everywhere)
		_, err = store.Verify()
		require.ErrorContains(t, err, "line 3: contradicts ")
		everywhere.Digits = "mine"
		line = lineOf(t, everywhere)
		_, err = Parse(line)
		require.ErrorContains(t, err, `digits "mine": expected avx2, or none`)
	}
}
