package onnx

import (
	"fmt"
	"slices"

	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
)

const (
	inputFeatures = "x"
	inputEdges    = "edge_index"
	outputLogits  = "logits"
)

// value is a named tensor [rows, width].
type value struct {
	name  string
	width int
}

// builder collects an ONNX graph. It keeps the first error; later calls are safe, but their results are not used.
type builder struct {
	nodes        []node
	initializers []message
	weights      map[string]infer.Weight
	scope        string // prefix of the next operators' names, such as "layer0"
	used         map[string]int
	known        map[string]bool
	err          error

	// Names of tensors: source and target [edges] hold the two nodes of each edge; targets [edges, 1] equals target.
	source, target, targets string
	degrees                 map[bool]value // node degrees; if the key is true, a node counts itself
	// repeated holds, for each width, the name of a tensor [edges, width] in which every column equals targets.
	repeated map[int]string
}

func (b *builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
}

func (b *builder) add(op string, inputs []string, attributes ...message) string {
	name := b.scope + "/" + op
	if b.used[name]++; b.used[name] > 1 {
		name = fmt.Sprintf("%s_%d", name, b.used[name])
	}
	b.nodes = append(b.nodes, node{op: op, name: name, inputs: inputs, output: name, attributes: attributes})
	return name
}

func (b *builder) elementwise(op string, v value, others ...string) value {
	return value{b.add(op, append([]string{v.name}, others...)), v.width}
}

func (b *builder) sum(v, w value) value { return b.elementwise("Add", v, w.name) }

func (b *builder) constant(name string, tensor message) string {
	if !b.known[name] {
		b.known[name] = true
		b.initializers = append(b.initializers, tensor)
	}
	return name
}

func (b *builder) ints(numbers ...int64) string {
	name := fmt.Sprint("ints", numbers)
	return b.constant(name, ints(name, numbers, len(numbers)))
}

func (b *builder) scalar(x float32) string {
	name := fmt.Sprint("float ", x)
	return b.constant(name, floats(name, []float32{x}))
}

func (b *builder) path(name string) string {
	return "/" + gomlx.ModelScope + "/" + b.scope + "/" + name
}

func (b *builder) weight(name string, dims ...int) []float32 {
	path := b.path(name)
	w, ok := b.weights[path]
	size := 1
	for _, d := range dims {
		size *= d
	}
	switch {
	case !ok:
		b.fail("the model has no weights %s: expected dimensions %v by its settings", path, dims)
	case !slices.Equal(w.Dimensions, dims) || len(w.Values) != size:
		b.fail("weights %s: %d numbers of dimensions %v: expected %v by the model's settings", path, len(w.Values),
			w.Dimensions, dims)
	}
	if b.err != nil {
		return nil
	}
	return w.Values
}

func (b *builder) matrix(name string, rows, columns int) string {
	own := b.scope + "/" + name
	return b.constant(own, floats(own, b.weight(name, rows, columns), rows, columns))
}

// vector adds a weight [1, width] as an initializer [width].
func (b *builder) vector(name string, width int) string {
	own := b.scope + "/" + name
	return b.constant(own, floats(own, b.weight(name, 1, width), width))
}

func (b *builder) times(h value, name string, out int) value {
	return value{b.add("MatMul", []string{h.name, b.matrix(name, h.width, out)}), out}
}

func (b *builder) plus(h value, name string) value {
	return b.elementwise("Add", h, b.matrix(name, 1, h.width))
}

func (b *builder) filled(x float32, width int) value {
	nodes := b.add("Shape", []string{inputFeatures}, integer("end", 1))
	shape := b.add("Concat", []string{nodes, b.ints(int64(width))}, integer("axis", 0))
	return value{b.add("ConstantOfShape", []string{shape}, tensor("value", floats("", []float32{x}, 1))), width}
}

// edges removes self-loops, because layers that need self-loops add them.
func (b *builder) edges() {
	b.scope = "edges"
	row := func(from string, number int64) string {
		name := fmt.Sprint("int ", number)
		return b.add("Gather", []string{from, b.constant(name, ints(name, []int64{number}))}, integer("axis", 0))
	}
	loops := b.add("Equal", []string{row(inputEdges, 0), row(inputEdges, 1)})
	kept := b.add("Compress", []string{inputEdges, b.add("Not", []string{loops})}, integer("axis", 1))
	b.source, b.target = row(kept, 0), row(kept, 1)
	b.targets = b.add("Unsqueeze", []string{b.target, b.ints(1)})
}

func (b *builder) sources(h value) value { return b.gather(h, b.source) }

func (b *builder) atTargets(h value) value { return b.gather(h, b.target) }

func (b *builder) gather(h value, index string) value {
	return value{b.add("Gather", []string{h.name, index}, integer("axis", 0)), h.width}
}

// scatter combines messages [edges, width] with the rows of their target nodes in initial [nodes, width], by "add" or
// "max". It avoids ONNX Runtime's ScatterND, which adds from several threads at once and loses terms.
func (b *builder) scatter(reduction string, initial, messages value) value {
	index := b.targets
	if messages.width > 1 {
		if b.repeated[messages.width] == "" {
			b.repeated[messages.width] = b.add("Expand", []string{b.targets, b.ints(1, int64(messages.width))})
		}
		index = b.repeated[messages.width]
	}
	return value{b.add("ScatterElements", []string{initial.name, index, messages.name}, integer("axis", 0),
		text("reduction", reduction)), initial.width}
}

func (b *builder) degree(withSelf bool) value {
	if d, ok := b.degrees[withSelf]; ok {
		return d
	}
	first := float32(0)
	if withSelf {
		first = 1
	}
	b.degrees[withSelf] = b.scatter("add", b.filled(first, 1), b.sources(b.filled(1, 1)))
	return b.degrees[withSelf]
}

// split turns [rows, heads·width] into [rows, heads, width].
func (b *builder) split(v value, heads int) string {
	return b.add("Reshape", []string{v.name, b.ints(0, int64(heads), int64(v.width/heads))}) // 0 keeps the dimension
}

// perHead applies an operator to each head's columns of v and that head's column of w [rows, heads].
func (b *builder) perHead(op string, v, w value) value {
	if w.width == 1 {
		return b.elementwise(op, v, w.name)
	}
	all := b.add(op, []string{b.split(v, w.width), b.add("Unsqueeze", []string{w.name, b.ints(2)})})
	return value{b.add("Reshape", []string{all, b.ints(0, int64(v.width))}), v.width}
}

// headProducts returns [rows, heads]: each head's inner product of x and the named weight [heads, width/heads].
func (b *builder) headProducts(x value, name string, heads int) value {
	each := b.add("Mul", []string{b.split(x, heads), b.matrix(name, heads, x.width/heads)})
	return value{b.add("ReduceSum", []string{each, b.ints(2)}, integer("keepdims", 0)), heads}
}
