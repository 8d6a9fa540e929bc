package interpreter

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Array is what a kernel reads or writes: Floats or Ints. Reads and Writes count how often each number was.
type Array struct {
	Floats        []float32
	Ints          []int32
	Reads, Writes []int
}

// Floats makes an array of numbers, none of them read or written yet.
func Floats(x []float32) *Array {
	return &Array{Floats: x, Reads: make([]int, len(x)), Writes: make([]int, len(x))}
}

// Ints makes an array of whole numbers, none of them read or written yet.
func Ints(x []int32) *Array {
	return &Array{Ints: x, Reads: make([]int, len(x)), Writes: make([]int, len(x))}
}

// Output makes an array of so many NaNs.
func Output(n int) *Array {
	return Floats(slices.Repeat([]float32{float32(math.NaN())}, n))
}

// get and set read and write a number's bits, and count that.
func (a *Array) get(at uint32) (bits uint32, err error) {
	if uint64(at) >= uint64(len(a.Reads)) {
		return 0, fmt.Errorf("read at %d of an array of %d", int32(at), len(a.Reads))
	}
	a.Reads[at]++
	if a.Ints != nil {
		return uint32(a.Ints[at]), nil
	}
	return math.Float32bits(a.Floats[at]), nil
}

func (a *Array) set(at, bits uint32) error {
	if uint64(at) >= uint64(len(a.Writes)) || a.Ints != nil {
		return fmt.Errorf("write at %d of an array of %d", int32(at), len(a.Writes))
	}
	a.Writes[at]++
	a.Floats[at] = math.Float32frombits(bits)
	return nil
}

// tensor is a value: the bits of numbers, truth values, 0 or 1, or offsets of pointers into an array.
type tensor struct {
	kind
	bits []uint32
	to   *Array
}

type run struct {
	values  map[string]tensor
	program [2]uint32
}

// Run runs all programs of a grid. It returns an error that names the line for what is not defined: a type that does
// not fit, and reads and writes outside of arrays.
func (f *Function) Run(grid [2]int, arrays ...*Array) (err error) {
	if len(arrays) != len(f.arguments) {
		return fmt.Errorf("%d arrays for %d arguments", len(arrays), len(f.arguments))
	}
	for x := range grid[0] {
		for y := range grid[1] {
			r := &run{values: map[string]tensor{}, program: [2]uint32{uint32(x), uint32(y)}}
			for i, name := range f.arguments {
				of := "!tt.ptr<f32>"
				if arrays[i].Ints != nil {
					of = "!tt.ptr<i32>"
				}
				r.values[name] = tensor{kind: kind{of: of}, bits: []uint32{0}, to: arrays[i]}
			}
			if _, err := r.block(f.body); err != nil {
				return fmt.Errorf("program (%d, %d): %w", x, y, err)
			}
		}
	}
	return nil
}

// block runs instructions and returns what is yielded.
func (r *run) block(body []instruction) (yielded tensor, err error) {
	for n := range body {
		i := &body[n]
		in := make([]tensor, len(i.operands))
		for k, name := range i.operands {
			v, ok := r.values[name]
			if !ok {
				return yielded, fmt.Errorf("line %d: %s has no value", i.line, name)
			}
			in[k] = v
		}
		switch i.op {
		case "tt.return":
			return yielded, nil
		case "scf.yield":
			return in[0], nil
		}
		out, err := r.instruction(i, in)
		if err != nil {
			return yielded, fmt.Errorf("line %d: %s: %w", i.line, i.op, err)
		}
		if i.results != "" {
			r.values[i.results] = out
		}
	}
	return yielded, nil
}

func same(a, b kind) bool { return a.of == b.of && slices.Equal(a.shape, b.shape) }

// expect returns an error unless operands have these types.
func expect(in []tensor, kinds ...kind) error {
	if len(in) != len(kinds) {
		return fmt.Errorf("%d operands: expected %d", len(in), len(kinds))
	}
	for k, v := range in {
		if !same(v.kind, kinds[k]) {
			return fmt.Errorf("operand %d is a %v: expected %v", k, v.kind, kinds[k])
		}
	}
	return nil
}

var number = kind{of: "i32"}

