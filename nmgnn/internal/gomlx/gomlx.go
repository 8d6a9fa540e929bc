// Package gomlx compiles GoMLX programs, shortens its errors to one line, frees its results, and keeps weights in its
// stores.
package gomlx

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
)

// Error returns err with only its first line as message, without GoMLX's stack traces; it unwraps to err. nil stays
// nil.
func Error(err error) error {
	if err == nil {
		return nil
	}
	return brief{err}
}

type brief struct{ error }

func (b brief) Error() string {
	line, _, _ := strings.Cut(strings.TrimSpace(b.error.Error()), "\n")
	return line
}

func (b brief) Unwrap() error { return b.error }

// Guard, when deferred, turns a panic with an error into an error prefixed with doing. Other panics are bugs and
// continue.
func Guard(err *error, doing string) {
	switch r := recover().(type) {
	case nil:
	case error:
		*err = fmt.Errorf("%s: %w", doing, Error(r))
	default:
		panic(r)
	}
}

// CheckOpen returns an error if the backend is nil or finalized.
func CheckOpen(b compute.Backend) error {
	if b == nil || b.IsFinalized() {
		return errors.New("the backend is closed, or was never opened: open one with backend.Open")
	}
	return nil
}

// Compile returns a program over a store. id names the backend in errors.
func Compile[F model.ExecGraphFn](b compute.Backend, id string, store *model.Store, build F,
	inputs ...shapes.Shape) (*model.Exec, error) {
	if err := CheckOpen(b); err != nil {
		return nil, err
	}
	exec, err := model.NewExec(b, store, build)
	if err != nil {
		return nil, Error(err)
	}
	if _, err := exec.Compile(inputs...); err != nil {
		exec.Finalize()
		if strings.Contains(err.Error(), "No FFI handler registered for") {
			return nil, fmt.Errorf("compiling for %s: %w: this program is older than its sources, or XLA's plugin was replaced "+
				"while it ran: build it again and run it anew", id, Error(err))
		}
		return nil, fmt.Errorf("compiling for %s: %w", id, Error(err))
	}
	return exec, nil
}

// Matrices copies a program's outputs, each [rows, width], to the host and frees them.
func Matrices[M ~matrix](outputs []*tensors.Tensor) ([]M, error) {
	defer Finalize(outputs)
	all := make([]M, len(outputs))
	for i, output := range outputs {
		values, err := tensors.CopyFlatData[float32](output)
		if err != nil {
			return nil, fmt.Errorf("reading layer %d: %w", i+1, Error(err))
		}
		all[i] = M(matrix{output.Shape().Dimensions[0], output.Shape().Dimensions[1], values})
	}
	return all, nil
}

// matrix is infer.Representation, which this package cannot import.
type matrix = struct {
	Rows, Width int
	Values      []float32
}

// Finalize frees the outputs of a computation at once, instead of when Go collects them.
func Finalize(outputs []*tensors.Tensor) {
	for _, output := range outputs {
		output.MustFinalizeAll()
	}
}

// HostRandom returns a host generator for one purpose in one trial. With separate streams, runs with and without
// masking have the same initial weights and dropped features.
func HostRandom(seed uint64, purpose string) *rand.Rand { return rand.New(HostSource(seed, purpose)) }

// HostSource returns the source of [HostRandom], whose state can be saved.
func HostSource(seed uint64, purpose string) *rand.PCG {
	// FNV-1a of the purpose is stable across versions and platforms, unlike maphash.
	h := uint64(14695981039346656037)
	for i := range len(purpose) {
		h = (h ^ uint64(purpose[i])) * 1099511628211
	}
	return rand.NewPCG(seed, h)
}
