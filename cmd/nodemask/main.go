// Command nodemask trains graph neural networks with and without node masking.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"regexp"
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

// run returns the exit code: 2 for misuse, 1 for any other error.
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
	err = groupError(err)
	var m misuse
	var word string
	// cobra's error for an unknown command has no type.
	if n, _ := fmt.Sscanf(err.Error(), "unknown command %q for", &word); n == 1 && !errors.As(err, &m) {
		err = unknownCommand(root, word)
	}
	fmt.Fprintln(os.Stderr, "nodemask:", svg.Plain(plain(err.Error())))
	if errors.As(err, &m) {
		return 2
	}
	return 1
}

// interrupted never returns nil: scripts must stop too.
func interrupted(err error) error {
	switch {
	case err == nil:
		return errors.New("interrupted after finishing: its output is complete")
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted")
	}
	return err
}

// unlessInterrupted runs work that ignores contexts and writes no file, and abandons it when ctx ends.
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

// standardOutput keeps the first write error, so truncated output fails.
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
		Use:               "nodemask",
		Short:             "Train graph neural networks with and without node masking",
		Version:           record.Version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: checkOutputs,
	}
	root.SetVersionTemplate("{{.Version}}\n") // the version starts with the program's name
	root.DisableSuggestions = true            // ours fit on one line
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newTrainCommand(), newAdviseCommand(), newPredictCommand(),
		newExplainCommand(), newExportCommand(),
		newDataCommand(), newReproduceCommand(), newReportCommand(), newTreeCommand(), newServeCommand(),
		newPageCommand())
	prepare(root)
	return root
}

// prepare lists flags in order of declaration; a wrong number of arguments exits with 2.
func prepare(c *cobra.Command) {
	for _, sub := range c.Commands() {
		prepare(sub)
		check := sub.Args
		if check == nil {
			check = cobra.NoArgs
		}
		sub.Flags().SortFlags = false
		sub.Args = func(c *cobra.Command, args []string) error {
			switch {
			case check(c, args) == nil:
				return nil
			case c.HasAvailableSubCommands() && len(args) > 0:
				return unknownCommand(c, args[0])
			}
			found := strings.Join(append([]string{c.CommandPath()}, args...), " ")
			return misusef("expected '%s', found '%s'", c.UseLine(), found)
		}
	}
}

// misuse is a caller's error: exit code 2.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

func misusef(format string, args ...any) error { return misuse{fmt.Errorf(format, args...)} }

var choices = regexp.MustCompile(`expected one of \[[^\]]+\]`)

// plain puts an error's text on one line, its lists comma-separated and repeats dropped.
func plain(text string) string {
	var parts []string
	for line := range strings.SplitSeq(text, "\n") {
		line = choices.ReplaceAllStringFunc(line, func(list string) string {
			before, names, _ := strings.Cut(strings.TrimSuffix(list, "]"), "[")
			if strings.Contains(names, `"`) {
				return before + strings.ReplaceAll(names, `" "`, `", "`)
			}
			return before + strings.ReplaceAll(names, " ", ", ")
		})
		if !slices.Contains(parts, line) {
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

// flagError names the likely flag or the expected value, not the failed Go function.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		name := unknown.GetSpecifiedName()
		if f := c.Flags().Lookup("set"); f != nil && f.Value.(*setFlag).rare.Lookup(name) != nil {
			return misusef("%w: expected --set %s=VALUE", err, name)
		}
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		return misuse{didYouMean(err, "--"+name, known)}
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

// didYouMean adds the nearest known word, else the only one that ends in word: --max-epochs for --epochs.
func didYouMean(err error, word string, known []string) error {
	if word == "" || slices.Contains(known, word) {
		return err
	}
	var words cobra.Command
	for _, k := range known {
		words.AddCommand(&cobra.Command{Use: k, Run: func(*cobra.Command, []string) {}})
	}
	for distance := range 3 { // 2 is cobra's default
		words.SuggestionsMinimumDistance = distance
		if near := words.SuggestionsFor(word); len(near) > 0 {
			return fmt.Errorf("%w. Did you mean %s?", err, near[0])
		}
	}
	ends := func(k string) bool { return strings.HasSuffix(k, "-"+strings.TrimLeft(word, "-")) }
	if i := slices.IndexFunc(known, ends); i >= 0 && !slices.ContainsFunc(known[i+1:], ends) {
		return fmt.Errorf("%w. Did you mean %s?", err, known[i])
	}
	return err
}

var retired = map[string]string{
	"demo":       "'nodemask train --preset paper --trials 3'",
	"bench":      "'make bench' in a clone, or scripts/peers beside other libraries",
	"embed":      "'nodemask predict --all'",
	"multiverse": "'nodemask reproduce', which computes, or 'nodemask report', which shows",
	"results":    "'nodemask reproduce', which checks, merges and exports, or 'nodemask report', which shows",
}

var exclusive = regexp.MustCompile(`^if any flags in the group \[.*\] are set none of the others can be; \[(.*)\] were all set$`)

func groupError(err error) error {
	if err == nil {
		return nil
	}
	found := exclusive.FindStringSubmatch(err.Error())
	if found == nil {
		return err
	}
	return misusef("--%s: expected one of them", strings.ReplaceAll(found[1], " ", " and --"))
}

func unknownCommand(c *cobra.Command, word string) error {
	if now, ok := retired[word]; ok && !c.HasParent() {
		return misusef("there is no command %s any more: use %s", word, now)
	}
	var known []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			known = append(known, sub.Name())
		}
	}
	return misuse{didYouMean(fmt.Errorf("unknown command %q: see '%s --help'", word, c.CommandPath()), word, known)}
}

type flagGroup struct {
	heading string
	flags   []string
}

func groupFlags(c *cobra.Command, groups []flagGroup) {
	c.Flags().SortFlags = false
	c.InitDefaultHelpFlag()
	var text strings.Builder
	listed := map[string]bool{}
	write := func(heading string, has func(name string) bool) {
		part := pflag.NewFlagSet(heading, pflag.ContinueOnError)
		part.SortFlags = false
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if has(f.Name) && !listed[f.Name] {
				part.AddFlag(f)
				listed[f.Name] = true
			}
		})
		if part.HasFlags() {
			text.WriteString(heading + ":\n" + part.FlagUsages() + "\n")
		}
	}
	for _, g := range groups {
		write(g.heading, func(name string) bool { return slices.Contains(g.flags, name) })
	}
	write("Other flags", func(string) bool { return true })
	c.SetUsageFunc(func(c *cobra.Command) error {
		c.Printf("Usage:\n  %s\n\nExamples:\n%s\n\n%s", c.UseLine(), c.Example, text.String())
		return nil
	})
}