func (r *run) instruction(i *instruction, in []tensor) (y tensor, err error) {
	y.kind = i.of
	n := i.of.size()
	of := func(name string) kind { return kind{name, i.of.shape} }
	switch i.op {
	case "scf.for":
		if err := expect(in, number, number, number, i.of); err != nil {
			return y, err
		}
		state := in[3]
		for at := in[0].bits[0]; int32(at) < int32(in[1].bits[0]); at += in[2].bits[0] {
			r.values[i.index], r.values[i.state] = tensor{kind: number, bits: []uint32{at}}, state
			if state, err = r.block(i.body); err != nil {
				return y, err
			}
			if err := expect([]tensor{state}, i.of); err != nil {
				return y, err
			}
		}
		return state, nil
	case "arith.constant":
		x, err := strconv.ParseInt(i.word, 10, 32)
		bits := uint32(x)
		if i.of.of == "f32" {
			var of uint64
			of, err = strconv.ParseUint(i.word, 0, 32)
			bits = uint32(of)
		}
		y.bits = slices.Repeat([]uint32{bits}, n)
		return y, err
	case "tt.get_program_id":
		axis, ok := map[string]int{"x": 0, "y": 1}[i.word]
		if !ok {
			return y, fmt.Errorf("axis %q", i.word)
		}
		y.bits = []uint32{r.program[axis]}
		return y, nil
	case "tt.make_range":
		for x := range n {
			y.bits = append(y.bits, uint32(x))
		}
		if strconv.Itoa(n) != i.word {
			err = fmt.Errorf("a range to %s in %d places", i.word, n)
		}
		return y, err
	case "tt.splat", "tt.broadcast", "tt.expand_dims":
		if err := expect(in, i.of); err != nil {
			return y, err
		}
		return reshaped(i, in[0])
	case "tt.addptr":
		if err := expect(in, i.of, of("i32")); err != nil {
			return y, err
		}
		y.to, y.bits = in[0].to, make([]uint32, n)
		for k := range y.bits {
			at := int64(int32(in[0].bits[k])) + int64(int32(in[1].bits[k]))
			if at != int64(int32(at)) {
				return y, fmt.Errorf("offset %d", at)
			}
			y.bits[k] = uint32(at)
		}
		return y, nil
	case "tt.load":
		return load(i, in)
	case "tt.store":
		value := of(i.of.of[len("!tt.ptr<") : len(i.of.of)-1])
		if err := expect(in, i.of, value, of("i1")); err != nil {
			return y, err
		}
		for k, at := range in[0].bits {
			if in[2].bits[k] == 0 {
				continue
			}
			if err := in[0].to.set(at, in[1].bits[k]); err != nil {
				return y, err
			}
		}
		return y, nil
	case "tt.reduce":
		if err := expect(in, i.of); err != nil {
			return y, err
		}
		y.kind = i.to
		columns := i.to.size()
		if !slices.Equal(i.to.shape, i.of.shape[1:]) {
			return y, fmt.Errorf("%v from %v", i.to, i.of)
		}
		if i.word != "addf" && i.word != "maxnumf" || i.of.of != "f32" {
			return y, fmt.Errorf("by %s", i.word)
		}
		combine := operations["arith."+i.word]
		y.bits = slices.Clone(in[0].bits[:columns])
		for k := columns; k < n; k++ {
			y.bits[k%columns] = combine(y.bits[k%columns], in[0].bits[k])
		}
		return y, nil
	case "arith.select":
		by, err := parseKind(i.word)
		if err != nil || len(by.shape) > 0 && !slices.Equal(by.shape, i.of.shape) {
			return y, fmt.Errorf("chosen by %s", i.word)
		}
		if err := expect(in, by, i.of, i.of); err != nil {
			return y, err
		}
		y.bits, y.to = slices.Clone(in[2].bits), in[1].to
		for k := range y.bits {
			if in[0].bits[min(k, len(in[0].bits)-1)] != 0 { // one stands for all
				y.bits[k] = in[1].bits[k]
			}
		}
		return y, nil
	case "math.exp":
		if err := expect(in, kind{"f32", i.of.shape}); err != nil {
			return y, err
		}
		for _, x := range in[0].bits {
			y.bits = append(y.bits, math.Float32bits(float32(math.Exp(float64(math.Float32frombits(x))))))
		}
		return y, nil
	}
	if err := expect(in, i.of, i.of); err != nil {
		return y, err
	}
	return arithmetic(i, in[0], in[1])
}

// reshaped repeats or renames the places of x.
func reshaped(i *instruction, x tensor) (tensor, error) {
	y := tensor{kind: i.to, to: x.to}
	from := i.of.shape
	switch {
	case i.to.of != i.of.of:
		return y, fmt.Errorf("%v from %v", i.to, i.of)
	case i.op == "tt.splat" && len(from) == 0:
	case i.op == "tt.expand_dims":
		axis, err := strconv.Atoi(i.word)
		if err != nil || axis < 0 || axis > len(from) || !slices.Equal(slices.Insert(slices.Clone(from), axis, 1),
			i.to.shape) {
			return y, fmt.Errorf("%v from %v along %s", i.to, i.of, i.word)
		}
		y.bits = x.bits
		return y, nil
	case i.op == "tt.broadcast" && len(from) == 2 && len(i.to.shape) == 2:
		for d := range from {
			if from[d] != 1 && from[d] != i.to.shape[d] {
				return y, fmt.Errorf("%v from %v", i.to, i.of)
			}
		}
	default:
		return y, fmt.Errorf("%v from %v", i.to, i.of)
	}
	for k := range i.to.size() {
		at := 0
		if len(from) == 2 {
			row, column := k/i.to.shape[1], k%i.to.shape[1]
			at = min(row, from[0]-1)*from[1] + min(column, from[1]-1)
		}
		y.bits = append(y.bits, x.bits[at])
	}
	return y, nil
}

