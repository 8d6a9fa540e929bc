//go:build unix && !linux

package mapped

import "os"

func allocate(f *os.File, size int64) error { return zeros(f, size) }
