//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nodemask/internal/faults"

	"github.com/stretchr/testify/require"
)

// Limits of a command.
const (
	longest    = 60 * time.Second // else it hangs
	mostMemory = 1 << 30          // peak, in bytes
	mostNotes  = 25               // lines on standard error: readers list at most 20 remarks
)

type attack struct {
	*testing.T
	program string
	seed    uint64
}

// newAttack has the seed 33, or NODEMASK_TORTURE_SEED.
func newAttack(t *testing.T) *attack {
	if os.Getenv(faults.Torture) == "" {
		t.Skip("skipped: takes minutes: run it with NODEMASK_TORTURE=1")
	}
	a := &attack{T: t, program: os.Args[0], seed: 33}
	if text := os.Getenv("NODEMASK_TORTURE_SEED"); text != "" {
		var err error
		a.seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("seed %d", a.seed)
	t.Setenv("NODEMASK_DATA", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("GOMLX_BACKEND", "go")
	return a
}

type process struct {
	*exec.Cmd
	out, diagnostics bytes.Buffer
	cancel           context.CancelFunc
}

func (a *attack) start(arguments ...string) *process {
	ctx, cancel := context.WithTimeout(a.Context(), longest)
	p := &process{Cmd: exec.CommandContext(ctx, a.program, arguments...), cancel: cancel}
	p.Stdout, p.Stderr, p.Dir = &p.out, &p.diagnostics, a.TempDir()
	require.NoError(a, p.Start())
	return p
}

// end waits for a process, and returns what it did wrong; "" if nothing.
func (p *process) end() string {
	err := p.Wait()
	p.cancel()
	switch p.ProcessState.Sys().(syscall.WaitStatus).Signal() {
	case syscall.SIGKILL:
		return fmt.Sprintf("it took more than %v: %v", longest, err)
	case syscall.SIGINT: // before the command listens, or after it ended
		return ""
	}
	text := p.diagnostics.String()
	for _, trace := range []string{"goroutine ", "panic:", "fatal error", "runtime error", "SIGSEGV", "out of memory"} {
		if strings.Contains(text, trace) {
			return "a stack trace: " + text
		}
	}
	last := strings.Count(text, "\nnodemask: ")
	if strings.HasPrefix(text, "nodemask: ") {
		last++
	}
	code := p.ProcessState.ExitCode()
	switch most := p.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10; {
	case code < 0 || code > 2:
		return fmt.Sprintf("exit code %d: %v: %.300s", code, err, text)
	case code > 0 && last != 1, code == 0 && last != 0:
		return fmt.Sprintf("exit code %d with %d errors: %.2000s", code, last, text)
	case strings.Count(text, "\n") > mostNotes || !strings.HasSuffix("\n"+text, "\n"):
		return fmt.Sprintf("%d lines on standard error: %.2000s", strings.Count(text, "\n"), text)
	case most > mostMemory:
		return fmt.Sprintf("%d MiB of memory: %.300s", most>>20, text)
	case strings.ContainsAny(text+p.out.String(), "\x00\x07\x1b\u202a\u202b\u202d\u202e\u2066\u2067\u2068"):
		return fmt.Sprintf("control characters: %.300q %.300q", text, p.out.String())
	}
	return ""
}

// run runs the command to its end, and fails the test for forbidden behaviour.
func (a *attack) run(arguments ...string) (code int, out string) {
	p := a.start(arguments...)
	if problem := p.end(); problem != "" {
		a.Errorf("%q: %s", arguments, problem)
	}
	return p.ProcessState.ExitCode(), p.out.String()
}

func (a *attack) must(arguments ...string) {
	code, _ := a.run(arguments...)
	require.Zero(a, code, arguments)
}

func files(t testing.TB, folder, only string) (all []string) {
	require.NoError(t, filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && strings.Contains(e.Name(), only) {
			all = append(all, path)
		}
		return err
	}))
	return all
}

