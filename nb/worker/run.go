package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"nodemask/internal/gobuild"
)

// patience is how long a stopped process may run; gonb allows a cell five seconds.
const patience = 4 * time.Second

// Run serves the request with a process of the project's command, rebuilt if out of date, and calls each with every
// event, one at a time. If the context is cancelled, the process ends, keeping finished trials, and Run returns the
// context's error.
func Run(ctx context.Context, project string, r Request, each func(Event)) error {
	request, err := json.Marshal(r)
	if err != nil {
		return err
	}
	p, err := start(ctx, project)
	if err != nil {
		return err
	}
	// If the process stops reading the request, it reports the reason itself.
	_, _ = p.in.Write(append(request, '\n'))
	events := json.NewDecoder(p.out)
	var broken error
	for {
		var e Event
		if err := events.Decode(&e); err != nil {
			if !errors.Is(err, io.EOF) {
				broken = fmt.Errorf("nodemask %s: unreadable answer: %w", Subcommand, err)
				_ = p.in.Close()
				_, _ = io.Copy(io.Discard, p.out)
			}
			break
		}
		each(e)
	}
	err = p.Wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case broken != nil && err == nil:
		return broken
	case err != nil:
		return &said{reason(p.errors.Bytes(), err), err}
	}
	return nil
}

// Output returns the command's standard output; errors are those of [Run].
func Output(ctx context.Context, project string, args ...string) ([]byte, error) {
	path := filepath.Join(project, ".nodemask", "bin", "nodemask")
	if err := build(ctx, project, path); err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, path, args...)
	var failed bytes.Buffer
	c.Stderr = &failed
	out, err := c.Output()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &said{reason(failed.Bytes(), err), err}
	}
	return out, nil
}

type process struct {
	*exec.Cmd
	in     io.WriteCloser
	out    io.Reader
	errors bytes.Buffer
}

func start(ctx context.Context, project string) (*process, error) {
	path := filepath.Join(project, ".nodemask", "bin", "nodemask")
	if err := build(ctx, project, path); err != nil {
		return nil, err
	}
	p := &process{Cmd: exec.CommandContext(ctx, path, Subcommand)}
	p.Stderr = &p.errors
	p.WaitDelay = patience
	p.Cancel = func() error { return p.in.Close() }
	var err error
	if p.in, err = p.StdinPipe(); err != nil {
		return nil, err
	}
	if p.out, err = p.StdoutPipe(); err != nil {
		return nil, err
	}
	return p, p.Start()
}

// Flags as in scripts/lab/setup.sh: else a cell and a terminal would rebuild the command in turns.
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
		return &said{"nodemask cannot be built: the go command was not found", err}
	case err != nil:
		return &said{"nodemask cannot be built: " + reason(output, err), err}
	}
	return nil
}

type said struct {
	text  string
	cause error
}

func (e *said) Error() string { return e.text }
func (e *said) Unwrap() error { return e.cause }

// reason returns the line of output that explains a failure: nodemask's message, without a flag's dashes, else the
// first that is not one of go's headings.
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
