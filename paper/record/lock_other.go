//go:build !unix

package record

import "os"

// lock does nothing where files cannot be locked: one process at a time may add results there.
func lock(*os.File) error { return nil }

func tryLock(*os.File) (bool, error) { return true, nil }
