//go:build unix

package record

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"nodemask/datasets"
)

func TestAPipeAmongResultsHangsNobody(t *testing.T) {
	folder := t.TempDir()
	store := Open(folder)
	r := testRecord(NewCell("cora", "gin", datasets.Inductive, 10), 1, 80)
	require.NoError(t, store.Add(r))
	require.NoError(t, unix.Mkfifo(filepath.Join(folder, "x.jsonl"), 0o666))
	require.NoError(t, unix.Mkfifo(filepath.Join(folder, "pubmed-gin.jsonl"), 0o666))
	require.NoError(t, os.Mkdir(filepath.Join(folder, "y.jsonl"), 0o777))
	done := make(chan struct{})
	go func() { // opening a pipe waits for a writer
		defer close(done)
		loaded, err := store.Load()
		if err != nil || len(loaded) != 1 {
			t.Errorf("%d records, %v", len(loaded), err)
		}
		if _, err := store.Has(NewCell("pubmed", "gin", datasets.Inductive, 10), 1, "go"); err == nil {
			t.Error("trials are sought in a pipe")
		}
		if _, err := store.Verify(); err != nil {
			t.Error(err)
		}
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("a pipe is waited for")
	}
	pubmed := testRecord(NewCell("pubmed", "gin", datasets.Inductive, 10), 1, 80)
	require.ErrorContains(t, store.Add(pubmed), "pubmed-gin.jsonl", "a record would be lost in a pipe")
}
