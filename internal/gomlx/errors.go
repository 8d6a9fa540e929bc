// Package gomlx turns what GoMLX reports into errors of one line, and frees what it returned.
package gomlx

import (
	"fmt"
	"strings"

	"github.com/gomlx/gomlx/core/tensors"
)

// Error returns err with its first line as message, or nil for nil: GoMLX's errors carry the stack traces of all
// functions they passed through. The result unwraps to err.
func Error(err error) error {
	if err == nil {
		return nil
	}
	return brief{err}
}

type brief struct{ error }

// Error returns the first line.
func (b brief) Error() string {
	line, _, _ := strings.Cut(strings.TrimSpace(b.error.Error()), "\n")
	return line
}

// Unwrap returns the whole error.
func (b brief) Unwrap() error { return b.error }

// Guard, when deferred, turns a panic with an error, as building a computation reports it, into an error that says
// what was being done. A panic with anything else is a defect in this project, and goes on.
func Guard(err *error, doing string) {
	switch r := recover().(type) {
	case nil:
	case error:
		*err = fmt.Errorf("%s: %w", doing, Error(r))
	default:
		panic(r)
	}
}

// Finalize frees a program's outputs.
func Finalize(outputs []*tensors.Tensor) {
	for _, output := range outputs {
		output.MustFinalizeAll()
	}
}
