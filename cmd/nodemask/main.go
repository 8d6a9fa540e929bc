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
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"nodemask/cmd/nodemask/internal/home"
	"nodemask/internal/memory"
	"nodemask/nmgnn/backend"
	"nodemask/plots"
	"nodemask/record"
)

// misuse marks an error as the caller's: a flag, argument or name that cannot be. It ends the command with exit code 2;
// any other error ends it with 1.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

func misusef(format string, args ...any) error { return misuse{fmt.Errorf(format, args...)} }

func main() {
	if err := home.Restore(); err != nil {
		fmt.Fprintln(os.Stderr, "nodemask:", err)
		os.Exit(1)
	}
	if limit, limited := memory.Addresses(); limited && limit < addresses {
		fmt.Fprintf(os.Stderr, "nodemask: this process may have %s of addresses (ulimit -v), and Go's threads need %s: raise the limit\n", memory.Text(limit), memory.Text(addresses))
		os.Exit(1)
	}
	os.Exit(run(os.Args[1:]))
}

// addresses is how many bytes of addresses the program starts and trains with in pure Go. With 1.75 GiB it did on two cores whenever it was
// tried, and with 1.5 GiB it could not start a thread.
const addresses = 1800 << 20

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
	if n, _ := fmt.Sscanf(err.Error(), "unknown command %q for", &word); n == 1 && !errors.As(err, &m) { // cobra's, which has no type
		err = unknownCommand(root, word)
	}
	fmt.Fprintln(os.Stderr, "nodemask:", plots.Plain(plain(err.Error())))
	if errors.As(err, &m) {
		return 2
	}
	return 1
}

// standardOutput remembers the first error of writing, which most commands do not look for: a command whose output is not
// whole must not end as a success.
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

// packages are the names that errors of this project's packages, or parts of them, begin with.
var packages = regexp.MustCompile(`(^|: )((aggtree|backend|cached|csr|datasets|draw|explorer|fused|hyper|infer|kernels|measure|multiverse|nmgnn|onnx|page|paper|plots|record|stats|theorem|train): )+`)

// choices is a list as Go prints it.
var choices = regexp.MustCompile(`expected one of \[[^\]]+\]`)

// plain returns an error's text for people: in one line, since joined errors come in several and scripts read one, without
// the packages that its parts are from, with commas in lists, and what was said twice once.
func plain(text string) string {
	var parts []string
	seen := map[string]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		if seen[line] {
			continue
		}
		seen[line] = true
		parts = append(parts, choices.ReplaceAllStringFunc(packages.ReplaceAllString(line, "$1"), func(list string) string {
			before, names, _ := strings.Cut(strings.TrimSuffix(list, "]"), "[")
			if strings.Contains(names, `"`) { // a name may have spaces
				return before + strings.ReplaceAll(names, `" "`, `", "`)
			}
			return before + strings.ReplaceAll(names, " ", ", ")
		}))
	}
	return strings.Join(parts, "; ")
}

// fileError names the flag that gave a file which cannot be opened, in place of the system call.
func fileError(flag, file string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) && path.Path == file {
		return fmt.Errorf("--%s %s: %w", flag, file, path.Err)
	}
	return err
}

// flagError returns a flag's error with what was expected in place of which of Go's functions could not read it, and with
// the value once.
func flagError(err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		if f, is := invalid.GetFlag().Value.(*axisFlag); is && f.Switch == "" { // whose errors name the value
			return fmt.Errorf("--%s: %w", f.Flag, invalid.Unwrap())
		}
	}
	var number *strconv.NumError
	if !errors.As(err, &invalid) || !errors.As(err, &number) {
		return err
	}
	expected := "a whole number"
	switch number.Func {
	case "ParseUint":
		expected = "a whole number from 0 up"
	case "ParseFloat":
		expected = "a number"
	case "ParseBool":
		expected = "true or false"
	}
	if errors.Is(err, strconv.ErrRange) {
		expected += ", and none so large"
	}
	return fmt.Errorf("invalid argument %q for \"--%s\" flag: expected %s", invalid.GetValue(), invalid.GetFlag().Name, expected)
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "nodemask",
		Short:         "Train graph neural networks with and without node masking",
		Version:       record.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			return checkOutputs(c)
		},
	}
	root.SetVersionTemplate("{{.Version}}\n") // which begins with the program's name
	root.DisableSuggestions = true            // for ours, in one line
	root.SetHelpCommand(newHelpCommand())
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) {
			return misuse{unknownFlag(c, unknown)}
		}
		return misuse{flagError(err)}
	})
	root.AddCommand(newTrainCommand(), newPredictCommand(), newEmbedCommand(), newExportCommand(), newDataCommand(), newDemoCommand(), newBenchCommand(), newReproduceCommand(),
		newMultiverseCommand(), newReportCommand(), newResultsCommand(), newTreeCommand(), newServeCommand(), newPageCommand())
	return root
}

// dataHelp is what --data says.
const dataHelp = "data set ('nodemask data list'), or a path to a graph of your own ('nodemask data --help' says in which formats)"

// backendHelp is what --backend says.
const backendHelp = "xla:cuda, xla:cpu or go (default $GOMLX_BACKEND, then the best that is usable)"

// openBackend opens a backend and says on w which one it is, with which kernels, and why it is not faster.
func openBackend(w io.Writer, id string) (*backend.Backend, error) {
	b, err := backend.Open(id)
	if err != nil {
		var problem *backend.Error
		if errors.As(err, &problem) && problem.Unknown {
			return nil, misuse{err}
		}
		return nil, err
	}
	fmt.Fprintf(w, "backend: %s\n", b)
	return b, nil
}
