//go:build unix

package wholefile

import (
	"errors"
	"os"
	"syscall"
)

// openPipe opens a pipe for writing without waiting for a reader.
func openPipe(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) {
		return nil, errors.New("this is a pipe that nobody reads: start what reads it first, or name a file")
	}
	return f, err
}
