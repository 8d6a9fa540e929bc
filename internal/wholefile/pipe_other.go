//go:build !unix

package wholefile

import "os"

func openPipe(path string) (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) }
