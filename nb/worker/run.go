package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"nodemask/internal/gobuild"
)

// patience is how long a command may run on after the stop button; gonb gives a cell five seconds to end.
const patience = 4 * time.Second

// Train runs t in a process of the command nodemask, and calls onEvent for every event. Errors are those of [Output].
func Train(ctx context.Context, project string, t Training, onEvent func(Event)) error {
	request, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return run(ctx, project, request, nil, func(out io.Reader) error {
		for events := json.NewDecoder(out); ; {
			var e Event
			if err := events.Decode(&e); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return fmt.Errorf("nodemask %s: unreadable answer: %w", Subcommand, err)
			}
			onEvent(e)
		}
	}, Subcommand)
}

// Output rebuilds the command nodemask if out of date, runs it, and returns its standard output. Standard error goes to
// the function say, if not nil. If ctx is cancelled, Output interrupts the command and returns the output so far and
// the context's error.
func Output(ctx context.Context, project string, say func(string), args ...string) (written []byte, err error) {
	err = run(ctx, project, nil, say, func(out io.Reader) (err error) {
		written, err = io.ReadAll(out)
		return err
	}, args...)
	return written, err
}

func run(ctx context.Context, project string, request []byte, say func(string), read func(io.Reader) error,
	args ...string) error {
	path := filepath.Join(project, ".nodemask", "bin", "nodemask")
	if err := build(ctx, project, path); err != nil {
		return err
	}
	diagnostics := &listener{say: say}
	c := exec.CommandContext(ctx, path, args...)
	c.Stderr, c.WaitDelay = diagnostics, patience
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	// Ignore write errors: a command that stops reading prints the reason.
	_, _ = in.Write(append(request, '\n'))
	broken := read(out)
	if broken != nil {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
	}
	err = c.Wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return errors.New(reason(diagnostics.all, err))
	}
	return broken
}

type listener struct {
	all []byte
	say func(string)
}

func (l *listener) Write(text []byte) (int, error) {
	if l.say != nil {
		l.say(strings.TrimSpace(string(text)))
	}
	l.all = append(l.all, text...)
	return len(text), nil
}

// These flags must equal those in scripts/lab/setup.sh, so that notebooks and the terminal share one build.
const (
	linkFlags = "-buildvcs=false -ldflags=-s"
	goWork    = "GOWORK=off"
)

func build(ctx context.Context, project, path string) error {
	output, err := gobuild.Build(ctx, gobuild.Program{Project: project, Package: "./cmd/nodemask", File: path,
		Flags: strings.Fields(linkFlags), Environment: []string{"GOFLAGS=", goWork}})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("nodemask cannot be built: the go command was not found")
	case err != nil:
		return errors.New("nodemask cannot be built: " + reason(output, err))
	}
	return nil
}

func reason(output []byte, err error) string {
	first := ""
	for line := range strings.SplitSeq(string(output), "\n") {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, "nodemask: "); ok {
			return strings.TrimPrefix(text, "--") // cells pass arguments, not flags
		}
		if first == "" && !strings.HasPrefix(line, "#") {
			first = line
		}
	}
	if first == "" {
		return err.Error()
	}
	return first
}
