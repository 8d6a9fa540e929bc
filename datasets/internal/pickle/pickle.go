// Package pickle reads the pickles of Planetoid and torch.save: numpy arrays, scipy CSR matrices, tensors, lists,
// tuples and dictionaries of numbers and strings, in protocols 0 to 5. It never runs anything: opcodes build the types
// in values.go. A class or function that calls.go does not list becomes an [Unknown].
//
// Lengths are checked before allocating. Strings share the file's memory; all other values use up a memory budget.
package pickle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"nodemask/internal/memory"
)

const (
	maxDimensions = 8

	// maxMemory limits the memory of one pickle's values, in bytes. Planetoid's largest, PubMed's graph, takes 10 MiB.
	maxMemory = 256 << 20

	// Bytes counted towards the memory limits for each value and container entry, with a margin for slices and maps
	// that grow.
	valueMemory = 32
	entryMemory = 48
)

// Error is a fault found in a pickle, with its offset.
type Error struct {
	Offset int // position of the faulty opcode, in bytes
	Err    error
}

// Error returns the offset and the fault.
func (e *Error) Error() string { return fmt.Sprintf("byte %d: %v", e.Offset, e.Err) }

// Unwrap returns the fault.
func (e *Error) Unwrap() error { return e.Err }

// ErrMistake marks a bug of this reader, not a fault of the file.
var ErrMistake = errors.New("a mistake in the pickle reader")

// unpickler executes opcodes. On an error it calls fail, which panics; Read recovers.
type unpickler struct {
	data   []byte
	next   int
	at     int // offset of the current opcode
	stack  []any
	marks  []int
	memo   map[uint64]any
	spent  int
	budget func(bytes int64) error
}

func (p *unpickler) fail(format string, args ...any) {
	panic(&Error{Offset: p.at, Err: fmt.Errorf(format, args...)})
}

// Read returns a pickle's value. It calls budget with the bytes that values take. Errors are of type [*Error].
func Read(data []byte, budget func(bytes int64) error) (value any, err error) {
	p := &unpickler{data: data, memo: map[uint64]any{}, budget: budget}
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case *Error:
			value, err = nil, fault
		default:
			value, err = nil, &Error{Offset: p.at, Err: fmt.Errorf("%w: %v", ErrMistake, fault)}
		}
	}()
	for !p.step() {
	}
	value = p.pop()
	if len(p.stack) > 0 || len(p.marks) > 0 {
		p.fail("the pickle ends with %d values too many: expected one", len(p.stack))
	}
	if p.next != len(data) {
		p.fail("%d bytes follow the end of the pickle: expected none", len(data)-p.next)
	}
	return value, nil
}

func (p *unpickler) step() (done bool) {
	p.at = p.next
	switch op := p.take(1)[0]; op {
	case 0x80: // PROTO
		if v := p.take(1)[0]; v > 5 {
			p.fail("pickle protocol %d: expected 0 to 5", v)
		}
	case 0x95: // FRAME
		p.take(8)
	case '.': // STOP
		return true
	case '(': // MARK
		p.spend(valueMemory)
		p.marks = append(p.marks, len(p.stack))
	case '0': // POP
		p.pop()

	case 'N': // NONE
		p.push(None{})
	case 0x88: // NEWTRUE
		p.push(true)
	case 0x89: // NEWFALSE
		p.push(false)
	case 'K': // BININT1
		p.push(int64(p.take(1)[0]))
	case 'M': // BININT2
		p.push(int64(binary.LittleEndian.Uint16(p.take(2))))
	case 'J': // BININT
		p.push(int64(int32(binary.LittleEndian.Uint32(p.take(4)))))
	case 0x8a: // LONG1
		p.push(p.long(p.take(uint64(p.take(1)[0]))))
	case 'G': // BINFLOAT
		p.push(math.Float64frombits(binary.BigEndian.Uint64(p.take(8))))

	case 'U', 'C', 0x8c: // SHORT_BINSTRING, SHORT_BINBYTES, SHORT_BINUNICODE
		p.push(String(p.take(uint64(p.take(1)[0]))))
	case 'T', 'X', 'B': // BINSTRING, BINUNICODE, BINBYTES
		p.push(String(p.take(uint64(binary.LittleEndian.Uint32(p.take(4))))))
	case 0x8d, 0x8e, 0x96: // BINUNICODE8, BINBYTES8, BYTEARRAY8
		p.push(String(p.take(binary.LittleEndian.Uint64(p.take(8)))))

	case ')': // EMPTY_TUPLE
		p.push(Tuple{})
	case 0x85: // TUPLE1
		p.tuple(1)
	case 0x86: // TUPLE2
		p.tuple(2)
	case 0x87: // TUPLE3
		p.tuple(3)
	case 't': // TUPLE
		p.push(Tuple(p.popMark()))
	case ']': // EMPTY_LIST
		p.push(&List{})
	case 'l': // LIST
		p.push(&List{Items: p.popMark()})
	case 'a': // APPEND
		p.extend([]any{p.pop()})
	case 'e': // APPENDS
		p.extend(p.popMark())
	case '}': // EMPTY_DICT
		p.push(&Dict{})
	case 's': // SETITEM
		value := p.pop()
		key := p.pop()
		p.setItems([]any{key, value})
	case 'u': // SETITEMS
		p.setItems(p.popMark())

	case 0x8f: // EMPTY_SET
		p.push(Unknown{"builtins", "set"})
	case 0x90: // ADDITEMS
		p.popMark()
		if _, ok := p.top().(Unknown); !ok {
			p.fail("items are added to %s: expected a set", Describe(p.top()))
		}
	case 0x91: // FROZENSET
		p.popMark()
		p.push(Unknown{"builtins", "frozenset"})

	case 0x94: // MEMOIZE
		p.put(uint64(len(p.memo)))
	case 'q': // BINPUT
		p.put(uint64(p.take(1)[0]))
	case 'r': // LONG_BINPUT
		p.put(uint64(binary.LittleEndian.Uint32(p.take(4))))
	case 'h': // BINGET
		p.get(uint64(p.take(1)[0]))
	case 'j': // LONG_BINGET
		p.get(uint64(binary.LittleEndian.Uint32(p.take(4))))

	case 'c': // GLOBAL
		p.push(p.global(p.line(), p.line()))
	case 0x93: // STACK_GLOBAL
		name, ok := p.pop().(String)
		module, ok2 := p.pop().(String)
		if !ok || !ok2 {
			p.fail("a global that two strings do not name")
		}
		p.push(p.global(module, name))
	case 0x92: // NEWOBJ_EX
		p.pop()
		args := p.pop()
		p.push(p.call(p.pop(), args))
	case 'R', 0x81: // REDUCE, NEWOBJ
		args := p.pop()
		p.push(p.call(p.pop(), args))
	case 'b': // BUILD
		state := p.pop()
		p.build(p.top(), state)
	case 'Q': // BINPERSID
		p.push(p.persistent(p.pop()))
	default:
		p.fail("opcode 0x%02x is not one that graph files use", op)
	}
	return false
}

