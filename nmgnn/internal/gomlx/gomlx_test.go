package gomlx

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnErrorIsItsFirstLineAndStillTheErrorThatItWas(t *testing.T) {
	require.NoError(t, Error(nil))
	cause := &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}
	long := fmt.Errorf("\nbuilding: %w\n\tat some function\n\tat another", cause)
	err := Error(long)
	require.EqualError(t, err, "building: open x: file does not exist")
	require.ErrorIs(t, err, fs.ErrNotExist)
	var path *fs.PathError
	require.ErrorAs(t, err, &path)
	require.Same(t, cause, path)
	require.ErrorIs(t, err, fs.ErrNotExist, "and when it is wrapped again")
}

func TestGuardTurnsPanicsWithErrorsIntoErrors(t *testing.T) {
	cause := errors.New("two shapes\nand a stack")
	work := func(panics bool) (err error) {
		defer Guard(&err, "building the model")
		if panics {
			panic(cause)
		}
		return cause
	}
	require.Same(t, cause, work(false), "a returned error stays")
	err := work(true)
	require.EqualError(t, err, "building the model: two shapes")
	require.ErrorIs(t, err, cause)
}

func TestGuardPassesOnPanicsThatAreNotErrors(t *testing.T) {
	require.PanicsWithValue(t, "a defect of ours", func() {
		var err error
		defer Guard(&err, "building the model")
		panic("a defect of ours")
	})
}
