// Command nodemask trains graph neural networks with and without node masking.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"nodemask/cmd/nodemask/internal/home"
	"nodemask/internal/memory"
	"nodemask/plots"
	"nodemask/record"
)

func main() {
	if err := home.Restore(); err != nil {
		fmt.Fprintln(os.Stderr, "nodemask:", err)
		os.Exit(1)
	}
	if limit, limited := memory.Addresses(); limited && limit < addresses {
		fmt.Fprintf(os.Stderr, "nodemask: this process may have %s of addresses (ulimit -v), and Go's threads need %s: "+
			"raise the limit\n", memory.Text(limit), memory.Text(addresses))
		os.Exit(1)
	}
	os.Exit(run(os.Args[1:]))
}

// addresses is how many bytes of addresses the program starts and trains with in pure Go. With 1.75 GiB it did on two
// cores whenever it was tried, and with 1.5 GiB it could not start a thread.
const addresses = 1800 << 20

// run runs the command and returns its exit code: 2 for misuse, 1 for any other error.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	// go-xla logs what it also returns as an error.
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
	if err == nil {
		return 0
	}
	var m misuse
	var word string
	// cobra's error for an unknown command has no type.
	if n, _ := fmt.Sscanf(err.Error(), "unknown command %q for", &word); n == 1 && !errors.As(err, &m) {
		err = unknownCommand(root, word)
	}
	fmt.Fprintln(os.Stderr, "nodemask:", plots.Plain(plain(err.Error())))
	if errors.As(err, &m) {
		return 2
	}
	return 1
}

// standardOutput remembers the first error of writing, which most commands do not look for: a command whose output is
// not whole must not end as a success.
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

// Fd is what tells whether this is a terminal, and how wide.
func (o *standardOutput) Fd() uintptr { return o.file.Fd() }

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:               "nodemask",
		Short:             "Train graph neural networks with and without node masking",
		Version:           record.Version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error { return checkOutputs(c) },
	}
	root.SetVersionTemplate("{{.Version}}\n") // which begins with the program's name
	root.DisableSuggestions = true            // for ours, in one line
	root.SetHelpCommand(newHelpCommand())
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newTrainCommand(), newAdviseCommand(), newPredictCommand(), newEmbedCommand(),
		newExplainCommand(), newExportCommand(),
		newDataCommand(), newDemoCommand(), newBenchCommand(), newReproduceCommand(), newMultiverseCommand(),
		newReportCommand(), newResultsCommand(), newTreeCommand(), newServeCommand(), newPageCommand())
	prepare(root)
	return root
}

// prepare has a command and those below it list flags as they were declared, and end with exit code 2 for a wrong
// number of arguments. A command that names no arguments takes none.
func prepare(c *cobra.Command) {
	for _, sub := range c.Commands() {
		prepare(sub)
		check := sub.Args
		if check == nil {
			check = cobra.NoArgs
		}
		sub.Flags().SortFlags = false
		sub.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			switch {
			case err == nil:
				return nil
			case c.HasAvailableSubCommands() && len(args) > 0:
				return unknownCommand(c, args[0])
			}
			return misusef("%s: %w", strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" "), err)
		}
	}
}
