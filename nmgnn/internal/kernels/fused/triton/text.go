// Package triton prints kernels for GPUs as Triton IR: text that XLA compiles where a program for CUDA calls it, with
// nothing to install or to register. Package interpreter runs the same text on a CPU, for tests.
package triton

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Kernel is a function in Triton's IR and how it is launched. Its arguments are the inputs and then the outputs, row by
// row.
type Kernel struct {
	Name  string
	Text  string
	Grid  [2]int // programs
	Warps int    // of 32 threads, for each program
	// Outputs is how many of the arguments are, the last.
	Outputs   int
	arguments []string
}

// Target is what a custom call of a kernel names; its API version is 2.
const Target = "__gpu$xla.gpu.triton"

// Config returns what a custom call has for its configuration.
func (k Kernel) Config() string {
	text := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(k.Text)
	return fmt.Sprintf(`{name = "%s", ir = "%s", grid_x = %d : i32, grid_y = %d : i32, grid_z = 1 : i32, num_stages = 1 : i32, num_warps = %d : i32, debug = false}`,
		k.Name, text, k.Grid[0], k.Grid[1], k.Warps)
}

// Program returns a StableHLO program that is this kernel alone, for arguments [rows, columns] by name: to be compiled
// for GPUs.
func (k Kernel) Program(sizes map[string][2]int) string {
	var parameters, operands, types, results, returned []string
	for i, a := range k.arguments {
		of := fmt.Sprintf("tensor<%dx%dx%s>", sizes[a][0], sizes[a][1], typeOf(a))
		if r := i - len(k.arguments) + k.Outputs; r >= 0 {
			results, returned = append(results, of), append(returned, fmt.Sprintf("%%r#%d", r))
			continue
		}
		parameters, operands = append(parameters, fmt.Sprintf("%%%s: %s", a, of)), append(operands, "%"+a)
		types = append(types, of)
	}
	list := func(all []string) string { return strings.Join(all, ", ") }
	return fmt.Sprintf("module @alone {\n  func.func @main(%s) -> (%s) {\n    %%r:%d = \"stablehlo.custom_call\"(%s) "+
		"{call_target_name = %q, backend_config = %q, api_version = 2 : i32} : (%s) -> (%s)\n    return %s : %s\n  }\n}\n",
		list(parameters), list(results), k.Outputs, list(operands), Target, k.Config(), list(types), list(results),
		list(returned), list(results))
}

// value is a number, a pointer, or a tensor of these.
type value struct {
	name  string
	of    string // "i1", "i32", "f32", "!tt.ptr<f32>", …
	shape []int  // empty: no tensor
}

func (v value) kind() string { return kindOf(v.of, v.shape) }

func kindOf(of string, shape []int) string {
	if len(shape) == 0 {
		return of
	}
	text := "tensor<"
	for _, n := range shape {
		text += fmt.Sprintf("%dx", n)
	}
	return text + of + ">"
}

// printer writes a function line by line. Operands of one operation are made of one shape first.
type printer struct {
	body   strings.Builder
	values int
	indent string
}

func (p *printer) line(format string, args ...any) {
	fmt.Fprintf(&p.body, p.indent+format+"\n", args...)
}

// made writes an operation and returns its result.
func (p *printer) made(of string, shape []int, format string, args ...any) value {
	p.values++
	v := value{fmt.Sprintf("%%%d", p.values), of, shape}
	p.line("%s = %s", v.name, fmt.Sprintf(format, args...))
	return v
}

func (p *printer) int(x int, shape ...int) value {
	if len(shape) > 0 {
		return p.made("i32", shape, "arith.constant dense<%d> : %s", x, kindOf("i32", shape))
	}
	return p.made("i32", nil, "arith.constant %d : i32", x)
}

func (p *printer) float(x float32, shape ...int) value {
	text := fmt.Sprintf("0x%08X", math.Float32bits(x))
	if len(shape) > 0 {
		text = "dense<" + text + ">"
	}
	return p.made("f32", shape, "arith.constant %s : %s", text, kindOf("f32", shape))
}

func (p *printer) program(axis string) value {
	return p.made("i32", nil, "tt.get_program_id %s : i32", axis)
}

// upTo returns 0, 1, …, n-1.
func (p *printer) upTo(n int) value {
	return p.made("i32", []int{n}, "tt.make_range {end = %d : i32, start = 0 : i32} : tensor<%dxi32>", n, n)
}

// as gives v a shape: a number is repeated, a tensor along its axes of length 1.
func (p *printer) as(v value, shape []int) value {
	switch {
	case slices.Equal(v.shape, shape):
		return v
	case len(v.shape) == 0:
		return p.made(v.of, shape, "tt.splat %s : %s -> %s", v.name, v.of, kindOf(v.of, shape))
	}
	return p.made(v.of, shape, "tt.broadcast %s : %s -> %s", v.name, v.kind(), kindOf(v.of, shape))
}

// column makes [n] into [n, 1], row into [1, n].
func (p *printer) column(v value) value { return p.expand(v, 1, []int{v.shape[0], 1}) }
func (p *printer) row(v value) value    { return p.expand(v, 0, []int{1, v.shape[0]}) }
func (p *printer) expand(v value, axis int, shape []int) value {
	return p.made(v.of, shape, "tt.expand_dims %s {axis = %d : i32} : %s -> %s", v.name, axis, v.kind(),
		kindOf(v.of, shape))
}

