// Package interpreter runs the Triton IR that package triton prints, on a CPU, block by block: for tests. It finds
// reads and writes outside of arrays, and counts how often each number is read and written.
package interpreter

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// kind is a type: of numbers or pointers, and with a shape that of a tensor.
type kind struct {
	of    string
	shape []int
}

func (k kind) size() int {
	n := 1
	for _, d := range k.shape {
		n *= d
	}
	return n
}

// instruction is an operation, with the text that it stands in, for messages.
type instruction struct {
	line     int
	op       string
	word     string   // a predicate, an axis, a constant
	operands []string // values
	results  string
	of, to   kind // the type behind the colon, and the one behind an arrow
	body     []instruction
	index    string // of a loop, and its state
	state    string
}

// Function is a parsed kernel.
type Function struct {
	Name      string
	arguments []string
	body      []instruction
}

var (
	head     = regexp.MustCompile(`^tt\.func public @(\w+)\((.*)\) attributes \{noinline = false\} \{$`)
	argument = regexp.MustCompile(`^(%\w+): !tt\.ptr<(f32|i32)>$`)
	loop     = regexp.MustCompile(`^(%\w+) = scf\.for (%\w+) = (%\w+) to (%\w+) step (%\w+) iter_args\((%\w+) = (%\w+)\) -> \((.+)\) : i32 \{$`)
	reduce   = regexp.MustCompile(`^(%\w+) = "tt\.reduce"\((%\w+)\) <\{axis = 0 : i32\}> \(\{$`)
	combine  = regexp.MustCompile(`^%sum = arith\.(\w+) %left, %right : f32$`)
	reduced  = regexp.MustCompile(`^\}\) : \((.+)\) -> (.+)$`)
	plain    = regexp.MustCompile(`^(?:(%\w+) = )?([a-z]+\.[a-z_]+) (.*) : (.+)$`)
	named    = regexp.MustCompile(`%\w+`)
	attached = regexp.MustCompile(`\{(\w+) = (-?\d+) : i32(?:, \w+ = 0 : i32)?\}`)
	typed    = regexp.MustCompile(`^(?:tensor<((?:\d+x)+)(.+)>|([^<>]+|!tt\.ptr<(?:f32|i32)>))$`)
)

func parseKind(text string) (kind, error) {
	m := typed.FindStringSubmatch(text)
	if m == nil {
		return kind{}, fmt.Errorf("%q is no type that is known here", text)
	}
	if m[3] != "" {
		return kind{of: m[3]}, nil
	}
	k := kind{of: m[2]}
	for d := range strings.SplitSeq(strings.TrimSuffix(m[1], "x"), "x") {
		n, err := strconv.Atoi(d)
		if err != nil || n < 1 || n > 1<<20 || n&(n-1) != 0 {
			return kind{}, fmt.Errorf("an axis of %s: expected a power of two", d)
		}
		k.shape = append(k.shape, n)
	}
	return k, nil
}

type parser struct {
	lines []string
	next  int
}

// Parse reads a kernel. Errors name the line.
func Parse(text string) (*Function, error) {
	p := &parser{lines: strings.Split(text, "\n")}
	f, err := p.function()
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", p.next, err)
	}
	return f, nil
}

func (p *parser) line() string {
	if p.next >= len(p.lines) {
		return ""
	}
	p.next++
	return strings.TrimSpace(p.lines[p.next-1])
}

func (p *parser) function() (*Function, error) {
	if p.line() != "module {" {
		return nil, fmt.Errorf("expected module {")
	}
	m := head.FindStringSubmatch(p.line())
	if m == nil {
		return nil, fmt.Errorf("expected a function")
	}
	f := &Function{Name: m[1]}
	for a := range strings.SplitSeq(m[2], ", ") {
		is := argument.FindStringSubmatch(a)
		if is == nil {
			return nil, fmt.Errorf("argument %q: expected a pointer to f32 or i32", a)
		}
		f.arguments = append(f.arguments, is[1])
	}
	var err error
	f.body, err = p.block("tt.return")
	return f, err
}

// block reads instructions until one with the operation last, which is its last.
func (p *parser) block(last string) (all []instruction, err error) {
	for p.next < len(p.lines) {
		i, err := p.instruction()
		if err != nil {
			return nil, err
		}
		all = append(all, i)
		if i.op == last {
			return all, nil
		}
	}
	return nil, fmt.Errorf("the text ends before %s", last)
}

func (p *parser) instruction() (i instruction, err error) {
	text := p.line()
	i.line = p.next
	if m := loop.FindStringSubmatch(text); m != nil {
		i.op, i.results, i.index, i.operands, i.state = "scf.for", m[1], m[2], []string{m[3], m[4], m[5], m[7]}, m[6]
		if i.of, err = parseKind(m[8]); err != nil {
			return i, err
		}
		if i.body, err = p.block("scf.yield"); err == nil && p.line() != "}" {
			err = fmt.Errorf("expected the end of a loop")
		}
		return i, err
	}
	if m := reduce.FindStringSubmatch(text); m != nil {
		i.op, i.results, i.operands = "tt.reduce", m[1], []string{m[2]}
		begin, how, end := p.line(), combine.FindStringSubmatch(p.line()), p.line()
		types := reduced.FindStringSubmatch(p.line())
		if begin != "^bb0(%left: f32, %right: f32):" || how == nil || end != "tt.reduce.return %sum : f32" || types == nil {
			return i, fmt.Errorf("a reduction that is not known here")
		}
		i.word = how[1]
		if i.of, err = parseKind(types[1]); err == nil {
			i.to, err = parseKind(types[2])
		}
		return i, err
	}
	if text == "tt.return" {
		return instruction{line: p.next, op: text}, nil
	}
	m := plain.FindStringSubmatch(text)
	if m == nil {
		return i, fmt.Errorf("%q is no instruction that is known here", text)
	}
	i.results, i.op, i.operands = m[1], m[2], named.FindAllString(m[3], -1)
	switch a := attached.FindStringSubmatch(m[3]); {
	case a != nil:
		i.word = a[2]
	case i.op == "arith.constant":
		i.word = strings.TrimSuffix(strings.TrimPrefix(m[3], "dense<"), ">")
	default:
		i.word, _, _ = strings.Cut(m[3], ",")
	}
	first, second, _ := strings.Cut(m[4], " -> ")
	switch left, right, two := strings.Cut(first, ", "); {
	case two && i.op == "tt.addptr":
		first = left
	case two && i.op == "arith.select": // by a tensor of truth values
		i.word, first = left, right
	case i.op == "arith.select":
		i.word = "i1"
	}
	if i.of, err = parseKind(first); err == nil && second != "" {
		i.to, err = parseKind(second)
	}
	return i, err
}
