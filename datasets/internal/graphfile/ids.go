package graphfile

import "math"

// IDs finds nodes by id. Once all are known, close numbers move to a table, ten times as fast as a map on ten million
// edges. The zero value is ready.
type IDs struct {
	names     map[string]int32
	numbers   map[int64]int32
	low, high int64   // of numbers
	places    []int32 // node plus 1 of each number from low on, 0: none; nil: see numbers
}

// ParseNumber returns an id's number, if written as strconv.FormatInt would.
func ParseNumber[T string | []byte](id T) (int64, bool) {
	digits := len(id)
	negative := digits > 0 && id[0] == '-'
	if negative {
		digits--
	}
	if digits == 0 || digits > 19 {
		return 0, false
	}
	first := len(id) - digits
	if id[first] == '0' && (digits > 1 || negative) {
		return 0, false
	}
	n := uint64(0) // 19 digits fit
	for i := first; i < len(id); i++ {
		c := id[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = 10*n + uint64(c)
	}
	switch {
	case n <= math.MaxInt64 && negative:
		return -int64(n), true
	case n <= math.MaxInt64:
		return int64(n), true
	}
	return math.MinInt64, negative && n == 1<<63
}

// Add gives a node its id, or returns another node that already has it.
func (x *IDs) Add(id string, node int32) (old int32, again bool) {
	if n, ok := ParseNumber(id); ok {
		return x.AddNumber(n, node)
	}
	if old, again = x.names[id]; again {
		return old, true
	}
	if x.names == nil {
		x.names = map[string]int32{}
	}
	x.names[id] = node
	return 0, false
}

// AddNumber is Add for a number.
func (x *IDs) AddNumber(id int64, node int32) (old int32, again bool) {
	if old, again = x.FindNumber(id); again {
		return old, true
	}
	if x.numbers == nil {
		x.numbers = map[int64]int32{}
	}
	if len(x.numbers) == 0 {
		x.low, x.high = id, id
	}
	x.low, x.high = min(x.low, id), max(x.high, id)
	x.numbers[id] = node
	return 0, false
}

// Seal makes finding fast. No id may follow.
func (x *IDs) Seal() {
	span := uint64(x.high) - uint64(x.low)
	if x.numbers == nil || span >= 4*uint64(len(x.numbers))+1024 {
		return
	}
	x.places = make([]int32, span+1)
	for id, node := range x.numbers {
		x.places[uint64(id)-uint64(x.low)] = node + 1
	}
	x.numbers = nil
}

// Find returns the node of an id.
func (x *IDs) Find(id []byte) (int32, bool) {
	if n, ok := ParseNumber(id); ok {
		return x.FindNumber(n)
	}
	node, ok := x.names[string(id)]
	return node, ok
}

// FindNumber is Find for a number.
func (x *IDs) FindNumber(id int64) (int32, bool) {
	if x.places == nil {
		node, ok := x.numbers[id]
		return node, ok
	}
	if at := uint64(id) - uint64(x.low); at < uint64(len(x.places)) {
		node := x.places[at]
		return node - 1, node > 0
	}
	return 0, false
}
