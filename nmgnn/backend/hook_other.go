//go:build !cgo || !linux

package backend

import "errors"

func keepPrograms(string, string) error {
	return errors.New("programs are kept on Linux with cgo alone")
}
