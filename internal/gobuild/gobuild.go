// Package gobuild builds programs of this project. An aborted build leaves the old program intact.
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

// Program describes a build.
type Program struct {
	Project     string
	Package     string // such as "./cmd/nodemask"
	File        string // the program's path; Build creates its folder
	Flags       []string
	Environment []string
}

// The Makefile and scripts/lab/setup.sh use the same flags, so each package is compiled once.
const compileFlags = "-trimpath -tags=netgo,osusergo"

// Build builds the program if it is out of date, and returns the output of 'go build'. Build writes and renames a new
// file, so an aborted build keeps the old program. Build also checks the old file's size, because 'go build' reads only
// its first bytes and would keep a truncated file. Concurrent builds wait for each other.
func Build(ctx context.Context, p Program) (said []byte, err error) {
	folder := filepath.Dir(p.File)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(folder, ".lock"))
	// If locking fails, go on: concurrent builds may then replace each other's files, but only by complete files.
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
			_ = os.Link(p.File, fresh) // a link suffices: 'go build' replaces fresh and never writes into p.File
		}
	}
	arguments := slices.Concat([]string{"build"}, strings.Fields(compileFlags), p.Flags, []string{"-o", fresh, p.Package})
	c := exec.CommandContext(ctx, "go", arguments...)
	c.Dir = p.Project
	c.WaitDelay = time.Second // compilers may outlive the go command and hold the command's output open
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

// settle writes the size of fresh to note, then renames fresh to file. If settle is interrupted in between, the noted
// size is not the size of file, so the next build repeats both steps.
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
