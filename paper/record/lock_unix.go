//go:build unix

package record

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

func lock(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != unix.EINTR {
			return lockError(f, err)
		}
	}
}

func lockError(f *os.File, err error) error {
	switch err {
	case unix.ENOLCK, unix.ENOSYS, unix.EOPNOTSUPP:
		return fmt.Errorf("files in %s cannot be locked (%w): expected a file system that can, so that no record is lost: "+
			"name a folder on a disk of this machine", filepath.Dir(f.Name()), err)
	}
	return err
}
