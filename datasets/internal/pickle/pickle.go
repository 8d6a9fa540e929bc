// Package pickle reads the pickles of Planetoid and torch.save: numpy arrays, scipy CSR matrices, lists, tuples and
// dictionaries of numbers and strings, in protocols 0 to 5. It never runs anything: opcodes build the types below. A
// GLOBAL must be listed in numpy.go or torch.go; others of torch.save make an [Unknown].
//
// Lengths are checked before allocating, strings stay in the file's memory, all else counts against maxMemory.
package pickle

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"nodemask/internal/memory"
)

const (
	// MaxSize limits the bytes of [Read]. The largest Planetoid file has 7.6 MB.
	MaxSize = 64 << 20
	// maxStack: Python's batches of 1,000 entries need 2,003.
	maxStack = 1 << 16
	maxMemo  = 1 << 20
	// maxMemory limits one pickle's values. PubMed's graph, the largest, takes 10 MiB.
	maxMemory = 256 << 20

	// Memory counted per value and entry, growth included.
	valueMemory = 32
	entryMemory = 48
)

// unpickler runs opcodes; fail panics and read recovers, to keep them readable.
type unpickler struct {
	data  []byte
	next  int
	at    int // of the current opcode
	stack []any
	marks []int // stack heights
	memo  map[uint64]any
	spent int  // bytes counted against most
	most  int  // maxMemory, or half of this process's remaining memory
	torch bool // admits PyTorch's globals, not numpy's
}

func (p *unpickler) fail(format string, args ...any) {
	panic(&Error{Offset: p.at, Err: fmt.Errorf(format, args...)})
}

// Read returns the value of a pickle. Errors are of type [*Error].
func Read(data []byte) (any, error) { return read(data, false) }

func read(data []byte, torch bool) (value any, err error) {
	if len(data) > MaxSize {
		return nil, &Error{Err: fmt.Errorf("a pickle of %s: expected at most %s",
			memory.Text(int64(len(data))), memory.Text(MaxSize))}
	}
	p := &unpickler{data: data, memo: map[uint64]any{}, torch: torch, most: maxMemory}
	if left, ok := memory.Get(); ok {
		p.most = int(min(maxMemory, left.Bytes/2))
	}
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case *Error:
			value, err = nil, fault
		default:
			// No known input gets here; the fuzz test fails if one does.
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
	case 0x95: // FRAME, whose opcodes are read like others
		p.take(8)
	case '.': // STOP
		return true
	case '(': // MARK
		if len(p.marks) == maxStack {
			p.fail("more than %d open marks", maxStack)
		}
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
		p.push(p.long(p.take(int(p.take(1)[0]))))
	case 'G': // BINFLOAT
		p.push(math.Float64frombits(binary.BigEndian.Uint64(p.take(8))))

	case 'U', 'C': // SHORT_BINSTRING, SHORT_BINBYTES
		p.push(String(p.take(int(p.take(1)[0]))))
	case 'T', 'X', 'B': // BINSTRING, BINUNICODE, BINBYTES
		n := binary.LittleEndian.Uint32(p.take(4))
		if n > MaxSize {
			p.fail("this pickle asks for %s in one piece; a graph file needs at most %s",
				memory.Text(int64(n)), memory.Text(MaxSize))
		}
		p.push(String(p.take(int(n))))

	case 0x8c: // SHORT_BINUNICODE
		p.push(String(p.take(int(p.take(1)[0]))))
	case 0x8d, 0x8e, 0x96: // BINUNICODE8, BINBYTES8, BYTEARRAY8
		n := binary.LittleEndian.Uint64(p.take(8))
		if n > MaxSize {
			p.fail("this pickle asks for %d bytes in one piece; a graph file needs at most %s", n, memory.Text(MaxSize))
		}
		p.push(String(p.take(int(n))))

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
		p.push(p.globals(p.line(), p.line()))
	case 0x93: // STACK_GLOBAL
		name, ok := p.pop().(String)
		module, ok2 := p.pop().(String)
		if !ok || !ok2 {
			p.fail("a global that two strings do not name")
		}
		p.push(p.globals(module, name))
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

func (p *unpickler) globals(module, name []byte) any {
	if len(module)+len(name) > 128 {
		p.fail("the name of a global has %d characters: expected at most 128", len(module)+len(name))
	}
	if p.torch {
		return p.torchGlobal(string(module), string(name))
	}
	g, ok := globals[string(module)+" "+string(name)]
	if !ok {
		p.fail("the pickle asks for %q from %q, which graph files do not use and this reader will not run", name, module)
	}
	return g
}

func (p *unpickler) call(callee, arguments any) any {
	if unknown, ok := callee.(Unknown); ok {
		return unknown // nothing is run, so its result is unknown
	}
	args, ok := arguments.(Tuple)
	if !ok {
		p.fail("%s is called with %s: expected a tuple", Describe(callee), Describe(arguments))
	}
	if p.torch {
		return p.callTorch(callee, args)
	}
	return p.callNumpy(callee, args)
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
	return int64(n<<free) >> free // 0 for no bytes
}

func (p *unpickler) take(n int) []byte {
	if left := len(p.data) - p.next; n > left {
		p.fail("the file ends too early: %d bytes are left where %d are needed", left, n)
	}
	p.next += n
	return p.data[p.next-n : p.next : p.next]
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
	if len(p.stack) == maxStack {
		p.fail("more than %d values on the stack", maxStack)
	}
	p.spend(valueMemory)
	p.stack = append(p.stack, v)
}

func (p *unpickler) spend(bytes int) {
	p.spent += bytes
	if p.spent <= p.most {
		return
	}
	if p.most < maxMemory {
		p.fail("this pickle's values take more than %s, half of what this process may still have",
			memory.Text(int64(p.most)))
	}
	p.fail("this pickle's values take more than %s; those of a graph file need far less", memory.Text(maxMemory))
}

// floor is the lowest stack height for opcodes until the last mark is popped.
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
	if _, ok := p.memo[key]; !ok && len(p.memo) == maxMemo {
		p.fail("more than %d values are kept for later", maxMemo)
	}
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
