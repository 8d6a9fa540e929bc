//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
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

	"github.com/stretchr/testify/require"

	"nodemask/internal/faults"
)

// Limits of an attacked command.
const (
	longest    = 60 * time.Second // else it hangs
	mostMemory = 1 << 30          // peak, in bytes
	mostNotes  = 25               // lines on standard error: readers list at most 20 remarks
)

type attack struct {
	*testing.T
	program string
	seed    uint64
	thrown  int // inputs
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

type target struct {
	name   string
	inputs int
	sound  string // folder to copy for each input
	only   string // change only files whose names contain this; "": any
	single bool   // each file is read by itself, and in is the changed one
	// command returns the arguments that read in and write to out.
	command func(r *rand.Rand, in, out string) []string
	patient bool // may train for long; is interrupted
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

var others = []string{"gone", "empty", "pipe", "device", "folder", "loop", "holes"}

// spoil changes or replaces a file and returns what it did.
func spoil(t testing.TB, r *rand.Rand, path, kind string) string {
	content := []byte(fileText(t, path))
	if kind == "" {
		require.NoError(t, os.WriteFile(path, mangled(r, path, content), 0o666))
		return "changed"
	}
	require.NoError(t, os.Remove(path))
	kinds := map[string]func() error{
		"gone":   func() error { return nil },
		"empty":  func() error { return os.WriteFile(path, nil, 0o666) },
		"pipe":   func() error { return syscall.Mkfifo(path, 0o666) },
		"device": func() error { return os.Symlink("/dev/zero", path) },
		"folder": func() error { return os.Mkdir(path, 0o777) },
		"loop":   func() error { return os.Symlink(path, path) },
		"holes": func() error { // a gigabyte that takes no disk space
			return errors.Join(os.WriteFile(path, content, 0o666), os.Truncate(path, 1<<30))
		},
	}
	require.NoError(t, kinds[kind]())
	return kind
}

func (a *attack) throw(x target) {
	began, codes, most := time.Now(), map[int]int{}, int64(0)
	a.thrown += x.inputs
	for i := range x.inputs {
		r := rand.New(rand.NewPCG(a.seed, uint64(i)<<32|uint64(len(x.name))))
		in, out := filepath.Join(a.TempDir(), "in"), filepath.Join(a.TempDir(), "out")
		require.NoError(a, os.CopyFS(in, os.DirFS(x.sound)))
		require.NoError(a, os.Mkdir(out, 0o777))
		all := files(a, in, x.only)
		if x.single {
			k := r.IntN(len(all))
			all = all[k : k+1]
		}
		var did []string
		for range 1 + r.IntN(2) {
			if path := all[r.IntN(len(all))]; isSmall(path) {
				kind := ""
				if i < 4*len(others) { // each a few times, for any file
					kind = others[i%len(others)]
				}
				did = append(did, spoil(a, r, path, kind)+" "+filepath.Base(path))
			}
		}
		read := in
		if x.single {
			read = all[0]
		}
		arguments := x.command(r, read, out)
		p := a.start(arguments...)
		stop := time.AfterFunc(2*time.Second, func() {
			if x.patient {
				_ = p.Process.Signal(os.Interrupt)
			}
		})
		problem := p.end()
		stop.Stop()
		code := p.ProcessState.ExitCode()
		codes[code]++
		most = max(most, p.ProcessState.SysUsage().(*syscall.Rusage).Maxrss<<10)
		left := slices.DeleteFunc(files(a, out, ""), func(path string) bool { return filepath.Ext(path) == ".jsonl" })
		if problem == "" && code != 0 && len(left) > 0 { // records are added one by one
			problem = fmt.Sprintf("it failed and left %q", left)
		}
		if problem != "" {
			kept, err := os.MkdirTemp("", "nodemask-attack-")
			require.NoError(a, err)
			for _, path := range files(a, in, "") {
				if isSmall(path) {
					lines(a, path, filepath.Join(kept, strings.TrimPrefix(path, in)), 1<<30)
				}
			}
			a.Errorf("%s, input %d (%s), kept in %s: %q: %s", x.name, i, strings.Join(did, ", "), kept, arguments, problem)
		}
		require.NoError(a, errors.Join(os.RemoveAll(in), os.RemoveAll(out)))
	}
	a.Logf("%-12s %4d inputs: %4d read, %4d refused (%d as misuse), at most %3d MiB, %.0f s", x.name, x.inputs, codes[0],
		codes[1]+codes[2], codes[2], most>>20, time.Since(began).Seconds())
}

func isSmall(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() < 1<<26
}

func lines(t testing.TB, from, to string, most int) {
	all := strings.SplitAfterN(fileText(t, from), "\n", most+1)
	put(t, filepath.Dir(to), filepath.Base(to), strings.Join(all[:min(most, len(all))], ""))
}

func TestHostileInputsEndInOneLineWithinBounds(t *testing.T) {
	a := newAttack(t)
	dir := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	testdata := filepath.Join("..", "..", "datasets", "testdata")
	copied := func(from string, parts ...string) { put(t, dir, filepath.Join(parts...), fileText(t, from)) }

	g := smallGraph(t)
	require.NoError(t, os.CopyFS(at("csv"), os.DirFS(g)))
	for _, name := range []string{"undirected.graphml", "directed.json", "data.pt", "strides.pt", "dataset.pt",
		"half.pt"} {
		copied(filepath.Join(testdata, "formats", name), strings.TrimPrefix(filepath.Ext(name), "."), name)
	}
	for _, name := range []string{"plain.npz", "compressed.npz"} {
		copied(filepath.Join(testdata, "numpy", name), "npz", name)
	}
	require.NoError(t, os.CopyFS(at("ogb"), os.DirFS(filepath.Join(testdata, "formats", "ogb"))))
	for part, name := range map[string]string{"allx": "matrix-3", "ally": "labels-3", "tx": "matrix-3", "ty": "labels-3",
		"x": "python2-matrix", "y": "python2-labels", "graph": "graph-3"} {
		copied(filepath.Join(testdata, "..", "internal", "pickle", "testdata", "pickles", name+".pickle"), "planetoid",
			"ind.cora."+part)
	}
	put(t, dir, "planetoid/ind.cora.test.index", "5\n3\n4\n")
	put(t, dir, "edges/edges.txt", "a b\nb c\nc d\na d\n")
	train := []string{"train", "--data", g, "--backend", "go", "--train", "30", "--trials", "1", "--max-epochs", "3",
		"--hidden", "4"}
	require.NoError(t, os.MkdirAll(at("saved"), 0o777))
	a.must(append(train, "--save-model", at("saved", "m.safetensors"), "--save-cache", at("saved", "c.safetensors"))...)
	put(t, dir, "saved/nodes.csv", "id,x,z\nnew,0.25,1\nalso,1,0\n")
	put(t, dir, "saved/edges.csv", "source,target\nnew,also\n")
	checkpoint := append(train, "--batches", "2", "--checkpoint")
	a.must(append(checkpoint, at("checkpoint"))...)
	results := filepath.Join("..", "..", "results")
	lines(t, filepath.Join(results, "cora-gin.jsonl"), at("records", "cora-gin.jsonl"), 4)
	lines(t, filepath.Join(results, "cora-gat.jsonl"), at("records", "cora-gat.jsonl"), 2)
	trainings := files(t, filepath.Join(results, "protocol-1"), "cora-gin")
	require.NotEmpty(t, trainings)
	for _, path := range trainings {
		relative, err := filepath.Rel(results, path)
		require.NoError(t, err)
		lines(t, path, at("trainings", relative), 3)
	}
	advise := []string{"advise", "--data", easyGraph(t), "--models", "gcn", "--setting", "transductive", "--budget", "20s",
		"--backend", "go", "--results"}
	a.must(append(advise, at("advice"))...)

	oneOf := func(r *rand.Rand, commands ...[]string) []string { return commands[r.IntN(len(commands))] }
	graph := func(r *rand.Rand, in, out string) []string {
		return oneOf(r, []string{"data", "describe", in}, []string{"data", "describe", in}, []string{"train", "--data", in,
			"--backend", "go", "--trials", "1", "--max-epochs", "2", "--hidden", "4", "--save-model", filepath.Join(out, "m")})
	}
	predict := func(_ *rand.Rand, in, _ string) []string {
		return []string{"predict", "--model", filepath.Join(in, "m.safetensors"), "--cache",
			filepath.Join(in, "c.safetensors"), "--nodes", filepath.Join(in, "nodes.csv"), "--edges",
			filepath.Join(in, "edges.csv"), "--backend", "go"}
	}
	for _, x := range []target{
		{name: "CSV", inputs: 300, sound: at("csv"), command: graph},
		{name: "npz", inputs: 300, sound: at("npz"), single: true, command: graph},
		{name: "GraphML", inputs: 300, sound: at("graphml"), single: true, command: graph},
		{name: "JSON", inputs: 300, sound: at("json"), single: true, command: graph},
		{name: "PyTorch", inputs: 400, sound: at("pt"), single: true, command: graph},
		{name: "OGB", inputs: 300, sound: at("ogb"), command: graph},
		{name: "Planetoid", inputs: 100, sound: at("planetoid"), command: func(_ *rand.Rand, in, _ string) []string {
			return []string{"data", "describe", "cora", "--data-dir", in}
		}},
		{name: "edges", inputs: 50, sound: at("edges"), command: func(_ *rand.Rand, in, out string) []string {
			return []string{"tree", "--data", filepath.Join(in, "edges.txt"), "--root", "a", "--format", "html", "-o",
				filepath.Join(out, "tree.html")}
		}},
		{name: "newcomers", inputs: 100, sound: at("saved"), only: ".csv", command: predict},
		{name: "models", inputs: 300, sound: at("saved"), only: "m.safetensors",
			command: func(r *rand.Rand, in, out string) []string {
				model := filepath.Join(in, "m.safetensors")
				return oneOf(r, []string{"export", model, "-o", filepath.Join(out, "m.onnx")},
					[]string{"predict", "--all", "--model", model, "--data", g, "--backend", "go", "-o",
						filepath.Join(out, "e.csv")},
					[]string{"explain", "--model", model, "--data", g, "--node", "3", "-o", filepath.Join(out, "e.html")})
			}},
		{name: "caches", inputs: 300, sound: at("saved"), only: "c.safetensors", command: predict},
		{name: "checkpoints", inputs: 100, sound: at("checkpoint"), command: func(_ *rand.Rand, in, _ string) []string {
			return append(slices.Clone(checkpoint), in)
		}},
		{name: "records", inputs: 150, sound: at("records"), command: func(r *rand.Rand, in, out string) []string {
			return oneOf(r, []string{"reproduce", "verify", "--results", in}, []string{"report", "list", "--results", in},
				[]string{"reproduce", "merge", in, "--results", filepath.Join(out, "merged")},
				[]string{"report", "table-gin-cora", "--results", in})
		}},
		{name: "again", inputs: 30, sound: at("records"), only: "gin", patient: true,
			command: func(_ *rand.Rand, in, _ string) []string {
				return []string{"reproduce", "again", filepath.Join(in, "cora-gin.jsonl")}
			}},
		{name: "trainings", inputs: 100, sound: at("trainings"), command: func(r *rand.Rand, in, _ string) []string {
			return oneOf(r, []string{"reproduce", "status", "depth", "--results", in}, []string{"report", "depth", "--results", in},
				[]string{"reproduce", "verify", "--results", in})
		}},
		{name: "advice", inputs: 40, sound: at("advice"), patient: true, command: func(_ *rand.Rand, in, _ string) []string {
			return append(slices.Clone(advise), in)
		}},
	} {
		a.throw(x)
	}
	a.Logf("%d inputs", a.thrown)
}
