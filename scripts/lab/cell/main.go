// Command cell stands in for two programs of a notebook's kernel, by the name that it is called by.
//
// As goimports it imports the project's own packages that a cell names, which it finds at once, and runs goimports for
// all else: by itself goimports asks the go command and looks through every module on the machine, for each cell anew.
//
// As go it has a cell's last line show itself, if that is an expression, and leaves out the line "# gonb_45aaa29b" above
// the compiler's errors, gonb's name for the package that it makes of a cell.
//
// It is set up as LAB/bin/goimports and LAB/bin/go, with goimports in LAB/tools and LAB in the project's folder
// .nodemask.
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
		if errors.As(err, &exit) { // it has said why
			os.Exit(exit.ExitCode())
		}
		fmt.Fprintln(os.Stderr, "cell:", err)
		os.Exit(1)
	}
}

// goimports takes goimports' arguments, of which the last is the file that gonb has made of a cell.
func goimports(lab string, args []string) error {
	add := func(misspelt bool) error {
		if len(args) == 0 {
			return nil
		}
		return addTo(args[len(args)-1], filepath.Dir(filepath.Dir(lab)), misspelt)
	}
	if err := add(false); err != nil {
		return err
	}
	c := exec.Command(filepath.Join(lab, "tools", "goimports"), args...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return err
	}
	return add(true) // nobody else has them
}

// addTo adds imports of the project's packages to a file, as [withImports] does. One that is no Go is left as it is,
// for goimports to say so.
func addTo(path, project string, misspelt bool) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	added, err := withImports(source, project, misspelt)
	if err != nil || added == nil {
		return err
	}
	return os.WriteFile(path, added, 0o600)
}
