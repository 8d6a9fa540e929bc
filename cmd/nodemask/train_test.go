package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/paper/judge"
)

// smallGraph writes a graph of 40 nodes in two classes that the features separate.
func smallGraph(t *testing.T) string {
	t.Helper()
	nodes, edges := "id,label,x,z\n", "source,target\n"
	name := func(v int) string { return string(rune('a'+v%26)) + string(rune('a'+v/26)) }
	for v := range 40 {
		nodes += name(v) + [2]string{",even,1,0\n", ",odd,0,1\n"}[v%2]
		edges += name(v) + "," + name((v+2)%40) + "\n" + name(v) + "," + name((v*7+4)%40) + "\n"
	}
	return graphFolder(t, "small", nodes, edges)
}

func quickTrain(dir string, more ...string) []string {
	return append([]string{"train", "--data", dir, "--backend", "go", "--train", "30", "--trials", "3", "--max-epochs",
		"5", "--hidden", "4"}, more...)
}

func jsonLines(t *testing.T, out string) (lines []map[string]any) {
	t.Helper()
	for scanner := bufio.NewScanner(strings.NewReader(out)); scanner.Scan(); {
		var line map[string]any
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &line), scanner.Text())
		lines = append(lines, line)
	}
	return lines
}

func TestTheTitleNamesWhatDiffersFromThePreset(t *testing.T) {
	command := []string{"train", "--data", smallGraph(t), "--backend", "go", "--train", "30", "--trials", "1",
		"--setting", "transductive"}
	for want, more := range map[string]string{
		"GIN (preset standard)":                                    "--keep-rate 1 --dropout 0.5",
		"--keep-rate 0.5 --regulariser dropedge:0.5":               "--regulariser dropedge:0.5 --keep-rate 0.5",
		"--keep-rate 0.5 --set mask-over=train --set rescale=true": "--keep-rate 0.5 --set rescale=true --set mask-over=train",
		"--set raw-features=true --split-seed 3":                   "--set raw-features=true --split-seed 3",
		"(preset paper), --set readout=last":                       "--preset paper --keep-rate 1 --set readout=last",
		"(preset paper), --keep-rate 0.5 --set mask-over=train":    "--preset paper --keep-rate 0.5",
		"GAT (preset gat), --keep-rate 0.5":                        "--model gat --keep-rate 0.5",
		"(preset standard), --batches 2":                           "--batches 2",
	} {
		out, _ := succeeds(t, append(command[:len(command):len(command)], strings.Fields(more)...)...)
		require.Contains(t, out, want+"\n")
	}
}

func TestTrainSaysHowManyNodesTrainValidateAndTest(t *testing.T) {
	dir := smallGraph(t)
	out, diagnostics := succeeds(t, quickTrain(dir)...)
	assert.Contains(t, out, "--hidden 4 --max-epochs 5\n12 nodes train, 3 validate and 25 test\n")
	assert.NotContains(t, diagnostics, "test,")
	out, diagnostics = succeeds(t, quickTrain(dir, "--set", "validation=95", "--set", "resplit=true")...)
	assert.Contains(t, out, "\n12 nodes train, 27 validate and 1 test\n")
	assert.Contains(t, diagnostics, "nodes that test: 1: scores on fewer than 10 say little: expected "+
		"a lower --train or --set validation\n")
	out, diagnostics = succeeds(t, quickTrain(dir, "--train", "3", "--json")...)
	assert.NotContains(t, out, "nodes train")
	assert.Contains(t, diagnostics, "classes of which no node trains, so that they cannot be learnt: 1, such as \"odd\": "+
		"expected a higher --train\n")
}

