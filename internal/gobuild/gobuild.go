// Package gobuild builds a program of this project, whole or not at all.
package gobuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"nodemask/internal/wholefile"
)

// Program is what is to be built. scripts/build does it for make and set-up.
type Program struct {
	Project     string   // its folder
	Package     string   // "./cmd/nodemask"
	File        string   // where the program is to be; its folder is made if need be
	Flags       []string // of go build
	Environment []string // beside this process's
}

// compileFlags are those that set-up and the Makefile have too, so that each package is compiled once for all.
const compileFlags = "-trimpath -tags=netgo,osusergo"

// Build builds the program, unless it is what its sources would give, and returns what go said. It builds beside the
// file and renames, so that a build which ends early leaves the program that was there. Go takes a program for the
// right one by its first bytes alone: one that has another size than when it was built is removed first. A second build
// of the same file waits for the first. No path of this machine is in a program, so that builds in two folders are the
// same bytes.
func Build(ctx context.Context, p Program) (said []byte, err error) {
	folder := filepath.Dir(p.File)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(folder, ".lock"))
	// On a file system without locks a build is whole all the same; only two at once may undo one another.
	if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil && ctx.Err() != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	hidden := filepath.Join(folder, "."+filepath.Base(p.File))
	fresh, note := hidden+".new", hidden+".size"
	if err := os.RemoveAll(fresh); err != nil {
		return nil, err
	}
	if size := sizeOf(p.File); size >= 0 {
		noted, err := os.ReadFile(note)
		if err == nil && strings.TrimSpace(string(noted)) == strconv.FormatInt(size, 10) {
			_ = os.Link(p.File, fresh) // go replaces it if it is out of date, and never writes into it
		}
	}
	arguments := slices.Concat([]string{"build"}, strings.Fields(compileFlags), p.Flags, []string{"-o", fresh, p.Package})
	c := exec.CommandContext(ctx, "go", arguments...)
	c.Dir = p.Project
	c.WaitDelay = time.Second // for compilers that it started
	c.Env = append(os.Environ(), p.Environment...)
	if said, err = c.CombinedOutput(); err != nil {
		_ = os.Remove(fresh)
		return said, err
	}
	if same(fresh, p.File) {
		return said, os.Remove(fresh)
	}
	if err := settle(fresh, p.File, note); err != nil {
		_ = os.Remove(fresh)
		return said, fmt.Errorf("%s: %w", p.File, err)
	}
	return said, nil
}

// settle puts a fresh program in its place. Whatever ends it in between, note and file do not fit, and the next build
// makes both.
func settle(fresh, file, note string) error {
	f, err := os.OpenFile(fresh, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := wholefile.WriteBytes(note, 0o644, []byte(strconv.FormatInt(sizeOf(fresh), 10)+"\n")); err != nil {
		return err
	}
	return os.Rename(fresh, file)
}

// sizeOf is a file's size, or -1.
func sizeOf(file string) int64 {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	return info.Size()
}

func same(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
