// Command cell stands in for two programs that a notebook's kernel runs: goimports and go. It is installed as
// LAB/bin/goimports and LAB/bin/go, where LAB is .nodemask/lab. The name of its executable chooses the program.
//
// Run as goimports, it adds the imports of the project's packages to a notebook cell. Then the real goimports (in
// LAB/tools), which is slow, adds imports of other packages.
//
// Run as go, it runs the real go. If the last line of a notebook cell is an expression, it also shows the expression's
// value. It removes the line "# gonb_45aaa29b" (the kernel's package name) above compiler errors.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	self, err := os.Executable()
	if err == nil {
		name := filepath.Base(self)
		if self, err = filepath.EvalSymlinks(filepath.Dir(self)); err == nil {
			lab := filepath.Dir(self)
			if strings.TrimSuffix(name, ".exe") == "go" {
				err = goCommand(self, filepath.Dir(filepath.Dir(lab)), os.Args[1:])
			} else {
				err = goimports(lab, os.Args[1:])
			}
		}
	}
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) { // the command that failed has printed the reason
			os.Exit(exit.ExitCode())
		}
		fmt.Fprintln(os.Stderr, "cell:", err)
		os.Exit(1)
	}
}

func goimports(lab string, args []string) error {
	if len(args) > 0 {
		if err := addTo(args[len(args)-1], filepath.Dir(filepath.Dir(lab))); err != nil {
			return err
		}
	}
	c := exec.Command(filepath.Join(lab, "tools", "goimports"), args...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	return c.Run()
}

func addTo(path, project string) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	added, err := withImports(source, project)
	if err != nil || added == nil {
		return err
	}
	return os.WriteFile(path, added, 0o600)
}
