package pickle

import (
	"errors"
	"fmt"

	"nodemask/datasets/internal/numpy"
)

// The values a pickle can hold, beside int64, float64, bool, [*Array] and [*Matrix].
type (
	// None is Python's None.
	None struct{}
	// String is a string of either Python, as UTF-8 or bytes. It shares the file's memory.
	String []byte
	// Tuple is a tuple.
	Tuple []any
	// List is a list.
	List struct{ Items []any }
	// Dict is a dictionary, in the file's order; a key that is given twice is there twice.
	Dict struct{ Entries []Entry }
	// Entry is one entry of a Dict.
	Entry struct{ Key, Value any }
)

// Error says what is wrong with a pickle, and where.
type Error struct {
	Offset int // of the opcode
	Err    error
}

// Error says "byte", the offset, and what is wrong there.
func (e *Error) Error() string { return fmt.Sprintf("byte %d: %v", e.Offset, e.Err) }

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// ErrMistake marks, in an error's chain, a fault of this reader and not of the file.
var ErrMistake = errors.New("a mistake in the pickle reader")

// Describe returns what a value is, for an error: "a tuple of 2".
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
