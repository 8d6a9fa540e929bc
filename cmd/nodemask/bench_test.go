package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/internal/race"
	"nodemask/internal/race/racetest"
)

// contenderLog, if set, makes the test binary a contender that appends to this file what it does.
const contenderLog = "NODEMASK_TEST_CONTENDER_LOG"

func TestMain(m *testing.M) {
	log := os.Getenv(contenderLog)
	switch {
	case len(os.Args) > 1 && (slices.Contains([]string{"reproduce", "data"}, os.Args[1]) ||
		log == "" && os.Args[1] == "train"):
		os.Exit(run(os.Args[1:])) // in a process of its own
	case log == "":
		os.Exit(m.Run())
	case os.Args[1] == "bench": // one of ours, started by 'nodemask bench' in a test
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(racetest.Contender(log, os.Args[1:]))
}

func benchLanes() []*race.Lane {
	return []*race.Lane{
		{Data: "cora", Model: "gin", KeepRate: 0.5, Library: "nodemask xla:cpu", FirstEpoch: 1.26, Train: []float64{4, 2, 3},
			Validate: []float64{5, 6, 7}, PeakMB: 300.4},
		{Data: "cora", Model: "gin", KeepRate: 0.5, Library: "pyg", Version: "2.6", FirstEpoch: 0.5,
			Train: []float64{9, 7.5, 8}, Validate: []float64{9, 9, 10}, PeakMB: 700},
		{Data: "cora", Model: "gat", KeepRate: 0.5, Library: "nodemask xla:cpu", Error: "out of memory"},
		{Data: "cora", Model: "gat", KeepRate: 0.5, Library: "dgl", Train: []float64{1}, Validate: []float64{2}},
	}
}

func TestBenchTableHasMediansLeastsRatiosAndErrors(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, (&benchFlags{markdown: true}).print(&out, benchLanes()))
	var rows [][]string
	for line := range strings.Lines(out.String()) {
		if !strings.Contains(line, "---") && strings.TrimSpace(line) != "" {
			var cells []string
			for _, cell := range strings.Split(strings.Trim(line, "|\n "), "|") {
				cells = append(cells, strings.TrimSpace(cell))
			}
			rows = append(rows, cells)
		}
	}
	require.Len(t, rows, 5, out.String())
	assert.Equal(t, []string{"cora", "gin", "0.5", "nodemask xla:cpu", "3.0 (2.0)", "1.0", "6.0 (5.0)", "1.3", "300"},
		rows[1])
	assert.Equal(t, []string{"cora", "gin", "0.5", "pyg", "8.0 (7.5)", "2.7", "9.0 (9.0)", "0.5", "700"}, rows[2])
	assert.Equal(t, "out of memory", rows[3][4])
	assert.Equal(t, []string{"1.0 (1.0)", ""}, rows[4][4:6], "no ratio to a contender that failed")

	out.Reset()
	require.NoError(t, (&benchFlags{}).print(&out, benchLanes()))
	for _, want := range []string{"ms an epoch", "with validation", "first epoch s", "peak MB", "8.0 (7.5)",
		"out of memory"} {
		assert.Contains(t, out.String(), want)
	}
}

func TestBenchWithJSONPrintsEveryFigure(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, (&benchFlags{json: true}).print(&out, benchLanes()))
	lines := jsonLines(t, out.String())
	require.Len(t, lines, 4)
	assert.Equal(t, map[string]any{"data": "cora", "model": "gin", "keep_rate": 0.5, "library": "pyg", "version": "2.6",
		"first_epoch_s": 0.5, "train_ms": []any{9.0, 7.5, 8.0}, "validate_ms": []any{9.0, 9.0,
			10.0}, "peak_mb": 700.0}, lines[1])
	assert.Equal(t, "out of memory", lines[2]["error"])
}

func TestBenchRunsOursAndThosePeersThatKnowTheModel(t *testing.T) {
	log, temporary := filepath.Join(t.TempDir(), "log"), t.TempDir()
	t.Setenv(contenderLog, log)
	t.Setenv("TMPDIR", temporary)
	dir, self := smallGraph(t), os.Args[0]
	out, _ := succeeds(t, "bench", "--data", dir, "--models", "gin,sgat", "--keep-rates", "1,0.5",
		"--backends", "go",
		"--peers", self+"=pyg,"+self+"=dgl", "--peers-script", "works", "--rounds", "2", "--epochs", "3", "--threads", "1",
		"--json")
	var got []string
	for _, line := range jsonLines(t, out) {
		got = append(got, fmt.Sprint(line["model"], line["keep_rate"], " ", line["library"]))
		assert.NotContains(t, line, "error")
		assert.Len(t, line["train_ms"], 6)
		if strings.HasPrefix(line["library"].(string), "nodemask") {
			assert.Len(t, line["train_cpu_ms"], 2, "one a turn")
		}
		assert.Len(t, line["validate_ms"], 6)
		assert.Positive(t, line["peak_mb"])
		assert.Positive(t, line["first_epoch_s"])
	}
	assert.Equal(t, []string{"gin1 nodemask go", "gin1 pyg", "gin1 dgl", "gin0.5 nodemask go", "gin0.5 pyg", "gin0.5 dgl",
		"sgat1 nodemask go", "sgat1 pyg", "sgat0.5 nodemask go", "sgat0.5 pyg"}, got)
	logged := strings.Split(fileText(t, log), "\n")
	assert.Regexp(t, `^pyg --data \S+ --model gin --keep-rate 1 --threads 1 --layers 2 --hidden 64 .*--heads \d+ `+
		`--dropout 0\.5 --attention-dropout 0 --learning-rate 0\.01 --weight-decay 0\.0005$`, logged[0])
	asked := slices.IndexFunc(logged, func(line string) bool { return strings.Contains(line, "train 3") })
	assert.Equal(t, 4, asked, "both libraries are there for both keep rates of GIN before any has a turn")
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	assert.Empty(t, left, "the folder for peers is removed")
}

