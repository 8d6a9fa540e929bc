//go:build unix

package paper

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock waits until no other process has the file; closing it gives it back.
func lock(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != unix.EINTR {
			return err
		}
	}
}
