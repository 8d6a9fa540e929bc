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
	faults.Main(m, map[string]func(string) error{"reproduce": reproduceThree, "merge": mergeFrom, "both": both})
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

func mergeFrom(folder string) error {
	_, err := Open(filepath.Join(folder, "results")).Merge(filepath.Join(folder, "other"))
	return err
}

func both(folder string) error { return errors.Join(reproduceThree(folder), mergeFrom(folder)) }

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
	mine, other := Open(filepath.Join(folder, "results")), Open(filepath.Join(folder, "other"))
	require.NoError(t, mine.Add(testRecord(someCell(), 1, 80)))
	for seed := range uint64(3) {
		require.NoError(t, other.Add(testRecord(someCell(), seed+1, 80)))
	}
	// A process was killed while writing.
	f, err := os.OpenFile(filepath.Join(folder, "results", "cora-gin.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"cell":"cora`)
	require.NoError(t, errors.Join(err, f.Close()))
}

func TestWhateverFailsNoRecordIsLostOrDoubled(t *testing.T) {
	for step, again := range map[string]func(string) error{"reproduce": reproduceThree, "merge": mergeFrom} {
		t.Run(step, func(t *testing.T) {
			faults.Each(t, faults.Test{
				Step:    step,
				Prepare: prepare,
				Holds: func(t *testing.T, folder string, finished bool) {
					seeds := seedsOf(t, folder)
					require.True(t, seeds[1], "the record that was kept")
					if finished {
						require.Len(t, seeds, 3)
					}
				},
				GoesOn: func(t *testing.T, folder string) {
					require.NoError(t, again(folder))
					require.Len(t, seedsOf(t, folder), 3)
					require.Equal(t, 3, lines(t, folder))
				},
			})
		})
	}
}

func TestResultsAreNotAddedWhereFilesCannotBeLocked(t *testing.T) {
	for _, step := range []string{"reproduce", "merge"} {
		folder := t.TempDir()
		said, ended := faults.Test{Step: step, Prepare: prepare}.Under(t, folder, "flock:error=ENOLCK")
		require.Error(t, ended, step)
		require.Contains(t, said, " cannot be locked (no locks available): expected a file system that can")
		require.Equal(t, map[uint64]bool{1: true}, seedsOf(t, folder), "the record that was kept")
		entries, err := os.ReadDir(filepath.Join(folder, "results"))
		require.NoError(t, err)
		for _, e := range entries {
			require.NotContains(t, e.Name(), ".part", "nothing is left")
		}
	}
}

// start runs a step in another process.
func start(t *testing.T, step, folder string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), faults.Environment(step, folder)...)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	return c
}

func TestReproducingAndMergingAtOnceLoseAndDoubleNothing(t *testing.T) {
	for range 3 {
		folder := filepath.Join(t.TempDir(), "zwei Läufe")
		require.NoError(t, os.Mkdir(folder, 0o777))
		prepare(t, folder)
		var processes []*exec.Cmd
		for range 4 {
			for _, step := range []string{"merge", "reproduce"} {
				c := start(t, step, folder)
				require.NoError(t, c.Start())
				processes = append(processes, c)
			}
		}
		for _, c := range processes {
			require.NoError(t, c.Wait())
		}
		require.NoError(t, both(folder))
		require.Len(t, seedsOf(t, folder), 3)
		require.Equal(t, 3, lines(t, folder))
	}
}