func TestAContenderOfOursAnswersEachQuestion(t *testing.T) {
	t.Setenv(contenderLog, filepath.Join(t.TempDir(), "log"))
	command := exec.Command(os.Args[0], "bench", "contender", "--backend", "go", "--data", smallGraph(t), "--model", "gin",
		"--keep-rate", "0.5")
	command.Stdin = strings.NewReader("train 2\nvalidate 1\ntrain 1\n")
	out, err := command.Output()
	require.NoError(t, err)
	lines := jsonLines(t, string(out))
	require.Len(t, lines, 4, "nothing else on standard output")
	assert.Equal(t, true, lines[0]["ready"])
	assert.Equal(t, "nodemask go", lines[0]["library"])
	for i, epochs := range []int{2, 1, 1} {
		assert.Len(t, lines[i+1]["ms"], epochs)
		assert.Contains(t, lines[i+1], "cpu_ms")
		assert.Positive(t, lines[i+1]["rss_mb"])
	}
}

func TestBenchRefusesWhatCannotBeInOneLineWithExitCode2(t *testing.T) {
	refuses(t, []string{"bench"}, map[string][]string{
		"--models is empty: expected one or more of gin":                     {"--models", ""},
		"--data is empty: expected a data set or more":                       {"--data", ""},
		"--backends is empty: expected one or more of xla:cuda, xla:cpu, go": {"--backends", ""},
		"--backends foo: expected xla:cuda, xla:cpu, go or xla:":             {"--backends", "go,foo"},
		"--models gim: known are gin":                                        {"--models", "gim"},
		"--keep-rates: keep rate 0: expected a prob":                         {"--keep-rates", "1,0"},
		"--keep-rates: keep rate NaN: expected a prob":                       {"--keep-rates", "NaN"},
		"--peers pyg: expected PYTHON=LIBRARY":                               {"--peers", "pyg"},
		"--peers python=jax: expected PYTHON=LIBRARY":                        {"--peers", "python=jax"},
		"expected at least 1 of each":                                        {"--rounds", "0"},
		`expected 'nodemask bench [flags]', found 'nodemask bench please'`:   {"please"},
		`"nowhere": no such data set: expected one of`:                       {"--data", "nowhere", "--peers", "python=pyg"},
		"unknown flag: --round":                                              {"--round", "1"},
		`invalid argument "1,x" for "--keep-rates" flag: expected a number`:  {"--keep-rates", "1,x"},
	})
}

func TestABenchWhoseContendersFailIsNoSuccess(t *testing.T) {
	t.Setenv(contenderLog, filepath.Join(t.TempDir(), "log"))
	code, out, said := nodemask(t, "bench", "--data", smallGraph(t), "--models", "gin", "--keep-rates", "1",
		"--backends", "go,xla:/no/such/plugin.so", "--rounds", "1", "--epochs", "1")
	require.Equal(t, 1, code)
	require.Contains(t, out, "nodemask go", "the others are shown")
	require.Contains(t, said, "nodemask: 1 of 2 contenders failed: what was printed says why")
}

func TestWhatPeersReadIsTheGraphTheFeaturesAndTheSplit(t *testing.T) {
	for _, data := range []string{smallGraph(t), "cora"} {
		g, err := datasets.Open(t.Context(), data, datasets.OpenOptions{})
		require.NoError(t, err)
		split, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: 10, Seed: 1})
		require.NoError(t, err)
		_, view, err := benchView(t.Context(), data)
		require.NoError(t, err)
		folder, err := race.Export(g, view)
		require.NoError(t, err)
		t.Cleanup(func() { os.RemoveAll(folder) })

		x := g.Features.RowNormalized()
		assert.Equal(t, map[string]any{"nodes": float64(g.NumNodes()), "edges": float64(g.Edges.NumEdges()),
			"features": float64(x.Width), "classes": float64(g.NumClasses()), "sparse": x.IsSparse()},
			jsonLines(t, fileText(t, filepath.Join(folder, "meta.json")))[0])
		arrays := map[string]any{"offsets.i64": g.Edges.Offsets, "targets.i32": g.Edges.Indices, "labels.i32": g.Labels,
			"train.i32": split.Train, "validation.i32": split.Validation}
		if x.IsSparse() {
			maps.Copy(arrays, map[string]any{"x_offsets.i64": x.Offsets, "x_columns.i32": x.Columns, "x_values.f32": x.Values})
		} else {
			arrays["x.f32"] = x.Dense
		}
		for name, want := range arrays {
			numbers, err := binary.Append(nil, binary.LittleEndian, want)
			require.NoError(t, err)
			assert.Equal(t, string(numbers), fileText(t, filepath.Join(folder, name)), name)
		}
	}
}
