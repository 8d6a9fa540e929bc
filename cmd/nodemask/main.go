// Command nodemask trains graph neural networks with and without node masking.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"nodemask/internal/svg"
	"nodemask/paper/record"
)

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	root := newRootCommand()
	root.SetArgs(args)
	out := &standardOutput{file: os.Stdout}
	root.SetOut(out)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = out.err
	}
	if ctx.Err() != nil {
		err = interrupted(err)
	}
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "nodemask:", svg.Plain(plain(err.Error())))
	var m misuse
	if errors.As(err, &m) || strings.HasPrefix(err.Error(), "unknown command ") { // cobra's error, which has no type
		return 2
	}
	return 1
}

// interrupted returns the error to report after an interrupt, never nil, so that a calling script stops.
func interrupted(err error) error {
	switch {
	case err == nil:
		return errors.New("interrupted after finishing: its output is complete")
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted")
	}
	return err
}

// unlessInterrupted runs compute, which ignores contexts and must write no file, and abandons it when ctx ends.
func unlessInterrupted(ctx context.Context, compute func() error) error {
	done := make(chan error, 1)
	go func() { done <- compute() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// standardOutput keeps the first write error, so that the command fails if output is truncated.
type standardOutput struct {
	file *os.File
	err  error
}

func (o *standardOutput) Write(p []byte) (int, error) {
	n, err := o.file.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// Fd lets callers detect a terminal.
func (o *standardOutput) Fd() uintptr { return o.file.Fd() }

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "nodemask",
		Short:         "Train graph neural networks with and without node masking",
		Version:       record.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			// Cobra's own check would exit with 1, not 2.
			if err := cmp.Or(c.ValidateRequiredFlags(), c.ValidateFlagGroups()); err != nil {
				return misuse{err}
			}
			return checkOutputs(c)
		},
	}
	root.SetVersionTemplate("{{.Version}}\n") // Version already starts with the program's name
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newTrainCommand(), newAdviseCommand(), newPredictCommand(),
		newExplainCommand(), newExportCommand(),
		newDataCommand(), newReproduceCommand(), newReportCommand(), newTreeCommand(), newServeCommand(),
		newPageCommand())
	for name, now := range retired {
		root.AddCommand(&cobra.Command{Use: name, Hidden: true, DisableFlagParsing: true, Args: cobra.ArbitraryArgs,
			RunE: func(*cobra.Command, []string) error {
				return misusef("there is no command %s any more: use %s", name, now)
			}})
	}
	prepare(root)
	return root
}

// prepare makes commands list flags in order of declaration, and exit with 2 for a wrong number of arguments.
func prepare(c *cobra.Command) {
	for _, sub := range c.Commands() {
		prepare(sub)
		check := sub.Args
		if check == nil {
			check = cobra.NoArgs
		}
		sub.Flags().SortFlags = false
		sub.Args = func(c *cobra.Command, args []string) error {
			if check(c, args) == nil {
				return nil
			}
			found := strings.Join(append([]string{c.CommandPath()}, args...), " ")
			return misusef("expected '%s', found '%s'", c.UseLine(), found)
		}
	}
}

// misuse is the user's error: exit code 2.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

func misusef(format string, args ...any) error { return misuse{fmt.Errorf(format, args...)} }

func plain(text string) string {
	var parts []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(parts, line) {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, "; ")
}

func fileError(flag, file string, err error) error {
	var path *fs.PathError
	if !errors.As(err, &path) || path.Path != file {
		return err
	}
	if flag == "" {
		return fmt.Errorf("%s: %w", file, path.Err)
	}
	return fmt.Errorf("--%s %s: %w", flag, file, path.Err)
}

func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		name := unknown.GetSpecifiedName()
		if f := c.Flags().Lookup("set"); f != nil && f.Value.(*setFlag).rare.Lookup(name) != nil {
			return misusef("%w: expected --set %s=VALUE", err, name)
		}
	}
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return misuse{err}
	}
	switch invalid.GetFlag().Value.(type) {
	case *axisFlag, *setFlag:
		return misusef("--%s: %w", invalid.GetFlag().Name, invalid.Unwrap())
	}
	kind := strings.TrimSuffix(invalid.GetFlag().Value.Type(), "Slice")
	expected := map[string]string{"int": "a whole number", "uint64": "a whole number from 0 up", "float64": "a number",
		"bool": "true or false", "duration": "a time with its unit"}[kind]
	if expected == "" {
		return misuse{err}
	}
	if errors.Is(err, strconv.ErrRange) {
		expected += ", and none so large"
	}
	return misusef("invalid argument %q for \"--%s\" flag: expected %s",
		invalid.GetValue(), invalid.GetFlag().Name, expected)
}

var retired = map[string]string{
	"demo":       "'nodemask train --preset paper --trials 3'",
	"bench":      "'make bench' in a clone, or scripts/peers beside other libraries",
	"embed":      "'nodemask predict --all'",
	"multiverse": "'nodemask reproduce', which computes, or 'nodemask report', which shows",
	"results":    "'nodemask reproduce', which checks, merges and exports, or 'nodemask report', which shows",
}
