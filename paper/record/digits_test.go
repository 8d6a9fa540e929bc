package record

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
)

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
