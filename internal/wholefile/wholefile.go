// Package wholefile writes files atomically, and removes temporary files of killed writers.
package wholefile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	suffix      = ".part"
	longestName = 200 // bytes of the file's name kept in its temporary file's
	tries       = 100
	ownerOnly   = 0o600
)

// Write calls write to fill a temporary file next to path, syncs it and renames it, so that path is the old file or the
// new one. A new file has mode less the umask; an existing one keeps its mode. Write first removes path's temporary
// files of killed writers. Devices and pipes are written directly. File system errors omit the file's name, which
// callers add.
func Write(path string, mode fs.FileMode, write func(io.Writer) error) error {
	p, err := Prepare(path, mode, write)
	if err != nil {
		return err
	}
	return p.Commit()
}

// Pending is a file complete on disk under a temporary name.
type Pending struct {
	path, part string
	held       *flock.Flock // nil: a device, already written
}

// Prepare is [Write] without the renaming, so that several files can be complete before the first is renamed.
func Prepare(path string, mode fs.FileMode, write func(io.Writer) error) (*Pending, error) {
	info, err := os.Stat(path)
	if err == nil && info.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0 {
		open := openPipe
		if info.Mode()&fs.ModeDevice != 0 {
			open = func(path string) (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) }
		}
		return new(Pending), through(path, open, write) // /dev/stdout and the like must not be replaced
	}
	folder, start := filepath.Dir(path), partStart(path)
	sweep(folder, start)
	replaces := err == nil && info.Mode().IsRegular()
	if replaces {
		mode = info.Mode().Perm() // who could not read the old file must not read the new one
	}
	f, held, err := create(folder, start, mode|ownerOnly)
	if err != nil {
		return nil, cause(err)
	}
	written := bufio.NewWriterSize(f, 1<<16)
	err = write(written)
	if err == nil {
		err = written.Flush()
	}
	if err == nil && replaces { // undo the umask
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		var open *fs.PathError
		if errors.As(err, &open) && open.Path == f.Name() {
			err = open.Err
		}
		return nil, errors.Join(err, cause(os.Remove(f.Name())), held.Close())
	}
	return &Pending{path, f.Name(), held}, nil
}

// Commit renames the file to its name and returns any error.
func (p *Pending) Commit() (err error) {
	if p.held == nil {
		return nil
	}
	defer func() { err = errors.Join(err, p.unlock()) }()
	if runtime.GOOS == "windows" { // Windows cannot rename open files
		_ = p.held.Close()
	}
	if err := os.Rename(p.part, p.path); err != nil {
		return errors.Join(cause(err), cause(os.Remove(p.part)))
	}
	syncFolder(filepath.Dir(p.path))
	return nil
}

// Discard removes the file unless it was committed.
func (p *Pending) Discard() {
	if p.held != nil {
		_ = os.Remove(p.part)
		_ = p.unlock()
	}
}

func (p *Pending) unlock() error {
	held := p.held
	p.held = nil
	return held.Close()
}

// WriteBytes is [Write] for bytes.
func WriteBytes(path string, mode fs.FileMode, content []byte) error {
	return Write(path, mode, func(w io.Writer) error { _, err := w.Write(content); return err })
}

func through(path string, open func(string) (*os.File, error), write func(io.Writer) error) error {
	f, err := open(path)
	if err != nil {
		return cause(err)
	}
	w := bufio.NewWriter(f)
	return errors.Join(write(w), cause(w.Flush()), cause(f.Close()))
}

func partStart(path string) string {
	name := filepath.Base(path)
	return "." + name[:min(len(name), longestName)] + "."
}

// create creates and locks a temporary file. The lock ends with the process, so [sweep] recognises killed writers.
func create(folder, start string, mode fs.FileMode) (*os.File, *flock.Flock, error) {
	for n := 1; ; n++ {
		path := filepath.Join(folder, start+strconv.FormatUint(rand.Uint64(), 10)+suffix)
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) && n < tries {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		held := lockOf(path)
		got, err := held.TryLock()
		// Without file locks nothing is swept. With them, the file may have been swept before it was locked.
		if isAt(f, path) && (got || err != nil) {
			return f, held, nil
		}
		_, _ = held.Close(), f.Close()
		if n >= tries {
			return nil, nil, fmt.Errorf("a temporary file in %s was removed %d times by another process", folder, n)
		}
	}
}

func sweep(folder, start string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return // creating a file will report the folder's fault
	}
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), start)
		number, is := strings.CutSuffix(number, suffix)
		if _, err := strconv.ParseUint(number, 10, 64); err != nil || !ok || !is || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(folder, e.Name())
		held := lockOf(path)
		if got, err := held.TryLock(); err == nil && got {
			_ = os.Remove(path)
		}
		_ = held.Close()
	}
}

func lockOf(path string) *flock.Flock { return flock.New(path, flock.SetFlag(os.O_RDWR)) }

func isAt(f *os.File, path string) bool {
	ours, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(ours, there)
}

// syncFolder makes a new name survive a power cut, if the file system can.
func syncFolder(folder string) {
	if d, err := os.Open(folder); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// How long, and how often, to wait for others that save in a folder.
const (
	patience = time.Minute
	often    = 20 * time.Millisecond
)

// Hold waits until no other process holds the folder of path, then holds it until release or the end of the process, so
// that files that belong together come from one process. Without folder locks it returns at once. It returns an error
// after a minute, or when ctx is done.
func Hold(ctx context.Context, path string) (release func(), err error) {
	folder := filepath.Dir(path)
	held := flock.New(folder, flock.SetFlag(os.O_RDONLY))
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err = held.TryLockContext(limited, often)
	switch {
	case ctx.Err() != nil:
		return nil, errors.Join(ctx.Err(), held.Close())
	case errors.Is(err, context.DeadlineExceeded):
		return nil, errors.Join(fmt.Errorf("another process has been saving in %s for %v: end it, or choose another folder",
			folder, patience), held.Close())
	}
	return func() { _ = held.Close() }, nil // writes are synced already
}

// Open opens a regular file. Folders, pipes and devices are errors of type [*fs.PathError], without waiting.
func Open(path string) (*os.File, error) {
	if err := regular(path, func() (fs.FileInfo, error) { return os.Stat(path) }); err != nil {
		return nil, err // checked before opening, which would wait for a pipe's writer
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := regular(path, f.Stat); err != nil { // it may have changed
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func regular(path string, stat func() (fs.FileInfo, error)) error {
	info, err := stat()
	switch {
	case err != nil:
		return err
	case info.Mode().IsRegular():
		return nil
	case info.IsDir():
		err = errors.New("a folder: expected a file")
	default:
		err = errors.New("a pipe, socket or device: expected a regular file. Write what it gives into a file first")
	}
	return &fs.PathError{Op: "open", Path: path, Err: err}
}

// Replaces returns the first file that writing path would replace, even through links, or "". Devices and pipes are
// never replaced.
func Replaces(path string, files ...string) string {
	there, err := os.Stat(path)
	if err != nil || !there.Mode().IsRegular() {
		return ""
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && os.SameFile(info, there) {
			return file
		}
	}
	return ""
}

// Same reports whether two outputs would be one file. If neither exists, names that differ only in case count as one,
// as on some disks.
func Same(a, b string) bool {
	if Replaces(a, b) != "" {
		return true
	}
	x, err := os.Stat(filepath.Dir(a))
	if err != nil {
		return false
	}
	y, err := os.Stat(filepath.Dir(b))
	return err == nil && os.SameFile(x, y) && strings.EqualFold(filepath.Base(a), filepath.Base(b))
}