func (p *unpickler) long(b []byte) int64 {
	if len(b) > 8 {
		p.fail("an integer of %d bytes: expected at most 8", len(b))
	}
	var n uint64
	for i, x := range b {
		n |= uint64(x) << (8 * i)
	}
	free := 64 - 8*len(b)
	return int64(n<<free) >> free
}

func (p *unpickler) take(n uint64) []byte {
	if left := len(p.data) - p.next; n > uint64(left) {
		p.fail("the file ends too early: %d bytes are left where %d are needed", left, n)
	}
	p.next += int(n)
	return p.data[p.next-int(n) : p.next : p.next]
}

func (p *unpickler) line() []byte {
	line, rest, found := bytes.Cut(p.data[p.next:], []byte("\n"))
	if !found {
		p.fail("the file ends in the middle of a line")
	}
	p.next = len(p.data) - len(rest)
	return line
}

func (p *unpickler) push(v any) {
	p.spend(valueMemory)
	p.stack = append(p.stack, v)
}

func (p *unpickler) spend(bytes int) {
	if p.spent += bytes; p.spent > maxMemory {
		p.fail("this pickle's values take more than %s: those of a graph file need far less", memory.Text(maxMemory))
	}
	if err := p.budget(int64(bytes)); err != nil {
		p.fail("%w", err)
	}
}

// floor returns the stack height at the last mark, below which no opcode may pop.
func (p *unpickler) floor() int {
	if n := len(p.marks); n > 0 {
		return p.marks[n-1]
	}
	return 0
}

func (p *unpickler) top() any {
	if len(p.stack) <= p.floor() {
		p.fail("a value is missing from the stack")
	}
	return p.stack[len(p.stack)-1]
}

func (p *unpickler) pop() any {
	v := p.top()
	p.stack = p.stack[:len(p.stack)-1]
	return v
}

func (p *unpickler) popMark() []any {
	if len(p.marks) == 0 {
		p.fail("a mark is missing from the stack")
	}
	begin := p.floor()
	p.marks = p.marks[:len(p.marks)-1]
	p.spend(entryMemory * (len(p.stack) - begin))
	items := append([]any(nil), p.stack[begin:]...)
	p.stack = p.stack[:begin]
	return items
}

func (p *unpickler) tuple(n int) {
	t := make(Tuple, n)
	for i := n - 1; i >= 0; i-- {
		t[i] = p.pop()
	}
	p.push(t)
}

func (p *unpickler) extend(items []any) {
	if _, ok := p.top().(Unknown); ok {
		return
	}
	list, ok := p.top().(*List)
	if !ok {
		p.fail("items are added to %s: expected a list", Describe(p.top()))
	}
	p.spend(entryMemory * len(items))
	list.Items = append(list.Items, items...)
}

func (p *unpickler) setItems(items []any) {
	if _, ok := p.top().(Unknown); ok {
		return
	}
	dict, ok := p.top().(*Dict)
	if !ok {
		p.fail("entries are set in %s: expected a dictionary", Describe(p.top()))
	}
	if len(items)%2 != 0 {
		p.fail("a dictionary's last key has no value")
	}
	p.spend(entryMemory * len(items))
	for i := 0; i < len(items); i += 2 {
		dict.Entries = append(dict.Entries, Entry{items[i], items[i+1]})
	}
}

func (p *unpickler) put(key uint64) {
	p.spend(2 * entryMemory)
	p.memo[key] = p.top()
}

func (p *unpickler) get(key uint64) {
	v, ok := p.memo[key]
	if !ok {
		p.fail("value %d is asked for before it was kept", key)
	}
	p.push(v)
}
