// Package wholefile writes files atomically, and removes temporary files that killed processes left.
package wholefile

import (
	"bufio"
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

	"github.com/gofrs/flock"
)

const (
	suffix      = ".part"
	longestName = 200 // a temporary file's name contains at most this many bytes of the file's final name
	tries       = 100
	ownerOnly   = 0o600
)

// Write calls write to fill a temporary file next to path, syncs that file and renames it to path. So readers find the
// whole old file or the whole new file. A new file gets the permissions in mode, less the umask; an existing file keeps
// its permissions. Write first removes temporary files that killed processes left for path. Devices and pipes are
// written directly. File system errors do not name the file.
func Write(path string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	info, err := os.Stat(path)
	if err == nil && info.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0 {
		return through(path, write)
	}
	folder, start := filepath.Dir(path), partStart(path)
	sweep(folder, start)
	replaces := err == nil && info.Mode().IsRegular()
	if replaces {
		mode = info.Mode().Perm()
	}
	f, held, err := create(folder, start, mode|ownerOnly)
	if err != nil {
		return cause(err)
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	written := bufio.NewWriterSize(f, 1<<16)
	err = write(written)
	if err == nil {
		err = written.Flush()
	}
	if err == nil && replaces { // the umask may have removed permissions from the temporary file
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
		return errors.Join(err, cause(os.Remove(f.Name())))
	}
	if runtime.GOOS == "windows" { // Windows cannot rename open files
		_ = held.Close()
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return errors.Join(cause(err), cause(os.Remove(f.Name())))
	}
	syncFolder(folder)
	return nil
}

// WriteBytes is [Write] for bytes.
func WriteBytes(path string, mode fs.FileMode, content []byte) error {
	return Write(path, mode, func(w io.Writer) error { _, err := w.Write(content); return err })
}

func through(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
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

// The lock ends with the process, so [sweep] recognises files of killed processes.
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
		// Another process may have removed the file before this process locked it, so check that the file is still at
		// path. Where locks fail, sweep removes nothing, so the file needs no lock.
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
		return
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

// syncFolder makes a renamed file survive a power cut, if the file system can.
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

// Open opens a regular file. For a folder, pipe or device it returns an [*fs.PathError], without waiting for a pipe's
// writer.
func Open(path string) (*os.File, error) {
	if err := regular(path, func() (fs.FileInfo, error) { return os.Stat(path) }); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := regular(path, f.Stat); err != nil { // path may name another file than at the first check
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

// Replaces returns the first of files that a write to path would replace, directly or through links, or "" if there is
// none. Devices and pipes are never replaced.
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
