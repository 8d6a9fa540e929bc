//go:build linux || darwin

package fetch

import (
	"fmt"
	"syscall"
)

func enoughRoom(dir string, need int64) error {
	var s syscall.Statfs_t
	if need <= 0 || syscall.Statfs(dir, &s) != nil {
		return nil
	}
	if free := s.Bavail * uint64(s.Bsize); free < uint64(need) {
		return fmt.Errorf("the disk of %s has %d bytes free, and %d more are needed: make room and run the same command",
			dir, free, need)
	}
	return nil
}
