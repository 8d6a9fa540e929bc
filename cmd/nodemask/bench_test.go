package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
)

// contenderLog, if set, makes the test binary a contender that appends to this file what it does.
const contenderLog = "NODEMASK_TEST_CONTENDER_LOG"

func TestMain(m *testing.M) {
	log := os.Getenv(contenderLog)
	switch {
	case log == "":
		os.Exit(m.Run())
	case os.Args[1] == "bench": // one of ours, started by 'nodemask bench' in a test
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(fakeContender(log, os.Args[1], os.Args[2]))
}

// fakeContender takes the place of peers.py: kind is what it does, name what it calls itself in the log.
func fakeContender(log, kind, name string) int {
	note := func(format string, args ...any) {
		f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			panic(err)
		}
		defer f.Close()
		fmt.Fprintf(f, name+" "+format+"\n", args...)
	}
	note("%s", strings.Join(os.Args[3:], " "))
	switch kind {
	case "refuses":
		fmt.Println(`{"error":"no such library"}`)
		return 1
	case "babbles":
		fmt.Println("Downloading 3 of 7")
	case "dies":
		fmt.Fprintln(os.Stderr, "Traceback:\nImportError: no torch")
		return 1
	case "is-not-ready":
		fmt.Println(`{"version":"1.2"}`)
	case "hangs", "hangs-with-child":
		hang(kind)
	}
	fmt.Printf("{\"ready\":true,\"library\":%q,\"version\":\"1.2\",\"first_epoch_s\":0.25}\n", name)
	for questions := bufio.NewScanner(os.Stdin); questions.Scan(); {
		note("%s", questions.Text())
		var what string
		var epochs int
		if _, err := fmt.Sscan(questions.Text(), &what, &epochs); err != nil {
			panic(err)
		}
		switch {
		case kind == "fails-to-validate" && what == "validate":
			fmt.Println(`{"error":"out of memory"}`)
			return 1
		case kind == "answers-nothing":
			epochs = 0
		case kind == "hangs-when-asked":
			hang(kind)
		}
		ms := map[string]string{"train": "2", "validate": "3"}[what]
		fmt.Printf("{\"ms\":[%s],\"cpu_ms\":4,\"rss_mb\":77}\n", strings.TrimSuffix(strings.Repeat(ms+",", epochs), ","))
	}
	note("end")
	return 0
}

// hang connects to the test, which sees the connection end when, and only when, this process does.
func hang(kind string) {
	if kind == "hangs-with-child" {
		child := exec.Command(os.Args[0], "hangs", "child", os.Args[3])
		if err := child.Start(); err != nil {
			panic(err)
		}
	}
	c, err := net.Dial("tcp", os.Args[3])
	if err != nil {
		panic(err)
	}
	_, _ = io.Copy(io.Discard, c)
	os.Exit(1) // the test is gone
}

// field lists fake contenders by their kinds, named a, b, …, and the log that they write.
func field(t *testing.T, kinds ...string) (lanes []*lane, log func() []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	t.Setenv(contenderLog, path)
	for i, kind := range kinds {
		name := string(rune('a' + i))
		lanes = append(lanes, &lane{Library: name, command: []string{os.Args[0], kind, name}})
	}
	return lanes, func() []string { return logLines(t, path) }
}

