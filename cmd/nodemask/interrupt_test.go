package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWhatIsInterruptedEndsSoonAndAsNoSuccess(t *testing.T) {
	folder := t.TempDir()
	large := "sbm:nodes=1000000,classes=3"
	for name, command := range map[string][]string{
		"describe": {"data", "describe", large},
		"tree":     {"tree", "--data", large, "--root", "5"},
		"report":   {"report", "--results", "../../results", "-o", filepath.Join(folder, "report.html")},
	} {
		t.Run(name, func(t *testing.T) {
			said, err := os.Create(filepath.Join(folder, name))
			require.NoError(t, err)
			c := exec.Command(os.Args[0], command...)
			c.Stderr = said
			require.NoError(t, c.Start())
			time.Sleep(600 * time.Millisecond)
			require.NoError(t, c.Process.Signal(os.Interrupt))
			begin := time.Now()
			require.Error(t, c.Wait())
			require.Equal(t, 1, c.ProcessState.ExitCode())
			require.Less(t, time.Since(begin), 5*time.Second)
			require.Regexp(t, `(?m)^nodemask: interrupted$`, written(t, said))
		})
	}
}

func TestAMissingFolderOfAnOutputIsFoundBeforeAllElse(t *testing.T) {
	for _, command := range [][]string{
		{"predict", "--all", "--model", "missing", "--data", "missing", "-o", "nowhere/x.csv"},
		{"explain", "--model", "missing", "--node", "1", "-o", "nowhere/x.svg"},
		{"report", "--results", "../../results", "-o", "nowhere/x.html"},
		{"page", "--data", "missing", "-o", "nowhere/x.html"},
	} {
		fails(t, 2, "there is no folder nowhere", command...)
	}
}

func TestReportNamesTheFormatsThatAnOverviewHas(t *testing.T) {
	command := []string{"report", "--results", "../../results", "--format", "png"}
	refuses(t, command, map[string][]string{
		"--format png: expected one of [text markdown csv html json]": {"summary"},
		"--format png: expected one of [text markdown csv html]\n":    {"answers"},
	})
}

func TestAnInterruptedCommandIsNoSuccessThoughItsWorkIsDone(t *testing.T) {
	require.EqualError(t, interrupted(nil), "interrupted after finishing: its output is complete")
	require.EqualError(t, interrupted(errors.Join(errors.New("writing x"), context.Canceled)), "interrupted")
	other := errors.New("no space left")
	require.Equal(t, other, interrupted(other))
}
