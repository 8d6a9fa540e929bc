//go:build !unix

package record

import "os"

// lock does nothing on systems other than Unix, so only one process at a time may add results.
func lock(*os.File) error { return nil }