func logLines(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

func TestContendersTakeTurnsAndTheFirstTurnGoesRound(t *testing.T) {
	lanes, log := field(t, "works", "works", "works")
	require.NoError(t, race(t.Context(), lanes, 4, 2, silence))
	var want []string
	for _, round := range []string{"abc", "bca", "cab", "abc"} {
		for _, name := range round {
			want = append(want, string(name)+" train 2", string(name)+" validate 2")
		}
	}
	lines := log()
	assert.Equal(t, []string{"a ", "b ", "c "}, lines[:3], "all are ready before the first turn")
	assert.Equal(t, want, lines[3:3+len(want)])
	for _, l := range lanes {
		assert.Empty(t, l.Error)
		assert.Equal(t, "1.2", l.Version)
		assert.Equal(t, 0.25, l.FirstEpoch)
		assert.Equal(t, []float64{2, 2, 2, 2, 2, 2, 2, 2}, l.Train)
		assert.Equal(t, []float64{3, 3, 3, 3, 3, 3, 3, 3}, l.Validate)
		assert.Equal(t, 77.0, l.PeakMB)
		assert.Nil(t, l.process)
	}
}

func TestAContenderThatFailsDropsOutAndTheOthersGoOn(t *testing.T) {
	lanes, _ := field(t, "works", "refuses", "babbles", "dies", "fails-to-validate", "works", "works", "is-not-ready", "answers-nothing")
	lanes[5].command = []string{filepath.Join(t.TempDir(), "python"), "peers.py"}
	require.NoError(t, race(t.Context(), lanes, 3, 1, silence))
	for i, want := range []string{"", "no such library", `answered "Downloading 3 of 7"`, "ended without an answer: ImportError: no torch", "out of memory", "no such file", "",
		"did not say that it is ready", "answered 0 times for 1 epochs"} {
		if want == "" {
			assert.Empty(t, lanes[i].Error)
			assert.Len(t, lanes[i].Train, 3)
			assert.Len(t, lanes[i].Validate, 3)
			continue
		}
		assert.Contains(t, lanes[i].Error, want)
		assert.NotContains(t, lanes[i].Error, "\n")
		assert.Empty(t, lanes[i].Validate)
		assert.Nil(t, lanes[i].process)
	}
	assert.Len(t, lanes[4].Train, 1, "nothing is asked after a failure")
}

// hanging listens for contenders that hang, and returns their connections as they come.
func hanging(t *testing.T, lanes ...*lane) (next func() net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	for _, l := range lanes {
		l.command = append(l.command, listener.Addr().String())
	}
	return func() net.Conn {
		c, err := listener.Accept()
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
		return c
	}
}

// requireEnded waits until the process behind a connection is gone; if it never goes, the test runs out of time.
func requireEnded(t *testing.T, c net.Conn) {
	t.Helper()
	n, _ := c.Read(make([]byte, 1)) // end of file or reset
	require.Zero(t, n)
}

func TestASilentContenderIsKilled(t *testing.T) {
	lanes, _ := field(t, "hangs")
	hanging(t, lanes...)
	assert.Nil(t, lanes[0].start(t.Context(), time.Millisecond))
	assert.Equal(t, "no answer for 1ms", lanes[0].Error)
	assert.Nil(t, lanes[0].process, "at once, not at the end of the race")
}

func TestCancellingKillsAllContendersAndWhatTheyStarted(t *testing.T) {
	for name, kinds := range map[string][]string{
		"while one starts": {"works", "hangs-with-child"},
		"in a turn":        {"hangs-when-asked", "works"},
	} {
		t.Run(name, func(t *testing.T) {
			lanes, log := field(t, kinds...)
			hangs := 0
			if strings.HasPrefix(kinds[1], "hangs") {
				hangs = 1
			}
			next := hanging(t, lanes[hangs])
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error)
			go func() { ended <- race(ctx, lanes, 5, 5, silence) }()
			connections := []net.Conn{next()}
			if kinds[hangs] == "hangs-with-child" {
				connections = append(connections, next())
			}
			cancel()
			require.ErrorIs(t, <-ended, context.Canceled)
			for _, c := range connections {
				requireEnded(t, c)
			}
			for _, l := range lanes {
				assert.Nil(t, l.process)
			}
			assert.NotContains(t, log(), "b train 5", "nobody is asked any more")
		})
	}
}

func benchLanes() []*lane {
	return []*lane{
		{Data: "cora", Model: "gin", KeepRate: 0.5, Library: "nodemask xla:cpu", FirstEpoch: 1.26, Train: []float64{4, 2, 3}, Validate: []float64{5, 6, 7}, PeakMB: 300.4},
		{Data: "cora", Model: "gin", KeepRate: 0.5, Library: "pyg", Version: "2.6", FirstEpoch: 0.5, Train: []float64{9, 7.5, 8}, Validate: []float64{9, 9, 10}, PeakMB: 700},
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
	assert.Equal(t, []string{"cora", "gin", "0.5", "nodemask xla:cpu", "3.0 (2.0)", "1.0", "6.0 (5.0)", "1.3", "300"}, rows[1])
	assert.Equal(t, []string{"cora", "gin", "0.5", "pyg", "8.0 (7.5)", "2.7", "9.0 (9.0)", "0.5", "700"}, rows[2])
	assert.Equal(t, "out of memory", rows[3][4])
	assert.Equal(t, []string{"1.0 (1.0)", ""}, rows[4][4:6], "no ratio to a contender that failed")

	out.Reset()
	require.NoError(t, (&benchFlags{}).print(&out, benchLanes()))
	for _, want := range []string{"ms an epoch", "with validation", "first epoch s", "peak MB", "8.0 (7.5)", "out of memory"} {
		assert.Contains(t, out.String(), want)
	}
}

func TestBenchWithJSONPrintsEveryFigure(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, (&benchFlags{json: true}).print(&out, benchLanes()))
	lines := jsonLines(t, out.String())
	require.Len(t, lines, 4)
	assert.Equal(t, map[string]any{"data": "cora", "model": "gin", "keep_rate": 0.5, "library": "pyg", "version": "2.6",
		"first_epoch_s": 0.5, "train_ms": []any{9.0, 7.5, 8.0}, "validate_ms": []any{9.0, 9.0, 10.0}, "peak_mb": 700.0}, lines[1])
	assert.Equal(t, "out of memory", lines[2]["error"])
}