// both gives a and b the shape that holds both.
func (p *printer) both(a, b value) (value, value) {
	shape := a.shape
	if len(b.shape) > len(shape) {
		shape = b.shape
	} else if len(a.shape) == len(b.shape) {
		shape = slices.Clone(shape)
		for i := range shape {
			shape[i] = max(shape[i], b.shape[i])
		}
	}
	return p.as(a, shape), p.as(b, shape)
}

// op writes an operation of arith on two operands.
func (p *printer) op(name string, a, b value) value {
	a, b = p.both(a, b)
	return p.made(a.of, a.shape, "arith.%s %s, %s : %s", name, a.name, b.name, a.kind())
}

// compare writes cmpi or cmpf with a predicate.
func (p *printer) compare(predicate string, a, b value) value {
	a, b = p.both(a, b)
	name := "cmpi"
	if a.of == "f32" {
		name = "cmpf"
	}
	return p.made("i1", a.shape, "arith.%s %s, %s, %s : %s", name, predicate, a.name, b.name, a.kind())
}

// choose returns a where c is true, else b.
func (p *printer) choose(c, a, b value) value {
	kind := a.kind()
	if len(c.shape) > 0 {
		kind = c.kind() + ", " + kind
	}
	return p.made(a.of, a.shape, "arith.select %s, %s, %s : %s", c.name, a.name, b.name, kind)
}

// entriesOf reads where the entries of a row begin and where they end.
func (p *printer) entriesOf(row, offsets value) (from, to value) {
	return p.get(offsets, row, nil), p.get(offsets, p.op("addi", row, p.int(1)), nil)
}

// isBelowZero is where LeakyReLU has a slope, as GoMLX's does.
func (p *printer) isBelowZero(x value) value { return p.compare("olt", x, p.float(0)) }

func (p *printer) exp(x value) value {
	return p.made(x.of, x.shape, "math.exp %s : %s", x.name, x.kind())
}

func (p *printer) at(pointer, offset value) value {
	pointer, offset = p.both(pointer, offset)
	return p.made(pointer.of, pointer.shape, "tt.addptr %s, %s : %s, %s", pointer.name, offset.name, pointer.kind(),
		offset.kind())
}

func pointed(of string) string { return strings.TrimSuffix(strings.TrimPrefix(of, "!tt.ptr<"), ">") }

// get reads pointer[offset]; with a mask, zero or what is given instead where that is false, and nothing is read there.
func (p *printer) get(pointer, offset value, mask *value, instead ...float32) value {
	from := p.at(pointer, offset)
	of := pointed(from.of)
	if mask == nil {
		return p.made(of, from.shape, "tt.load %s : %s", from.name, from.kind())
	}
	m, none := p.as(*mask, from.shape), p.int(0, from.shape...)
	if of == "f32" {
		none = p.float(append(instead, 0)[0], from.shape...)
	}
	return p.made(of, from.shape, "tt.load %s, %s, %s : %s", from.name, m.name, none.name, from.kind())
}

// put writes v to pointer[offset] where the mask is true.
func (p *printer) put(pointer, offset, v, mask value) {
	to := p.at(pointer, offset)
	p.line("tt.store %s, %s, %s : %s", to.name, v.name, p.as(mask, to.shape).name, to.kind())
}

// fold combines the numbers of a tensor along its first axis, by addf or maxnumf.
func (p *printer) fold(combine string, v value) value {
	shape := v.shape[1:]
	y := p.made(v.of, shape, `"tt.reduce"(%s) <{axis = 0 : i32}> ({`, v.name)
	p.line("^bb0(%%left: f32, %%right: f32):")
	p.line("  %%sum = arith.%s %%left, %%right : f32", combine)
	p.line("  tt.reduce.return %%sum : f32")
	p.line("}) : (%s) -> %s", v.kind(), y.kind())
	return y
}

// loop writes body for from, from+step, … below to, with what the one before returned, the first time with start.
func (p *printer) loop(from, to, step, start value, body func(i, state value) value) value {
	p.values += 3
	i, state := value{fmt.Sprintf("%%%d", p.values-2), "i32", nil}, value{fmt.Sprintf("%%%d", p.values-1), start.of,
		start.shape}
	y := value{fmt.Sprintf("%%%d", p.values), start.of, start.shape}
	p.line("%s = scf.for %s = %s to %s step %s iter_args(%s = %s) -> (%s) : i32 {", y.name, i.name, from.name, to.name,
		step.name, state.name, start.name, state.kind())
	outer := p.indent
	p.indent += "  "
	next := body(i, state)
	p.line("scf.yield %s : %s", next.name, next.kind())
	p.indent = outer
	p.line("}")
	return y
}

// typeOf is that of the numbers in an argument of a kernel.
func typeOf(argument string) string {
	switch argument {
	case "offsets", "columns", "positions", "draw":
		return "i32"
	}
	return "f32"
}

// printed is the kernel with the text of a function of its arguments.
func (k Kernel) printed(body func(p *printer, at map[string]value)) Kernel {
	p, at := &printer{indent: "    "}, map[string]value{}
	var list []string
	for _, a := range k.arguments {
		of := "!tt.ptr<" + typeOf(a) + ">"
		at[a] = value{"%" + a, of, nil}
		list = append(list, fmt.Sprintf("%%%s: %s", a, of))
	}
	body(p, at)
	k.Text = fmt.Sprintf("module {\n  tt.func public @%s(%s) attributes {noinline = false} {\n%s    tt.return\n  }\n}\n",
		k.Name, strings.Join(list, ", "), p.body.String())
	return k
}