func TestAFlagThatTheModelDoesNotReadIsMisuse(t *testing.T) {
	dir := smallGraph(t)
	refuses(t, quickTrain(dir), map[string][]string{
		"--set heads: the model gin does not read it":      {"--set", "heads=4"},
		"--set attention-dropout: the model gcn does not":  {"--model", "gcn", "--set", "attention-dropout=0.5"},
		"--set mlp-layers: the model gcn does not read it": {"--model", "gcn", "--set", "mlp-layers=2"},
		"--set epsilon: the model gcn does not read it":    {"--model", "gcn", "--set", "epsilon=0.5"},
		"--preset standard: it has no attention heads":     {"--model", "gat", "--preset", "standard"},
	})
	out, _ := succeeds(t, quickTrain(dir, "--regulariser", "dropedge")...)
	assert.Contains(t, out, "--regulariser dropedge:0.5")
	succeeds(t, quickTrain(dir, "--regulariser", "dropout:0.5", "--dropout", "0")...) // record.Cell.Command writes both
}

func TestTrainPrintsJSONInTheOrderOfSeeds(t *testing.T) {
	dir := smallGraph(t)
	out, _ := succeeds(t, quickTrain(dir, "--json", "--seed", "7", "--setting", "transductive", "--layers",
		"3")...)
	lines := jsonLines(t, out)
	require.Len(t, lines, 3)
	for i, line := range lines {
		for key, want := range map[string]any{"seed": 7. + float64(i), "data": "small", "source": dir, "model": "gin",
			"setting": "transductive", "train_percent": 30., "keep_rate": 1., "layers": 3., "epochs": 5., "backend": "go",
			"split_hash": lines[0]["split_hash"]} {
			assert.Equal(t, want, line[key], key)
		}
		for _, key := range []string{"macro_f1", "micro_f1", "accuracy", "auc", "best_epoch", "seconds", "version"} {
			assert.Contains(t, line, key)
		}
		assert.NotContains(t, line, "arrivals", "nodes arrive in the inductive setting only")
	}
}

func TestTrainGivesTheSameNumbersForAnyJobs(t *testing.T) {
	dir := smallGraph(t)
	var first []map[string]any
	for _, jobs := range []string{"1", "3", "1"} {
		out, _ := succeeds(t, quickTrain(dir, "--json", "--jobs", jobs, "--keep-rate", "0.5")...)
		lines := jsonLines(t, out)
		for _, line := range lines {
			delete(line, "seconds")
		}
		if first == nil {
			first = lines
		}
		require.Equal(t, first, lines)
	}
	assert.NotEqual(t, first[0]["validation_loss"], first[1]["validation_loss"], "seeds differ")
}

func TestTrainRefusesWhatCannotBeInOneLineWithExitCode2(t *testing.T) {
	dir := smallGraph(t)
	refuses(t, quickTrain(dir), map[string][]string{
		"TrainPercent is 0: expected 1 to 99":                                        {"--train", "0"},
		"keep rate 1.5: expected a probability":                                      {"--keep-rate", "1.5"},
		`no model "gim": expected one of gin, `:                                      {"--model", "gim"},
		`setting "inductiv": expected`:                                               {"--setting", "inductiv"},
		`arrivals "some": expected`:                                                  {"--arrivals", "some"},
		"backend abacus: no such backend: expected one of xla:cuda, xla:cpu, go":     {"--backend", "abacus"},
		"--trials 0: expected":                                                       {"--trials", "0"},
		"--jobs -1: expected":                                                        {"--jobs", "-1"},
		"unknown flag: --kepe-rate":                                                  {"--kepe-rate", "1"},
		`invalid argument "ten" for "--trials" flag: expected a whole number` + "\n": {"--trials", "ten"},
		`invalid argument "-1" for "--seed" flag: expected a whole number from 0 up`: {"--seed", "-1"},
		`for "--seed" flag: expected a whole number from 0 up, and none so large`: {"--seed",
			"99999999999999999999"},
		`--set: resplit: "maybe": expected true or false`: {"--set", "resplit=maybe"},
		`--regulariser: "dropp": expected one of `:        {"--regulariser", "dropp"},
		"what is saved or cached": {"--regulariser", "dropgnn", "--cache-inference", "--setting",
			"inductive"},
		"--regulariser dropout:0.7 and --dropout 0.2: both set the rate of dropout: leave out --dropout": {"--regulariser",
			"dropout:0.7", "--dropout", "0.2"},
		"--split-seed and --set resplit: expected one of them": {"--split-seed", "3",
			"--set", "resplit=true"},
		`"nowhere": no such data set: expected a name that`:                {"--data", "nowhere"},
		`expected 'nodemask train [flags]', found 'nodemask train please'`: {"please"},
	})
}

