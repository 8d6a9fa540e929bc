package interpreter

import (
	"fmt"
	"math"
	"slices"
	"strconv"
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

// tensor is a value: i holds whole numbers, truth values and offsets of pointers into an array.
type tensor struct {
	kind
	f  []float32
	i  []int32
	to *Array
}

type run struct {
	values  map[string]tensor
	program [2]int32
}

// Run runs all programs of a grid. It returns an error that names the line for what is not defined: a type that does
// not fit, and reads and writes outside of arrays.
func (f *Function) Run(grid [2]int, arrays ...*Array) (err error) {
	if len(arrays) != len(f.arguments) {
		return fmt.Errorf("%d arrays for %d arguments", len(arrays), len(f.arguments))
	}
	for x := range grid[0] {
		for y := range grid[1] {
			r := &run{values: map[string]tensor{}, program: [2]int32{int32(x), int32(y)}}
			for i, name := range f.arguments {
				of := "!tt.ptr<f32>"
				if arrays[i].Ints != nil {
					of = "!tt.ptr<i32>"
				}
				r.values[name] = tensor{kind: kind{of: of}, i: []int32{0}, to: arrays[i]}
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
			v, known := r.values[name]
			if !known {
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
		for at := in[0].i[0]; at < in[1].i[0]; at += in[2].i[0] {
			r.values[i.index], r.values[i.state] = tensor{kind: number, i: []int32{at}}, state
			if state, err = r.block(i.body); err != nil {
				return y, err
			}
			if err := expect([]tensor{state}, i.of); err != nil {
				return y, err
			}
		}
		return state, nil
	case "arith.constant":
		if i.of.of == "f32" {
			bits, err := strconv.ParseUint(i.word, 0, 32)
			y.f = slices.Repeat([]float32{math.Float32frombits(uint32(bits))}, n)
			return y, err
		}
		x, err := strconv.ParseInt(i.word, 10, 32)
		y.i = slices.Repeat([]int32{int32(x)}, n)
		return y, err
	case "tt.get_program_id":
		axis, known := map[string]int{"x": 0, "y": 1}[i.word]
		if !known {
			return y, fmt.Errorf("axis %q", i.word)
		}
		y.i = []int32{r.program[axis]}
		return y, nil
	case "tt.make_range":
		for x := range n {
			y.i = append(y.i, int32(x))
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
		y.to, y.i = in[0].to, make([]int32, n)
		for k := range y.i {
			at := int64(in[0].i[k]) + int64(in[1].i[k])
			if at != int64(int32(at)) {
				return y, fmt.Errorf("offset %d", at)
			}
			y.i[k] = int32(at)
		}
		return y, nil
	case "tt.load":
		return load(i, in)
	case "tt.store":
		value := of(i.of.of[len("!tt.ptr<") : len(i.of.of)-1])
		if err := expect(in, i.of, value, of("i1")); err != nil {
			return y, err
		}
		for k, at := range in[0].i {
			if in[2].i[k] == 0 {
				continue
			}
			a := in[0].to
			if at < 0 || int(at) >= len(a.Writes) || a.Floats == nil {
				return y, fmt.Errorf("write at %d of an array of %d", at, len(a.Writes))
			}
			a.Floats[at] = in[1].f[k]
			a.Writes[at]++
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
		y.f = slices.Clone(in[0].f[:columns])
		for k := columns; k < n; k++ {
			switch i.word {
			case "addf":
				y.f[k%columns] += in[0].f[k]
			case "maxnumf":
				y.f[k%columns] = max(y.f[k%columns], in[0].f[k])
			default:
				return y, fmt.Errorf("by %s", i.word)
			}
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
		return chosen(in[0], in[1], in[2]), nil
	case "math.exp":
		if err := expect(in, kind{"f32", i.of.shape}); err != nil {
			return y, err
		}
		for _, x := range in[0].f {
			y.f = append(y.f, float32(math.Exp(float64(x))))
		}
		return y, nil
	}
	if err := expect(in, i.of, i.of); err != nil {
		return y, err
	}
	return arithmetic(i, in[0], in[1])
}

// chosen takes numbers of a where c is true, else of b; one c stands for all.
func chosen(c, a, b tensor) tensor {
	y := tensor{kind: a.kind, to: a.to, f: slices.Clone(b.f), i: slices.Clone(b.i)}
	for k := range a.size() {
		if c.i[min(k, len(c.i)-1)] == 0 {
			continue
		}
		if a.f != nil {
			y.f[k] = a.f[k]
		} else {
			y.i[k] = a.i[k]
		}
	}
	return y
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
		y.f, y.i = x.f, x.i
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
		if x.f != nil {
			y.f = append(y.f, x.f[at])
		} else {
			y.i = append(y.i, x.i[at])
		}
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
	a := in[0].to
	for k, at := range in[0].i {
		if len(in) > 1 && in[1].i[k] == 0 {
			if y.of == "f32" {
				y.f = append(y.f, in[2].f[k])
			} else {
				y.i = append(y.i, in[2].i[k])
			}
			continue
		}
		if at < 0 || int(at) >= len(a.Reads) {
			return y, fmt.Errorf("read at %d of an array of %d", at, len(a.Reads))
		}
		a.Reads[at]++
		if y.of == "f32" {
			y.f = append(y.f, a.Floats[at])
		} else {
			y.i = append(y.i, a.Ints[at])
		}
	}
	return y, nil
}

var floatOps = map[string]func(a, b float32) float32{
	"arith.addf":    func(a, b float32) float32 { return a + b },
	"arith.subf":    func(a, b float32) float32 { return a - b },
	"arith.divf":    func(a, b float32) float32 { return a / b },
	"arith.mulf":    func(a, b float32) float32 { return a * b },
	"arith.maxnumf": func(a, b float32) float32 { return max(a, b) },
}

var intOps = map[string]func(a, b int32) int32{
	"arith.addi":  func(a, b int32) int32 { return a + b },
	"arith.subi":  func(a, b int32) int32 { return a - b },
	"arith.muli":  func(a, b int32) int32 { return a * b },
	"arith.minsi": func(a, b int32) int32 { return min(a, b) },
	"arith.maxsi": func(a, b int32) int32 { return max(a, b) },
	"arith.andi":  func(a, b int32) int32 { return a & b },
	"arith.xori":  func(a, b int32) int32 { return a ^ b },
	"arith.shrui": func(a, b int32) int32 { return int32(uint32(a) >> b) },
	"arith.divsi": func(a, b int32) int32 { return a / b },
	"arith.remsi": func(a, b int32) int32 { return a % b },
}

var comparisons = map[string]func(a, b int32) bool{
	"eq":  func(a, b int32) bool { return a == b },
	"slt": func(a, b int32) bool { return a < b },
	"sle": func(a, b int32) bool { return a <= b },
	"uge": func(a, b int32) bool { return uint32(a) >= uint32(b) },
}

var orders = map[string]func(a, b float32) bool{
	"une": func(a, b float32) bool { return a != b },
	"oeq": func(a, b float32) bool { return a == b },
	"ole": func(a, b float32) bool { return a <= b },
	"olt": func(a, b float32) bool { return a < b },
	"ogt": func(a, b float32) bool { return a > b },
}

func arithmetic(i *instruction, a, b tensor) (y tensor, err error) {
	y.kind = i.of
	float, isFloat := floatOps[i.op]
	whole, isWhole := intOps[i.op]
	compare, isCompared := comparisons[i.word]
	ordered, isOrdered := orders[i.word]
	decide := func(is func(k int) bool) {
		y.of, y.i = "i1", make([]int32, i.of.size())
		for k := range y.i {
			if is(k) {
				y.i[k] = 1
			}
		}
	}
	switch {
	case isFloat && a.f != nil:
		y.f = make([]float32, len(a.f))
		for k := range y.f {
			y.f[k] = float(a.f[k], b.f[k])
		}
	case isWhole && a.i != nil:
		y.i = make([]int32, len(a.i))
		for k := range y.i {
			if b.i[k] == 0 && (i.op == "arith.divsi" || i.op == "arith.remsi") {
				return y, fmt.Errorf("division by zero")
			}
			y.i[k] = whole(a.i[k], b.i[k])
		}
	case i.op == "arith.cmpi" && isCompared && a.i != nil:
		decide(func(k int) bool { return compare(a.i[k], b.i[k]) })
	case i.op == "arith.cmpf" && isOrdered && a.f != nil:
		decide(func(k int) bool { return ordered(a.f[k], b.f[k]) })
	default:
		return y, fmt.Errorf("not known here for %v", i.of)
	}
	return y, nil
}
