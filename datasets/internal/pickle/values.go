package pickle

import (
	"fmt"
	"strings"

	"nodemask/datasets/internal/numpy"
)

// These types represent a pickle's values, beside int64, float64, bool and [*numpy.Array].
type (
	// None is Python's None.
	None struct{}
	// String is text or bytes. It shares the file's memory.
	String []byte
	// Tuple is a tuple.
	Tuple []any
	// List is a list.
	List struct{ Items []any }
	// Dict is a dictionary in the file's order; keys may repeat.
	Dict struct{ Entries []Entry }
	// Entry is one entry of a Dict.
	Entry struct{ Key, Value any }
	// Storage is memory that PyTorch's tensors share. In the zip that torch.save writes, each storage is a member.
	Storage struct {
		Type     string // type of the elements, such as "Float"
		Key      string
		Elements int64
	}
	// Tensor is a view of a storage. Code that reads a Tensor must check that the elements lie within the storage.
	Tensor struct {
		Storage        *Storage
		Offset         int64
		Shape, Strides []int64
	}
	// Object is a scipy CSR matrix or PyTorch Geometric's Data.
	Object struct {
		Class string
		State *Dict
	}
	// Unknown stands for an unknown class or function, or its result. It is never run.
	Unknown struct{ Module, Name string }
)

// Get returns the value of the last entry with this key; nil if the key is missing or d is nil.
func (d *Dict) Get(key string) any {
	if d == nil {
		return nil
	}
	for i := len(d.Entries) - 1; i >= 0; i-- {
		if k, ok := d.Entries[i].Key.(String); ok && string(k) == key {
			return d.Entries[i].Value
		}
	}
	return nil
}

func (u Unknown) advice() string {
	switch {
	case u.Name == "HeteroData":
		return ". Save a graph of one type of nodes instead: data.to_homogeneous()"
	case strings.Contains(strings.ToLower(u.Module+u.Name), "sparse"):
		return ". Save dense tensors instead: x.to_dense(), and edge_index in place of adj_t"
	}
	return ""
}

// Describe returns a value's kind for an error, such as "a tuple of 2".
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
	case *numpy.Array:
		return "a numpy array"
	case *Tensor:
		return "a tensor"
	case *Object:
		return "an object of class " + v.Class
	case Unknown:
		return fmt.Sprintf("of type %q from %q, which is not read, as nothing is ever run%s", v.Name, v.Module, v.advice())
	}
	return fmt.Sprintf("%T", v)
}
