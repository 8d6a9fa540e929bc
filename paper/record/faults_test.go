package record

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/internal/faults"
)

func init() { faults.Pin() }

func TestMain(m *testing.M) {
	faults.Main(m, map[string]func(string) error{"reproduce": reproduceThree})
}

func someCell() Cell { return NewCell("cora", "gin", datasets.Transductive, 10) }

// reproduceThree adds missing trials of seeds 1 to 3 as reproduce does, without training.
func reproduceThree(folder string) error {
	s, c := Open(filepath.Join(folder, "results")), someCell()
	for seed := range uint64(3) {
		have, err := s.Has(c, seed+1, "go")
		if err != nil {
			return err
		}
		if have {
			continue
		}
		if err := s.Add(testRecord(c, seed+1, 80)); err != nil {
			return err
		}
	}
	return nil
}

// seedsOf requires each seed once.
func seedsOf(t *testing.T, folder string) map[uint64]bool {
	t.Helper()
	records := recordsOf(t, Open(filepath.Join(folder, "results")))
	seeds := map[uint64]bool{}
	for _, r := range records {
		require.False(t, seeds[r.Seed], "seed %d is there twice", r.Seed)
		require.Equal(t, testRecord(someCell(), r.Seed, 80), r)
		seeds[r.Seed] = true
	}
	return seeds
}

func lines(t *testing.T, folder string) int {
	t.Helper()
	content := readFile(t, filepath.Join(folder, "results", "cora-gin.jsonl"))
	return bytes.Count(content, []byte("\n"))
}

func prepare(t *testing.T, folder string) {
	t.Helper()
	require.NoError(t, Open(filepath.Join(folder, "results")).Add(testRecord(someCell(), 1, 80)))
	// A process was killed while writing.
	f, err := os.OpenFile(filepath.Join(folder, "results", "cora-gin.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"cell":"cora`)
	require.NoError(t, errors.Join(err, f.Close()))
}

func TestWhateverFailsNoRecordIsLostOrDoubled(t *testing.T) {
	faults.Each(t, faults.Test{
		Step:    "reproduce",
		Prepare: prepare,
		Holds: func(t *testing.T, folder string, finished bool) {
			seeds := seedsOf(t, folder)
			require.True(t, seeds[1], "the record that was kept")
			if finished {
				require.Len(t, seeds, 3)
			}
		},
		GoesOn: func(t *testing.T, folder string) {
			require.NoError(t, reproduceThree(folder))
			require.Len(t, seedsOf(t, folder), 3)
			require.Equal(t, 3, lines(t, folder))
		},
	})
}

func TestResultsAreNotAddedWhereFilesCannotBeLocked(t *testing.T) {
	folder := t.TempDir()
	said, ended := faults.Test{Step: "reproduce", Prepare: prepare}.Under(t, folder, "flock:error=ENOLCK")
	require.Error(t, ended)
	require.Contains(t, said, " cannot be locked (no locks available): expected a file system that can")
	require.Equal(t, map[uint64]bool{1: true}, seedsOf(t, folder), "the record that was kept")
}

func TestProcessesAtOnceLoseAndDoubleNothing(t *testing.T) {
	for range 3 {
		folder := filepath.Join(t.TempDir(), "zwei Läufe")
		require.NoError(t, os.Mkdir(folder, 0o777))
		prepare(t, folder)
		var processes []*exec.Cmd
		for range 4 {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), faults.Environment("reproduce", folder)...)
			c.Stdout, c.Stderr = os.Stderr, os.Stderr
			require.NoError(t, c.Start())
			processes = append(processes, c)
		}
		for _, c := range processes {
			require.NoError(t, c.Wait())
		}
		require.Len(t, seedsOf(t, folder), 3)
		require.Equal(t, 3, lines(t, folder))
	}
}
