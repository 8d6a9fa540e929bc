//go:build !cgo || !linux

package programs

import "errors"

// Keep returns an error: it needs Linux and cgo.
func Keep(string, *Folder, []byte) error {
	return errors.New("programs are kept on Linux with cgo alone")
}

// Counts returns 0: nothing is kept here.
func Counts() (fromDisk, fromSource int64) { return 0, 0 }