func TestBenchRunsOursAndThosePeersThatKnowTheModel(t *testing.T) {
	log, temporary := filepath.Join(t.TempDir(), "log"), t.TempDir()
	t.Setenv(contenderLog, log)
	t.Setenv("TMPDIR", temporary)
	dir, self := smallGraph(t), os.Args[0]
	code, out, diagnostics := nodemask(t, "bench", "--data", dir, "--models", "gin,sgat", "--keep-rates", "1,0.5", "--backends", "go",
		"--peers", self+"=pyg,"+self+"=dgl", "--peers-script", "works", "--rounds", "2", "--epochs", "3", "--threads", "1", "--json")
	require.Zero(t, code, diagnostics)
	var got []string
	for _, line := range jsonLines(t, out) {
		got = append(got, fmt.Sprint(line["model"], line["keep_rate"], " ", line["library"]))
		assert.NotContains(t, line, "error")
		assert.Len(t, line["train_ms"], 6)
		assert.Len(t, line["validate_ms"], 6)
		assert.Positive(t, line["peak_mb"])
		assert.Positive(t, line["first_epoch_s"])
	}
	assert.Equal(t, []string{"gin1 nodemask go", "gin1 pyg", "gin1 dgl", "gin0.5 nodemask go", "gin0.5 pyg", "gin0.5 dgl",
		"sgat1 nodemask go", "sgat1 pyg", "sgat0.5 nodemask go", "sgat0.5 pyg"}, got)
	started := logLines(t, log)[0]
	assert.Regexp(t, `^pyg --data \S+ --model gin --keep-rate 1 --threads 1 --layers 2 --hidden 64 .*--heads \d+ --dropout 0\.5 --attention-dropout 0 --learning-rate 0\.01 --weight-decay 0\.0005$`, started)
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	assert.Empty(t, left, "the folder for peers is removed")
}

func TestAContenderOfOursAnswersEachQuestion(t *testing.T) {
	t.Setenv(contenderLog, filepath.Join(t.TempDir(), "log"))
	command := exec.Command(os.Args[0], "bench", "contender", "--backend", "go", "--data", smallGraph(t), "--model", "gin", "--keep-rate", "0.5")
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
	for want, args := range map[string][]string{
		"--models gim: known are gin":                                       {"--models", "gim"},
		"--keep-rates: keep rate 0: expected a prob":                        {"--keep-rates", "1,0"},
		"--keep-rates: keep rate NaN: expected a prob":                      {"--keep-rates", "NaN"},
		"--peers pyg: expected PYTHON=LIBRARY":                              {"--peers", "pyg"},
		"--peers python=jax: expected PYTHON=LIBRARY":                       {"--peers", "python=jax"},
		"expected at least 1 of each":                                       {"--rounds", "0"},
		`unknown command "please" for "nodemask bench"`:                     {"please"},
		`"nowhere": no such data set: expected one of`:                      {"--data", "nowhere", "--peers", "python=pyg"},
		"unknown flag: --round":                                             {"--round", "1"},
		`invalid argument "1,x" for "--keep-rates" flag: expected a number`: {"--keep-rates", "1,x"},
	} {
		code, out, diagnostics := nodemask(t, append([]string{"bench"}, args...)...)
		assert.Equal(t, 2, code, args)
		assert.Contains(t, diagnostics, want)
		assert.Empty(t, out, args)
		assert.Equal(t, 1, strings.Count(diagnostics, "\n"), diagnostics)
	}
}

// raw reads a file of little-endian numbers.
func raw[T int32 | int64 | float32](t *testing.T, folder, name string) []T {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, name))
	require.NoError(t, err)
	values := make([]T, len(b)/binary.Size(T(0)))
	_, err = binary.Decode(b, binary.LittleEndian, values)
	require.NoError(t, err)
	return values
}

func TestWhatPeersReadIsTheGraphTheFeaturesAndTheSplit(t *testing.T) {
	for _, data := range []string{smallGraph(t), "cora"} {
		g, err := datasets.Open(t.Context(), data, datasets.OpenOptions{})
		require.NoError(t, err)
		split, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: 10, Seed: 1})
		require.NoError(t, err)
		folder, err := exportForPeers(t.Context(), data)
		require.NoError(t, err)
		t.Cleanup(func() { os.RemoveAll(folder) })

		b, err := os.ReadFile(filepath.Join(folder, "meta.json"))
		require.NoError(t, err)
		var meta map[string]any
		require.NoError(t, json.Unmarshal(b, &meta), "%s", b)
		x := g.Features.RowNormalized()
		assert.Equal(t, map[string]any{"nodes": float64(g.NumNodes()), "edges": float64(g.Edges.NumEdges()), "features": float64(x.Width),
			"classes": float64(g.NumClasses()), "sparse": x.IsSparse()}, meta)
		assert.Equal(t, g.Edges.Offsets, raw[int64](t, folder, "offsets.i64"))
		assert.Equal(t, g.Edges.Indices, raw[int32](t, folder, "targets.i32"))
		assert.Equal(t, g.Labels, raw[int32](t, folder, "labels.i32"))
		assert.Equal(t, split.Train, raw[int32](t, folder, "train.i32"))
		assert.Equal(t, split.Validation, raw[int32](t, folder, "validation.i32"))
		if x.IsSparse() {
			assert.Equal(t, x.Offsets, raw[int64](t, folder, "x_offsets.i64"))
			assert.Equal(t, x.Columns, raw[int32](t, folder, "x_columns.i32"))
			assert.Equal(t, x.Values, raw[float32](t, folder, "x_values.f32"))
		} else {
			assert.Equal(t, x.Dense, raw[float32](t, folder, "x.f32"))
		}
	}
}
