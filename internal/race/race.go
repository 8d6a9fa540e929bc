// Package race times contenders, each a process of its own. They take turns while the others wait, so that whatever
// else the machine does hits all alike.
package race

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"nodemask/datasets"
)

// Lane describes a contender: a process that prints a line of JSON once it is ready and has run one epoch, then answers
// each line that it reads: "train N" and "validate N" with the times of N epochs, without and with validation.
type Lane struct {
	Data     string  `json:"data"`
	Model    string  `json:"model"`
	KeepRate float64 `json:"keep_rate"`
	Library  string  `json:"library"`
	Version  string  `json:"version,omitempty"`
	Backend  string  `json:"backend,omitempty"` // what it computes with, and why it is not faster, if it says so

	FirstEpoch float64   `json:"first_epoch_s"` // compile included
	Train      []float64 `json:"train_ms"`
	Validate   []float64 `json:"validate_ms"`
	// of all cores, an epoch, in each turn: of use where other programs run too
	TrainCPU []float64 `json:"train_cpu_ms,omitempty"`
	PeakMB   float64   `json:"peak_mb"`
	Error    string    `json:"error,omitempty"`

	Command []string    `json:"-"` // what starts it
	Ready   func(*Lane) `json:"-"` // called once it is ready, if not nil
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	stderr  bytes.Buffer
}

// Silence is how long a contender may usually take to answer.
const Silence = 10 * time.Minute

// answer is a line that a contender prints.
type answer struct {
	Ready      bool      `json:"ready"`
	Version    string    `json:"version"`
	Backend    string    `json:"backend"`
	FirstEpoch float64   `json:"first_epoch_s"`
	Ms         []float64 `json:"ms"`
	CPU        float64   `json:"cpu_ms"`
	PeakMB     float64   `json:"rss_mb"`
	Error      string    `json:"error"`
}

// Run starts the contenders and gives them turns. A contender that fails keeps its error and drops out; only a
// cancelled context ends the race. No process outlives it.
func Run(ctx context.Context, lanes []*Lane, rounds, epochs int, silence time.Duration) error {
	defer func() {
		for _, l := range lanes {
			l.stop()
		}
	}()
	for _, l := range lanes {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if a := l.start(ctx, silence); a != nil {
			l.Version, l.Backend, l.FirstEpoch = a.Version, a.Backend, a.FirstEpoch
			if l.Ready != nil {
				l.Ready(l)
			}
		}
	}
	for round := range rounds {
		for i := range lanes {
			l := lanes[(i+round)%len(lanes)]
			for _, turn := range []struct {
				name string
				into *[]float64
			}{{"train", &l.Train}, {"validate", &l.Validate}} {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if a := l.ask(ctx, turn.name, epochs, silence); a != nil {
					*turn.into = append(*turn.into, a.Ms...)
					if turn.name == "train" && a.CPU > 0 {
						l.TrainCPU = append(l.TrainCPU, a.CPU)
					}
					l.PeakMB = a.PeakMB
				}
			}
		}
	}
	return ctx.Err()
}

func (l *Lane) start(ctx context.Context, silence time.Duration) *answer {
	process := exec.Command(l.Command[0], l.Command[1:]...)
	process.Stderr = &l.stderr
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is ours to pass on
	process.WaitDelay = 5 * time.Second                       // for pipes that something else holds open
	in, err := process.StdinPipe()
	if err != nil {
		return l.fail(err)
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return l.fail(err)
	}
	if err := process.Start(); err != nil {
		return l.fail(err)
	}
	l.process, l.in, l.out = process, in, bufio.NewScanner(out)
	l.out.Buffer(nil, 1<<24)
	a := l.wait(ctx, silence)
	if a != nil && !a.Ready {
		return l.fail(errors.New("did not say that it is ready"))
	}
	return a
}

func (l *Lane) ask(ctx context.Context, what string, epochs int, silence time.Duration) *answer {
	if l.Error != "" {
		return nil
	}
	// If it cannot be asked it has ended, and what it last said is why.
	_, _ = fmt.Fprintf(l.in, "%s %d\n", what, epochs)
	a := l.wait(ctx, silence)
	if a != nil && len(a.Ms) != epochs {
		return l.fail(fmt.Errorf("answered %d times for %d epochs", len(a.Ms), epochs))
	}
	return a
}

