// Package gobuild builds a program of this project, atomically.
package gobuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Program describes a build. scripts/build runs it for make and set-up.
type Program struct {
	Project     string
	Package     string   // "./cmd/nodemask"
	File        string   // output; its folder is created
	Flags       []string // of go build
	Environment []string // added to this process's
}

// compileFlags equal those of set-up and the Makefile, so each package is compiled once.
const compileFlags = "-trimpath -tags=netgo,osusergo"

// Build builds the program if it is out of date and returns go's output. It builds next to the file and renames, so an
// aborted build keeps the old program. A second build of the file waits. Programs contain no machine paths, so they do
// not depend on the folder.
func Build(ctx context.Context, p Program) (said []byte, err error) {
	folder := filepath.Dir(p.File)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(folder, ".lock"))
	// Without file locks builds stay whole, but two at once may undo each other.
	if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil && ctx.Err() != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	fresh := filepath.Join(folder, "."+filepath.Base(p.File)+".new")
	if err := os.RemoveAll(fresh); err != nil {
		return nil, err
	}
	_ = os.Link(p.File, fresh) // go replaces it if out of date, and never writes into it
	arguments := slices.Concat([]string{"build"}, strings.Fields(compileFlags), p.Flags, []string{"-o", fresh, p.Package})
	c := exec.CommandContext(ctx, "go", arguments...)
	c.Dir = p.Project
	c.WaitDelay = time.Second // for its compilers
	c.Env = append(os.Environ(), p.Environment...)
	if said, err = c.CombinedOutput(); err != nil {
		_ = os.Remove(fresh)
		return said, err
	}
	if same(fresh, p.File) {
		return said, os.Remove(fresh)
	}
	if err := settle(fresh, p.File); err != nil {
		_ = os.Remove(fresh)
		return said, fmt.Errorf("%s: %w", p.File, err)
	}
	return said, nil
}

// settle renames a fresh program into place, once it is on disk.
func settle(fresh, file string) error {
	f, err := os.OpenFile(fresh, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(fresh, file)
}

func same(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