func load(i *instruction, in []tensor) (y tensor, err error) {
	y.kind = kind{i.of.of[len("!tt.ptr<") : len(i.of.of)-1], i.of.shape}
	kinds := []kind{i.of}
	if len(in) > 1 {
		kinds = append(kinds, kind{"i1", i.of.shape}, y.kind)
	}
	if err := expect(in, kinds...); err != nil {
		return y, err
	}
	y.bits = make([]uint32, len(in[0].bits))
	for k, at := range in[0].bits {
		if len(in) > 1 && in[1].bits[k] == 0 {
			y.bits[k] = in[2].bits[k]
		} else if y.bits[k], err = in[0].to.get(at); err != nil {
			return y, err
		}
	}
	return y, nil
}

// operations are those on two operands, by name, comparisons by their predicate too.
var operations = map[string]func(a, b uint32) uint32{
	"arith.addf":    floats(func(a, b float32) float32 { return a + b }),
	"arith.subf":    floats(func(a, b float32) float32 { return a - b }),
	"arith.divf":    floats(func(a, b float32) float32 { return a / b }),
	"arith.mulf":    floats(func(a, b float32) float32 { return a * b }),
	"arith.maxnumf": floats(func(a, b float32) float32 { return max(a, b) }),

	"arith.addi":  whole(func(a, b int32) int32 { return a + b }),
	"arith.subi":  whole(func(a, b int32) int32 { return a - b }),
	"arith.muli":  whole(func(a, b int32) int32 { return a * b }),
	"arith.minsi": whole(func(a, b int32) int32 { return min(a, b) }),
	"arith.maxsi": whole(func(a, b int32) int32 { return max(a, b) }),
	"arith.divsi": whole(func(a, b int32) int32 { return a / b }),
	"arith.remsi": whole(func(a, b int32) int32 { return a % b }),
	"arith.andi":  func(a, b uint32) uint32 { return a & b },
	"arith.xori":  func(a, b uint32) uint32 { return a ^ b },
	"arith.shrui": func(a, b uint32) uint32 { return a >> b },

	"arith.cmpi eq":  func(a, b uint32) uint32 { return truth(a == b) },
	"arith.cmpi slt": func(a, b uint32) uint32 { return truth(int32(a) < int32(b)) },
	"arith.cmpi sle": func(a, b uint32) uint32 { return truth(int32(a) <= int32(b)) },
	"arith.cmpi uge": func(a, b uint32) uint32 { return truth(a >= b) },

	"arith.cmpf une": ordered(func(a, b float32) bool { return a != b }),
	"arith.cmpf oeq": ordered(func(a, b float32) bool { return a == b }),
	"arith.cmpf ole": ordered(func(a, b float32) bool { return a <= b }),
	"arith.cmpf olt": ordered(func(a, b float32) bool { return a < b }),
	"arith.cmpf ogt": ordered(func(a, b float32) bool { return a > b }),
}

func floats(op func(a, b float32) float32) func(a, b uint32) uint32 {
	return func(a, b uint32) uint32 {
		return math.Float32bits(op(math.Float32frombits(a), math.Float32frombits(b)))
	}
}

func whole(op func(a, b int32) int32) func(a, b uint32) uint32 {
	return func(a, b uint32) uint32 { return uint32(op(int32(a), int32(b))) }
}

func ordered(is func(a, b float32) bool) func(a, b uint32) uint32 {
	return func(a, b uint32) uint32 { return truth(is(math.Float32frombits(a), math.Float32frombits(b))) }
}

func truth(is bool) uint32 {
	if is {
		return 1
	}
	return 0
}

func arithmetic(i *instruction, a, b tensor) (tensor, error) {
	y, name := tensor{kind: i.of, bits: make([]uint32, len(a.bits))}, i.op
	ofFloats := strings.HasSuffix(name, "f")
	if strings.HasPrefix(name, "arith.cmp") {
		y.of, name = "i1", name+" "+i.word
	}
	op, ok := operations[name]
	if !ok || ofFloats != (i.of.of == "f32") {
		return y, fmt.Errorf("not known here for %v", i.of)
	}
	if (i.op == "arith.divsi" || i.op == "arith.remsi") && slices.Contains(b.bits, 0) {
		return y, errors.New("division by zero")
	}
	for k := range y.bits {
		y.bits[k] = op(a.bits[k], b.bits[k])
	}
	return y, nil
}
