package pickle

import (
	"errors"
	"fmt"

	"nodemask/datasets/internal/numpy"
)

// A pickle's values, besides int64, float64, bool, [*Array] and [*Matrix].
type (
	// None is Python's None.
	None struct{}
	// String is text or bytes of Python 2 or 3. It shares the file's memory.
	String []byte
	// Tuple is a tuple.
	Tuple []any
	// List is a list.
	List struct{ Items []any }
	// Dict is a dictionary in the file's order; repeated keys repeat.
	Dict struct{ Entries []Entry }
	// Entry is one entry of a Dict.
	Entry struct{ Key, Value any }
)

// Error is a fault of a pickle, and its place.
type Error struct {
	Offset int // of the opcode
	Err    error
}

// Error returns "byte", the offset and the fault.
func (e *Error) Error() string { return fmt.Sprintf("byte %d: %v", e.Offset, e.Err) }

// Unwrap returns the fault.
func (e *Error) Unwrap() error { return e.Err }

// ErrMistake marks a fault of this reader, not of the file.
var ErrMistake = errors.New("a mistake in the pickle reader")

// Describe returns a value's kind, for an error: "a tuple of 2".
func Describe(v any) string {
	switch v := v.(type) {
	case None:
		return "None"
	case bool:
		return "a boolean"
	case int64, float64:
		return "a number"
	case String:
		return "a string"
	case Tuple:
		return fmt.Sprintf("a tuple of %d", len(v))
	case *List:
		return "a list"
	case *Dict:
		return "a dictionary"
	case global:
		return string(v)
	case *numpy.Dtype:
		return "a numpy dtype"
	case *Array:
		return "a numpy array"
	case *Matrix:
		return "a scipy matrix"
	case *Storage:
		return "a storage"
	case storage:
		return "a type of storage"
	case *Tensor:
		return "a tensor"
	case *Object:
		return "an object of class " + v.Class
	case Class:
		return "class " + string(v)
	case Unknown:
		return fmt.Sprintf("of type %q from %q, which is not read, as nothing is ever run%s", v.Name, v.Module, v.Advice())
	}
	return fmt.Sprintf("%T", v)
}
