// Command cellgo stands in for the go command in a notebook's kernel. It leaves out the line "# gonb_45aaa29b" above
// the compiler's errors: gonb's name for the package that it makes of a cell, which says nothing to anybody. And it
// lists packages as they are without cgo: for each kernel gopls, which completes names, would otherwise have the C of
// package fused compiled, half a minute of a processor, and go on when the kernel has ended. All else is the go
// command's own.
//
// It is set up as LAB/bin/go, before the go command in PATH.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "cellgo:", err)
	}
	os.Exit(code)
}

// run runs the go command, and returns its exit code. One that does not compile takes the place of this process.
func run(args []string) (code int, err error) {
	path, err := realGo(filepath.SplitList(os.Getenv("PATH")))
	if err != nil {
		return 1, err
	}
	if len(args) == 0 || !slices.Contains([]string{"build", "test", "run"}, args[0]) {
		return 1, syscall.Exec(path, append([]string{path}, args...), environment(args))
	}
	c := exec.Command(path, args...)
	c.Stdin, c.Stdout = os.Stdin, os.Stdout
	said, err := c.StderrPipe()
	if err != nil {
		return 1, err
	}
	if err := c.Start(); err != nil {
		return 1, err
	}
	copied := withoutName(os.Stderr, said)
	err = c.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode(), copied
	}
	return 0, errors.Join(err, copied)
}

// environment is that of a go command that does not compile.
func environment(args []string) []string {
	if len(args) == 0 || args[0] != "list" {
		return os.Environ()
	}
	others := slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "CGO_ENABLED=") })
	return append(others, "CGO_ENABLED=0")
}

// realGo returns the first go command in folders that is another file than this program.
func realGo(folders []string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	own, err := os.Stat(self)
	if err != nil {
		return "", err
	}
	for _, folder := range folders {
		path := filepath.Join(folder, "go")
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && !os.SameFile(info,
			own) {
			return path, nil
		}
	}
	return "", errors.New("no go command in PATH: install Go and run 'make setup-lab'")
}

var cellName = regexp.MustCompile(`^# gonb_[0-9a-f]+\r?\n$`)

// withoutName copies lines as they come, but for the name of a cell's package.
func withoutName(w io.Writer, r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if !cellName.Match(line) {
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}
