package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
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

// someValues lists values of axes that are valid with any other values.
var someValues = map[string][]string{
	"arrivals":   {string(datasets.AllEdges), string(datasets.TrainEdges), string(datasets.NoValidation)},
	"split":      {"own", "stratified"},
	"over":       {string(hyper.MaskAll), string(hyper.MaskTrain)},
	"stop":       {"loss", "f1", "accuracy", "either"},
	"readout":    {string(hyper.ReadoutLast), string(hyper.ReadoutAll)},
	"dropout-on": {string(hyper.DropoutOnScores)},
	"norm":       {string(hyper.NormInside), string(hyper.NormBoth)},
	"self":       {string(hyper.SelfKept)},
	"heads":      {"1", "2", "4", "8", "16"},
}

// drawValue draws a value of an axis that is valid with any other values.
func drawValue(t *rapid.T, axis record.Axis) string {
	if values := someValues[axis.Name]; values != nil {
		return rapid.SampledFrom(values).Draw(t, axis.Name)
	}
	number := func(least, most float64) float64 { return rapid.Float64Range(least, most).Draw(t, axis.Name) }
	whole := func(most int) int { return rapid.IntRange(1, most).Draw(t, axis.Name) }
	switch axis.Name {
	case "resplit", "rescale", "learn-epsilon", "normalize", "residual":
		return fmt.Sprint(rapid.Bool().Draw(t, axis.Name))
	case "regulariser":
		return fmt.Sprintf("%s:%v", rapid.SampledFrom(hyper.Regularisers()).Draw(t, "which"), number(0, 0.999))
	case "keep":
		return fmt.Sprint(number(1e-9, 1))
	case "dropout", "attention-dropout":
		return fmt.Sprint(number(0, 0.999))
	case "epsilon":
		return fmt.Sprint(number(-10, 10))
	case "lr":
		return fmt.Sprint(number(1e-12, 1e12))
	case "decay":
		return fmt.Sprint(number(1e-12, 1e6))
	case "validation":
		return fmt.Sprint(whole(99))
	case "hidden":
		return fmt.Sprint(16 * whole(64)) // divisible by every number of heads
	case "layers", "mlp", "epochs", "patience":
		return fmt.Sprint(whole(16))
	}
	t.Fatalf("no values for the axis %s: draw some here", axis.Name)
	return ""
}

func TestTheCommandOfAnyCellTrainsThatCell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.OneOf(rapid.Just("cora"), rapid.StringMatching(`[a-z /$'"\\;&|*?~!#()-]{1,12}`)).Draw(t, "data")
		setting := rapid.SampledFrom([]datasets.Setting{datasets.Inductive, datasets.Transductive}).Draw(t, "setting")
		c := record.NewCell(data, rapid.SampledFrom(hyper.Models()).Draw(t, "model"), setting,
			rapid.IntRange(1, 99).Draw(t, "size"))
		if rapid.Bool().Draw(t, "masked") { // as in the paper, without attention dropout
			c = c.Masked(rapid.Float64Range(1e-9, 1).Draw(t, "keep rate"))
		}
		for _, axis := range record.Axes() {
			if rapid.IntRange(0, 2).Draw(t, axis.Name+"?") == 0 {
				require.NoError(t, axis.Set(&c, drawValue(t, axis)))
			}
		}
		if c.Parameters.Regulariser == hyper.DropoutRegulariser {
			c.Parameters.Dropout = 0 // the regulariser is the only dropout
		}
		// Some models do not use these.
		if p := &c.Parameters; !hyper.TraitsOf(p.Model).MLP || p.MLPLayers < 2 {
			p.Norm = ""
		}
		if c.Parameters.Readout == "" {
			c.Parameters.DropoutOn = ""
		}
		if !hyper.TraitsOf(c.Parameters.Model).SelfTerm {
			c.Parameters.SelfTerm = ""
		}
		c.Cached = setting == datasets.Inductive && rapid.Bool().Draw(t, "cached")
		require.NoError(t, c.Parameters.Check())
		requireSame(t, c, cellOfCommand(t, c.Command(10)))
	})
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