func lines(t testing.TB, from, to string, most int) {
	all := strings.SplitAfterN(fileText(t, from), "\n", most+1)
	put(t, filepath.Dir(to), filepath.Base(to), strings.Join(all[:min(most, len(all))], ""))
}

type victim struct {
	name    string
	kills   int
	longest time.Duration // latest moment of a kill; 0: the duration of an undisturbed run
	command []string
	holds   func(when string) // checks what must hold after each kill and at the end
	again   bool              // run to the end after each kill, else only after the last
	reset   func()            // before each run, if again; nil: nothing
}

// killEach kills a command at random moments, and then runs it to its end.
func (a *attack) killEach(v victim) {
	began, late := time.Now(), 0
	latest := v.longest
	if latest == 0 {
		before := time.Now()
		a.must(v.command...)
		latest = time.Since(before)
	}
	r := rand.New(rand.NewPCG(a.seed, uint64(v.kills)))
	for range v.kills {
		if v.reset != nil {
			v.reset()
		}
		p := a.start(v.command...)
		timer := time.AfterFunc(time.Duration(r.Int64N(int64(latest))), func() { _ = p.Process.Kill() })
		if p.Wait() == nil {
			late++
		}
		timer.Stop()
		p.cancel()
		v.holds(v.name + " killed")
		if v.again {
			a.must(v.command...)
			v.holds(v.name + " run again")
		}
	}
	a.must(v.command...)
	v.holds(v.name + " at the end")
	a.Logf("%-12s %3d kills within %5.2f s, of which %d came too late, %.0f s", v.name, v.kills, latest.Seconds(), late,
		time.Since(began).Seconds())
}

type bench struct {
	*attack
	dir, graph, easy string
	train            []string
}

func newBench(t *testing.T) *bench {
	b := &bench{attack: newAttack(t), dir: t.TempDir(), graph: smallGraph(t), easy: easyGraph(t)}
	b.train = []string{"train", "--data", b.graph, "--backend", "go", "--train", "30", "--trials", "2", "--max-epochs",
		"30", "--hidden", "16"}
	put(t, b.dir, "nodes.csv", "id,x,z\nnew,0.25,1\n")
	put(t, b.dir, "edges.csv", "source,target\nnew,new\n")
	return b
}

func (b *bench) at(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) saving(folder string, more ...string) []string {
	return slices.Concat(b.train, []string{"--save-model", filepath.Join(folder, "m"), "--save-cache"}, more)
}

// predicts requires that a folder's model predicts from its cache.
func (b *bench) predicts(folder, when string) {
	code, _ := b.run("predict", "--model", filepath.Join(folder, "m"), "--nodes",
		b.at("nodes.csv"), "--edges", b.at("edges.csv"), "--backend", "go")
	require.Zero(b, code, when)
}

func (b *bench) whole(folder, when string) {
	if _, err := os.Stat(folder); err != nil || len(files(b, folder, ".jsonl")) == 0 {
		return
	}
	p := b.start("reproduce", "verify", "--results", folder)
	require.Empty(b, p.end(), when)
	if p.ProcessState.ExitCode() != 0 {
		require.Contains(b, p.diagnostics.String(), "no records there", when)
	}
}

func (b *bench) only(folder, when string, names ...string) {
	entries, err := os.ReadDir(folder)
	require.NoError(b, err)
	for _, e := range entries {
		require.Contains(b, names, e.Name(), when)
	}
}

func (b *bench) advising(folder string) []string {
	return []string{"advise", "--data", b.easy, "--models", "gcn", "--setting", "transductive", "--budget", "20s",
		"--backend", "go", "--results", folder}
}

