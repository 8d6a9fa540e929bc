//go:build unix

package safetensors

import "os"

func zeros(f *os.File, size int64) error {
	buffer := make([]byte, 1<<20)
	for at := int64(0); at < size; at += int64(len(buffer)) {
		if _, err := f.WriteAt(buffer[:min(int64(len(buffer)), size-at)], at); err != nil {
			return err
		}
	}
	return nil
}
