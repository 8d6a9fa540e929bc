package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// isWhole reports whether a last line lacks only its line break: a torn record is invalid JSON.
func isWhole(line []byte) bool { return json.Valid(line) }

// underLock appends the line that choose returns, unless nil. It first removes a torn last line (of a killed process),
// or adds a missing line break.
func underLock(path string, choose func() ([]byte, error)) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := lock(f); err != nil {
		return fmt.Errorf("locking %s: %w", path, err)
	}
	line, err := choose()
	if err != nil || line == nil {
		return err
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	last, err := lastLine(f, end)
	if err != nil {
		return err
	}
	var text []byte
	switch {
	case len(last) == 0:
	case isWhole(last):
		text = []byte{'\n'}
	default:
		end -= int64(len(last))
		if err := f.Truncate(end); err != nil {
			return err
		}
	}
	text = append(append(text, sealed(line)...), '\n')
	if _, err := f.WriteAt(text, end); err != nil {
		return errors.Join(err, f.Truncate(end))
	}
	return f.Sync()
}

func lastLine(f *os.File, size int64) ([]byte, error) {
	tail := make([]byte, min(size, longestLine))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil {
		return nil, err
	}
	i := bytes.LastIndexByte(tail, '\n')
	if i < 0 && int64(len(tail)) < size {
		return nil, fmt.Errorf("%s ends in more than %d bytes without a line break: this is not a file of results",
			f.Name(), longestLine)
	}
	return tail[i+1:], nil
}