func TestKillsLeaveNothingHalf(t *testing.T) {
	b := newBench(t)
	for _, folder := range []string{"saved", "embedded"} {
		require.NoError(t, os.Mkdir(b.at(folder), 0o777))
	}
	saved, embedded := b.at("saved"), filepath.Join(b.at("embedded"), "e.csv")
	b.killEach(victim{name: "models", kills: 35, command: b.saving(saved), again: true, holds: func(when string) {
		b.predicts(saved, when)
		if when == "models run again" {
			b.only(saved, when, "m")
		}
	}})

	embed := []string{"predict", "--all", "--model", filepath.Join(saved, "m"), "--data", b.graph, "--backend", "go", "-o", embedded}
	b.must(embed...)
	table := fileText(b, embedded)
	b.killEach(victim{name: "tables", kills: 15, command: embed, again: true,
		reset: func() { require.NoError(t, os.RemoveAll(embedded)) },
		holds: func(when string) {
			if _, err := os.Stat(embedded); err == nil || when != "tables killed" {
				require.Equal(t, table, fileText(b, embedded), when)
			}
			if when != "tables killed" {
				b.only(b.at("embedded"), when, "e.csv")
			}
		}})

	b.killEach(victim{name: "records", kills: 15, longest: 4 * time.Second,
		command: []string{"reproduce", "fig-loss-cora", "--trials", "1", "--shard", "1/4", "--results", b.at("records"),
			"--backend", "go"}, holds: func(when string) { b.whole(b.at("records"), when) }})
	b.killEach(victim{name: "advice", kills: 10, again: true, command: b.advising(b.at("advice")),
		reset: func() { require.NoError(t, os.RemoveAll(b.at("advice"))) },
		holds: func(when string) { b.whole(b.at("advice"), when) }})
}

func (b *bench) both(first, second []string) {
	p, q := b.start(first...), b.start(second...)
	for _, each := range []*process{p, q} {
		if problem := each.end(); problem != "" {
			b.Errorf("%q: %s", each.Args, problem)
		}
	}
	require.True(b, p.ProcessState.ExitCode() == 0 || q.ProcessState.ExitCode() == 0, "both failed: %s %s",
		p.diagnostics.String(), q.diagnostics.String())
}

func TestTwoProcessesAtOnceLeaveWholeFilesOfOneOfThem(t *testing.T) {
	b := newBench(t)
	for _, folder := range []string{"saved", "embedded"} {
		require.NoError(t, os.Mkdir(b.at(folder), 0o777))
	}
	saved, table := b.at("saved"), filepath.Join(b.at("embedded"), "e.csv")
	for range 20 {
		b.both(b.saving(saved), b.saving(saved, "--seed", "7"))
		b.predicts(saved, "models")
		b.only(saved, "models", "m")
	}
	embed := []string{"predict", "--all", "--model", filepath.Join(saved, "m"), "--data", b.graph, "--backend", "go", "-o", table}
	b.must(embed...)
	want := fileText(b, table)
	for range 8 {
		b.both(embed, embed)
		require.Equal(t, want, fileText(b, table))
		b.only(b.at("embedded"), "tables", "e.csv")
	}
	from := filepath.Join("..", "..", "results")
	lines(t, filepath.Join(from, "cora-gin.jsonl"), b.at("one/cora-gin.jsonl"), 300)
	lines(t, filepath.Join(from, "cora-gin.jsonl"), b.at("two/cora-gin.jsonl"), 200)
	for i := range 8 {
		to := b.at("merged" + string(rune('a'+i)))
		b.both([]string{"reproduce", "merge", b.at("one"), "--results", to}, []string{"reproduce", "merge", b.at("two"),
			"--results", to})
		b.whole(to, "merged")
		require.Equal(t, 300, strings.Count(fileText(b, filepath.Join(to, "cora-gin.jsonl")), "\n"))
	}
	reproduce := []string{"reproduce", "fig-loss-cora", "--trials", "1", "--shard", "1/4", "--backend", "go", "--results",
		b.at("records")}
	for range 3 {
		require.NoError(t, os.RemoveAll(b.at("records")))
		b.both(reproduce, reproduce)
		b.whole(b.at("records"), "records")
	}
	for range 3 {
		require.NoError(t, os.RemoveAll(b.at("advice")))
		b.both(b.advising(b.at("advice")), b.advising(b.at("advice")))
		b.whole(b.at("advice"), "advice")
	}
	t.Log("42 pairs: 20 of models, 8 of tables, 8 of merged results, 3 of records, 3 of advice")
}
