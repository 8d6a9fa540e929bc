package wholefile

import (
	"errors"
	"io/fs"
	"os"
)

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
