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

	"nodemask/record"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
)

// misuse marks an error as the caller's: a flag, argument or name that cannot be. It ends the command with exit code 2;
// any other error ends it with 1.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

func misusef(format string, args ...any) error { return misuse{fmt.Errorf(format, args...)} }

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	// go-xla logs what it also returns as an error.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	root := newRootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	// Joined errors come in several lines; scripts read one.
	fmt.Fprintln(os.Stderr, "nodemask:", strings.ReplaceAll(err.Error(), "\n", "; "))
	var m misuse
	if errors.As(err, &m) {
		return 2
	}
	return 1
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "nodemask",
		Short:         "Train graph neural networks with and without node masking",
		Version:       record.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return misuse{err} })
	root.AddCommand(newTrainCommand(), newDataCommand(), newDemoCommand(), newPredictCommand(), newBenchCommand(), newReproduceCommand(), newReportCommand(), newResultsCommand(), newTreeCommand(), newServeCommand())
	return root
}
