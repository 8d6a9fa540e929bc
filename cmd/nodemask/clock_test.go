//go:build linux && amd64

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/internal/faults"
	"nodemask/record"
)

func TestAClockThatJumpsChangesDatesAlone(t *testing.T) {
	if os.Getenv(faults.Torture) != "1" {
		t.Skip("skipped: builds the command and traces it: run it with NODEMASK_TORTURE=1")
	}
	program := filepath.Join(t.TempDir(), "nodemask")
	built, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, string(built))
	arguments := []string{"reproduce", "table-gin-cora", "--trials", "1", "--shard", "35/100", "--backend", "go", "--jobs", "2", "--results"}
	measured := func(folder string) (dates []string, records []record.Record) {
		records, err := record.OpenStore(folder).Load()
		require.NoError(t, err)
		require.NotEmpty(t, records)
		for i := range records {
			r := &records[i]
			require.Positive(t, r.Seconds)
			require.Less(t, r.Seconds, 600.0, "they are of the clock that does not jump")
			dates = append(dates, r.Date)
			r.Seconds, r.Date = 0, ""
		}
		return dates, records
	}
	still, jumping := t.TempDir(), t.TempDir()
	code, _, diagnostics := nodemask(t, append(arguments, still)...)
	require.Zero(t, code, diagnostics)
	const years = 10 * 365 * 24 * 3600
	faults.Jumping(t, program, append(arguments, jumping), os.Environ(), func(reading int) int64 { return int64(reading%3-1) * years })
	dates, want := measured(still)
	jumped, is := measured(jumping)
	require.Equal(t, want, is)
	require.NotEqual(t, dates, jumped, "the clock was moved")
}
