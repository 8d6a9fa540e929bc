package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/paper/record"
	"nodemask/paper/report"
)

// cellOfCommand parses a shell command line as 'nodemask train' does.
func cellOfCommand(t require.TestingT, command string) record.Cell {
	out, err := exec.Command("sh", "-c", "set -- "+command+`; for word; do printf '%s\0' "$word"; done`).Output()
	require.NoError(t, err, command)
	words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	require.Equal(t, []string{"nodemask", "train"}, words[:2])
	var f trainFlags
	train := trainCommand(&f)
	require.NoError(t, train.ParseFlags(words[2:]), command)
	arms, err := f.arms(train)
	require.NoError(t, err, command)
	require.Len(t, arms, 1)
	return arms[0].Cell
}

func requireSame(t require.TestingT, want, got record.Cell) {
	require.Equal(t, want.Key(), got.Key())
	require.Equal(t, want.Parameters, got.Parameters, want.Key())
	require.Equal(t, want.Cached, got.Cached, want.Key())
}

func TestTheCommandOfEveryCellOfThePaperTrainsThatCell(t *testing.T) {
	for _, c := range report.CellsOf(report.Artifacts()) {
		if !c.Parameters.Regulariser.IsRetired() {
			requireSame(t, c, cellOfCommand(t, c.Command(10)))
		}
	}
}

func TestEveryAxisHasAFlagWithItsDefaultInTheHelp(t *testing.T) {
	out, _ := succeeds(t, "train", "--help")
	rare, _ := succeeds(t, "train", "--set", "help")
	for _, axis := range record.Axes() {
		if axis.Rare {
			require.Regexp(t, `(?m)^  `+axis.Flag+` `, rare)
		} else {
			require.Regexp(t, `(?m)^ +--`+axis.Flag+` `, out)
		}
	}
	require.Regexp(t, `--learning-rate value .*\(default 0\.01; preset gat: 0\.005\)`, out)
	require.Regexp(t, `--keep-rate value .*\(default 1\)`, out)
	require.LessOrEqual(t, strings.Count(out, "\n      --")+strings.Count(out, "\n  -h, --"), 30, out)
}
