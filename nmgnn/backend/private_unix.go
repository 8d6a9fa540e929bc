//go:build unix

package backend

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// private returns an error unless only this user can write to a file or folder.
func private(info fs.FileInfo) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		return errors.New("it is a link")
	}
	if info.Mode().Perm()&0o022 != 0 {
		return errors.New("others may write to it")
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != os.Geteuid() {
		return errors.New("it belongs to another user")
	}
	return nil
}