// wait reads an answer. What ends the context, and silence, kills the process, and with it its output.
func (l *Lane) wait(ctx context.Context, silence time.Duration) *answer {
	ctx, cancel := context.WithTimeoutCause(ctx, silence, fmt.Errorf("no answer for %v", silence))
	defer cancel()
	defer context.AfterFunc(ctx, killing(l.process))()
	if !l.out.Scan() {
		l.stop() // its standard error is complete once it is gone
		if err := context.Cause(ctx); err != nil {
			return l.fail(err)
		}
		said := strings.TrimSpace(l.stderr.String())
		return l.fail(errors.New("ended without an answer: " + said[strings.LastIndexByte(said, '\n')+1:]))
	}
	var a answer
	if err := json.Unmarshal(l.out.Bytes(), &a); err != nil {
		return l.fail(fmt.Errorf("answered %.80q", l.out.Bytes()))
	}
	if a.Error != "" {
		return l.fail(errors.New(a.Error))
	}
	return &a
}

// killing kills a process and what it started.
func killing(process *exec.Cmd) func() {
	return func() { _ = syscall.Kill(-process.Process.Pid, syscall.SIGKILL) }
}

// fail ends the process, which would take time from the others.
func (l *Lane) fail(err error) *answer {
	l.stop()
	l.Error = err.Error()
	return nil
}

// stop ends the process and waits until it is gone.
func (l *Lane) stop() {
	if l.process == nil {
		return
	}
	_ = l.in.Close()
	killing(l.process)()
	_ = l.process.Wait() // it was killed: there is no other way for it to end
	l.process = nil
}

// Compete is a contender's side: it answers questions until they end. run trains for so many epochs, with or without
// validation, and returns how long each took.
func Compete(ctx context.Context, in io.Reader, out *json.Encoder,
	run func(ctx context.Context, epochs int, validate bool) ([]time.Duration, error)) error {
	questions := bufio.NewScanner(in)
	for questions.Scan() {
		var name string
		var epochs int
		if _, err := fmt.Sscan(questions.Text(), &name, &epochs); err != nil || (name != "train" &&
			name != "validate") || epochs < 1 {
			return fmt.Errorf("question %.40q: expected 'train N' or 'validate N'", questions.Text())
		}
		before := usage()
		laps, err := run(ctx, epochs, name == "validate")
		if err != nil {
			return err
		}
		after := usage()
		ms := make([]float64, len(laps))
		for i, lap := range laps {
			ms[i] = float64(lap.Microseconds()) / 1000
		}
		if err := out.Encode(map[string]any{"ms": ms, "cpu_ms": (after.cpu - before.cpu).Seconds() * 1000 / float64(epochs),
			"rss_mb": after.peakMB}); err != nil {
			return err
		}
	}
	return questions.Err()
}

type used struct {
	cpu    time.Duration
	peakMB float64
}

func usage() used {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return used{}
	}
	unit := 1024.0 // Linux has kilobytes
	if runtime.GOOS == "darwin" {
		unit *= 1024 // and macOS bytes
	}
	return used{time.Duration(u.Utime.Nano() + u.Stime.Nano()), float64(u.Maxrss) / unit}
}

// Export writes a graph and its split as raw arrays that any language reads, for contenders of other libraries, into a
// temporary folder of its own.
func Export(g *datasets.Graph, view *datasets.View) (folder string, err error) {
	if folder, err = os.MkdirTemp("", "nodemask-bench-"); err != nil {
		return "", err
	}
	x := g.Features.RowNormalized()
	about, err := json.Marshal(map[string]any{"nodes": g.NumNodes(), "edges": g.Edges.NumEdges(), "features": x.Width,
		"classes": g.NumClasses(), "sparse": x.IsSparse()})
	if err != nil {
		return "", err
	}
	files := map[string]any{"meta.json": about, "offsets.i64": g.Edges.Offsets, "targets.i32": g.Edges.Indices,
		"labels.i32": g.Labels, "train.i32": view.Train.Score, "validation.i32": view.Validation.Score}
	if x.IsSparse() {
		files["x_offsets.i64"], files["x_columns.i32"], files["x_values.f32"] = x.Offsets, x.Columns, x.Values
	} else {
		files["x.f32"] = x.Dense
	}
	for name, array := range files {
		bytes, err := binary.Append(nil, binary.LittleEndian, array)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), bytes, 0o666)
		}
		if err != nil {
			_ = os.RemoveAll(folder)
			return "", fmt.Errorf("writing %s for other libraries: %w", name, err)
		}
	}
	return folder, nil
}
