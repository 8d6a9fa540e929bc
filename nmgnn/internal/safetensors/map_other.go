//go:build !unix

package safetensors

import (
	"io"
	"os"
)

// mapped reads the file: there is no way to map one here.
func mapped(f *os.File, size int64) ([]byte, func() error, error) {
	data := make([]byte, size)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, nil, &os.PathError{Op: "read", Path: f.Name(), Err: err}
	}
	return data, func() error { return nil }, nil
}
