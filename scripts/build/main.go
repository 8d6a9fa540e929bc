// Command build builds a program of this project atomically: build FILE PACKAGE [FLAGS OF go build].
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"nodemask/internal/gobuild"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/build FILE PACKAGE [FLAGS OF go build]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	said, err := gobuild.Build(ctx, gobuild.Program{Project: ".", File: os.Args[1], Package: os.Args[2],
		Flags: os.Args[3:]})
	_, _ = os.Stderr.Write(said)
	if err == nil {
		return
	}
	if !errors.As(err, new(*exec.ExitError)) { // otherwise the go command has printed the reason
		fmt.Fprintln(os.Stderr, "build:", err)
	}
	os.Exit(1)
}
