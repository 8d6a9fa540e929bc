//go:build !unix

package wholefile

import "os"

// openPipe opens a pipe to write to it.
func openPipe(path string) (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) }