func TestTrainFailsInOneLineWithExitCode1(t *testing.T) {
	dir := smallGraph(t)
	broken := smallGraph(t)
	put(t, broken, "edges.csv", "source,target\naa,nobody\n")
	for want, args := range map[string][]string{
		"nodemask: backend xla:tpu: ":  {"--backend", "xla:tpu"},
		`edges.csv: line 2`:            {"--data", broken},
		"reddit_data.npz is not there": {"--data", "reddit"},
		"the learning rate":            {"--data", dir, "--learning-rate", "1e30", "--dropout", "0"},
	} {
		diagnostics := fails(t, 1, want, quickTrain(dir, args...)...)
		assert.Equal(t, 1, errorLines(diagnostics), diagnostics)
	}
}

func TestTrainSaysThatNothingIsMaskedUnlessToldWhatToDo(t *testing.T) {
	requireTrainSays(t, "nothing is masked: --keep-rate is 1", []string{"--model", "gcn"}, map[bool][][]string{
		true:  {{}, {"--json"}},
		false: {{"--keep-rate", "1"}, {"--keep-rate", "0.5"}, {"--regulariser", "dropedge:0.5"}},
	})
}

func TestTrainSaysHowItDiffersFromThePapersExperiment(t *testing.T) {
	_, said := succeeds(t, "train", "--backend", "go", "--trials", "1", "--max-epochs", "1", "--keep-rate", "0.5")
	require.Contains(t, said, "the paper's experiment is --preset paper, which adds --arrivals train-edges "+
		"--set resplit=true --set mlp-layers=2 --set norm=both --set readout=all --set dropout-on=scores "+
		"--set weight-decay=0 --max-epochs 1000 --stop-on either\n")
}

func TestThePresetPaperIsThePapersExperiment(t *testing.T) {
	for _, model := range judge.Models() {
		for _, setting := range datasets.Settings() {
			var f trainFlags
			c := trainCommand(&f)
			require.NoError(t, c.ParseFlags([]string{"--preset", "paper", "--model", model, "--setting", string(setting)}))
			arms, err := f.arms(c)
			require.NoError(t, err)
			plain, masked, err := judge.Arms("cora", model, setting, 10)
			require.NoError(t, err)
			require.Len(t, arms, 2)
			require.Equal(t, []string{plain.Key(), masked.Key()}, []string{arms[0].Key(), arms[1].Key()})
			require.EqualValues(t, judge.FirstSplit, f.seed)
			require.Equal(t, judge.Splits, f.trials)
		}
	}
	quick := []string{"train", "--preset", "paper", "--backend", "go", "--trials", "2", "--max-epochs", "2"}
	out, _ := succeeds(t, quick...)
	require.Contains(t, out, ": GIN (preset paper), --max-epochs 2\n")
	require.Contains(t, out, ": GIN (preset paper), --keep-rate 0.5 --max-epochs 2\n")
	require.Regexp(t, `(?m)^Node masking changes macro F1 by [+-][\d.]+ points \[.*\] over 2 splits; the paper: `+
		`[\d.]+ without, [\d.]+ with it. The experiment has 20 splits.$`, out)
	out, _ = succeeds(t, append(quick, "--keep-rate", "0.2", "--json")...)
	lines := jsonLines(t, out)
	require.Len(t, lines, 2)
	require.EqualValues(t, 0.2, lines[0]["keep_rate"])
	require.EqualValues(t, 500, lines[0]["split_seed"])
	refuses(t, quick, map[string][]string{
		`--preset paper: no cited reading of "gcn": expected one of ["gin" `: {"--model", "gcn"},
		"--save-model: --preset paper trains without node masking and with":  {"--save-model", "m"},
	})
}

