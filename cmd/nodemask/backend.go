package main

import (
	"errors"
	"fmt"
	"io"

	"nodemask/nmgnn/backend"
)

// dataHelp is what --data says.
const dataHelp = "data set ('nodemask data list'), or a path to your own .npz file or folder of CSV files"

// backendHelp is what --backend says.
const backendHelp = "xla:cuda, xla:cpu or go (default $GOMLX_BACKEND, then the best that is usable)"

// openBackend opens a backend and says on w which one it is, with which kernels, and why it is not faster.
func openBackend(w io.Writer, id string) (*backend.Backend, error) {
	b, err := backend.Open(id)
	if err != nil {
		var problem *backend.Error
		if errors.As(err, &problem) && problem.Unknown {
			return nil, misuse{err}
		}
		return nil, err
	}
	fmt.Fprintf(w, "backend: %s\n", b)
	return b, nil
}
