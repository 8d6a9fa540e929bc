//go:build !cgo || !linux

package backend

import "errors"

// hookPrograms returns an error: it needs Linux and cgo.
func hookPrograms(string, *programFolder, []byte) error {
	return errors.New("programs are kept on Linux with cgo alone")
}

// programCounts returns 0: nothing is kept here.
func programCounts() (fromDisk, fromSource int64) { return 0, 0 }