func TestWhatFewNeedIsSetByName(t *testing.T) {
	dir := smallGraph(t)
	out, _ := succeeds(t, quickTrain(dir, "--set", "norm=both", "--set", "mlp-layers=2", "--set", "residual=true")...)
	require.Contains(t, out, "--hidden 4 --set mlp-layers=2 --set norm=both --set residual=true")
	out, _ = succeeds(t, "train", "--set", "help")
	require.Regexp(t, `(?m)^  norm value +batch normalisation \(gin\)`, out)
	refuses(t, quickTrain(dir), map[string][]string{
		`--set: "nrom=both": expected one of resplit, validation, mask-over, `: {"--set", "nrom=both"},
		`unknown flag: --norm: expected --set norm=VALUE`:                      {"--norm", "both"},
		`--set: residual: "perhaps": expected true or false`:                   {"--set", "residual=perhaps"},
	})
}

// requireTrainSays requires that train prints a text with some further arguments and not with others.
func requireTrainSays(t *testing.T, text string, args []string, further map[bool][][]string) {
	args = append([]string{"train", "--data", smallGraph(t), "--train", "50", "--trials", "1", "--max-epochs", "1",
		"--backend", "go"}, args...)
	for says, cases := range further {
		for _, more := range cases {
			_, diagnostics := succeeds(t, slices.Concat(args, more)...)
			assert.Equal(t, says, strings.Contains(diagnostics, text), more)
		}
	}
}

func TestFilesThatCannotBeOpenedAreNamedWithTheirFlag(t *testing.T) {
	dir := smallGraph(t)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"tree", "--data", "./none.txt", "--root", "a"}, 1, "nodemask: ./none.txt: no such file or folder\n"},
		{[]string{"predict", "--model", "none", "--nodes", "n", "--edges", "e"}, 1,
			"nodemask: --model none: no such file or directory\n"},
		{[]string{"train", "--data", "./none"}, 1, "nodemask: ./none: no such file or folder\n"},
		{quickTrain(dir, "--save-model", "none/m"), 2, "nodemask: --save-model none/m: there is no folder none\n"},
		{quickTrain(dir, "--save-model", "."), 2, "nodemask: --save-model .: this is a folder: expected a file\n"},
		{[]string{"tree", "--root", "5", "-o", "none/tree.svg"}, 1,
			"nodemask: writing none/tree.svg: no such file or directory\n"},
	} {
		assert.Equal(t, c.want, fails(t, c.code, "", c.args...))
	}
}

// errorLines counts diagnostics other than those on the backend, missing masking, and the data called small.
func errorLines(diagnostics string) int {
	n := 0
	for line := range strings.Lines(diagnostics) {
		if !strings.HasPrefix(line, "backend: ") && !strings.HasPrefix(line,
			"nothing is masked: ") && !strings.HasPrefix(line, "small: ") {
			n++
		}
	}
	return n
}

func TestAnInterruptKeepsFinishedTrials(t *testing.T) {
	command := exec.Command(os.Args[0], quickTrain(smallGraph(t), "--json", "--jobs", "1", "--trials", "1000000")...)
	var diagnostics bytes.Buffer
	command.Stderr = &diagnostics
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan(), "a first trial")
	require.NoError(t, command.Process.Signal(syscall.SIGINT))
	finished := 1
	for lines.Scan() {
		finished++
		require.True(t, json.Valid(lines.Bytes()), "no half line")
	}
	var exit *exec.ExitError
	require.ErrorAs(t, command.Wait(), &exit)
	assert.Equal(t, 1, exit.ExitCode())
	assert.Contains(t, diagnostics.String(), "of 1000000 trials were finished")
	assert.Less(t, finished, 1000000)
	assert.Equal(t, 1, errorLines(diagnostics.String()), diagnostics.String())
}
