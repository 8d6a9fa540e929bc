// Package race times contenders, each a process of its own. They take turns while the others wait, so that whatever
// else the machine does hits all alike.
package race

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
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
	answers chan []byte // closed when the process has nothing more to say
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
	l.process, l.in, l.answers = process, in, make(chan []byte)
	go func() {
		defer close(l.answers)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			l.answers <- bytes.Clone(lines.Bytes())
		}
	}()
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

func (l *Lane) wait(ctx context.Context, silence time.Duration) *answer {
	late := time.NewTimer(silence)
	defer late.Stop()
	select {
	case <-ctx.Done():
		return l.fail(ctx.Err())
	case <-late.C:
		return l.fail(fmt.Errorf("no answer for %v", silence))
	case line, more := <-l.answers:
		if !more {
			l.stop() // its standard error is complete once it is gone
			said := strings.TrimSpace(l.stderr.String())
			return l.fail(errors.New("ended without an answer: " + said[strings.LastIndexByte(said, '\n')+1:]))
		}
		var a answer
		if err := json.Unmarshal(line, &a); err != nil {
			return l.fail(fmt.Errorf("answered %.80q", line))
		}
		if a.Error != "" {
			return l.fail(errors.New(a.Error))
		}
		return &a
	}
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
	_ = l.in.Close() // which ends the process
	_ = syscall.Kill(-l.process.Process.Pid, syscall.SIGKILL)
	_ = l.process.Wait()  // it was killed: there is no other way for it to end
	for range l.answers { // until the reader, whose pipe is closed now, is done
	}
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

// Used returns the processor's time that a process took which has ended, and the most memory that it had, in MB.
func Used(p *os.ProcessState) (processor time.Duration, peakMB float64) {
	if u, is := p.SysUsage().(*syscall.Rusage); is {
		peakMB = float64(u.Maxrss) / 1024
	}
	return p.UserTime() + p.SystemTime(), peakMB
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
	return used{time.Duration(u.Utime.Nano() + u.Stime.Nano()), float64(u.Maxrss) / 1024}
}
