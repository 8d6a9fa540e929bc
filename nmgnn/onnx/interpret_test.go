package onnx

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// array is a tensor of floats, integers or booleans, as float64.
type array struct {
	dims []int
	data []float64
}

func newArray(dims ...int) *array { return &array{dims: dims, data: make([]float64, product(dims))} }

func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

func (a *array) integers() (all []int) {
	for _, x := range a.data {
		all = append(all, int(x))
	}
	return all
}

// interpret runs a graph in double precision by each operator's definition, in node order.
func interpret(t *testing.T, g graphProto, inputs map[string]*array) *array {
	t.Helper()
	values := map[string]*array{}
	for _, in := range g.inputs {
		given := inputs[in.name]
		require.NotNil(t, given, in.name)
		require.Len(t, given.dims, len(in.dims))
		for i, d := range in.dims {
			if number, ok := d.(int); ok {
				require.Equal(t, number, given.dims[i], in.name)
			}
		}
		values[in.name] = given
	}
	for _, c := range g.initializers {
		require.NotContains(t, values, c.name)
		values[c.name] = &c.array
	}
	for _, n := range g.nodes {
		var in []*array
		for _, name := range n.inputs {
			require.Contains(t, values, name, "%s reads what is not computed yet", n.name)
			in = append(in, values[name])
		}
		require.NotContains(t, values, n.output, "two nodes compute it")
		values[n.output] = run(t, n, in)
	}
	require.Len(t, g.outputs, 1)
	return values[g.outputs[0].name]
}

var ofOne = map[string]func(x float64, a attribute) float64{
	"Abs":  func(x float64, _ attribute) float64 { return math.Abs(x) },
	"Exp":  func(x float64, _ attribute) float64 { return math.Exp(x) },
	"Sqrt": func(x float64, _ attribute) float64 { return math.Sqrt(x) },
	"Relu": func(x float64, _ attribute) float64 { return max(x, 0) },
	"Not":  func(x float64, _ attribute) float64 { return 1 - x },
	"Elu":  func(x float64, _ attribute) float64 { return max(x, 0) + math.Expm1(min(x, 0)) },
	"LeakyRelu": func(x float64, a attribute) float64 {
		return max(x, 0) + float64(a.float)*min(x, 0)
	},
}

var ofTwo = map[string]func(x, y float64) float64{
	"Add": func(x, y float64) float64 { return x + y },
	"Sub": func(x, y float64) float64 { return x - y },
	"Mul": func(x, y float64) float64 { return x * y },
	"Div": func(x, y float64) float64 { return x / y },
	"Max": func(x, y float64) float64 { return max(x, y) },
	"Equal": func(x, y float64) float64 {
		if x == y {
			return 1
		}
		return 0
	},
}

func run(t *testing.T, n nodeProto, in []*array) *array {
	t.Helper()
	only := func(names ...string) { // an ignored attribute would be a hole in the test
		for name := range n.attributes {
			require.Contains(t, names, name, n.name)
		}
	}
	if f := ofOne[n.op]; f != nil {
		only("alpha")
		y := newArray(in[0].dims...)
		for i, x := range in[0].data {
			y.data[i] = f(x, n.attributes["alpha"])
		}
		return y
	}
	if f := ofTwo[n.op]; f != nil {
		only()
		dims := broadcast(t, in[0].dims, in[1].dims)
		x, y := expand(in[0], dims), expand(in[1], dims)
		for i := range x.data {
			x.data[i] = f(x.data[i], y.data[i])
		}
		return x
	}
	axis := int(n.attributes["axis"].int)
	switch n.op {
	case "Where":
		only()
		dims := broadcast(t, in[0].dims, broadcast(t, in[1].dims, in[2].dims))
		is, x, y := expand(in[0], dims), expand(in[1], dims), expand(in[2], dims)
		for i := range x.data {
			if is.data[i] == 0 {
				x.data[i] = y.data[i]
			}
		}
		return x
	case "MatMul":
		only()
		rows, inner, columns := in[0].dims[0], in[0].dims[1], in[1].dims[1]
		require.Equal(t, inner, in[1].dims[0])
		y := newArray(rows, columns)
		for r := range rows {
			for k := range inner {
				if x := in[0].data[r*inner+k]; x != 0 {
					for c := range columns {
						y.data[r*columns+c] += x * in[1].data[k*columns+c]
					}
				}
			}
		}
		return y
	case "Shape":
		only("end")
		require.EqualValues(t, 1, n.attributes["end"].int)
		return &array{[]int{1}, []float64{float64(in[0].dims[0])}}
	case "Concat":
		only("axis")
		return &array{[]int{len(in[0].data) + len(in[1].data)}, append(slices.Clone(in[0].data), in[1].data...)}
	case "ConstantOfShape":
		only("value")
		y := newArray(in[0].integers()...)
		for i := range y.data {
			y.data[i] = n.attributes["value"].tensor.data[0]
		}
		return y
	case "Unsqueeze":
		only()
		return &array{slices.Insert(slices.Clone(in[0].dims), int(in[1].data[0]), 1), in[0].data}
	case "Reshape":
		only()
		dims := in[1].integers()
		for i, d := range dims {
			if d == 0 {
				dims[i] = in[0].dims[i]
			}
		}
		require.Len(t, in[0].data, product(dims), n.name)
		return &array{dims, in[0].data}
	case "Expand":
		only()
		return expand(in[0], broadcast(t, in[0].dims, in[1].integers()))
	case "Gather":
		only("axis")
		require.Zero(t, axis)
		each := product(in[0].dims[1:])
		y := &array{dims: append(slices.Clone(in[1].dims), in[0].dims[1:]...)}
		for _, i := range in[1].integers() {
			y.data = append(y.data, in[0].data[i*each:(i+1)*each]...)
		}
		return y
	case "Compress":
		only("axis")
		require.Equal(t, 1, axis)
		columns := len(in[1].data)
		y := &array{dims: []int{in[0].dims[0], 0}}
		for i, x := range in[0].data {
			if in[1].data[i%columns] != 0 {
				y.data = append(y.data, x)
			}
		}
		y.dims[1] = len(y.data) / in[0].dims[0]
		return y
	case "ReduceSum":
		only("keepdims")
		require.Equal(t, []int{len(in[0].dims) - 1}, in[1].integers(), "the last axis")
		width := in[0].dims[len(in[0].dims)-1]
		y := newArray(in[0].dims[:len(in[0].dims)-1]...)
		for i, x := range in[0].data {
			y.data[i/width] += x
		}
		if n.attributes["keepdims"].int == 1 {
			y.dims = append(slices.Clone(y.dims), 1)
		}
		return y
	case "ScatterElements":
		only("axis", "reduction")
		require.Zero(t, axis)
		reduce := map[string]func(x, y float64) float64{"add": ofTwo["Add"],
			"max": ofTwo["Max"]}[n.attributes["reduction"].text]
		require.Equal(t, in[1].dims, in[2].dims, n.name)
		require.Equal(t, in[0].dims[1:], in[2].dims[1:], n.name)
		y := &array{in[0].dims, slices.Clone(in[0].data)}
		width := in[0].dims[1]
		for i, row := range in[1].integers() {
			at := row*width + i%width
			y.data[at] = reduce(y.data[at], in[2].data[i])
		}
		return y
	case "BatchNormalization":
		only("epsilon")
		y, width := newArray(in[0].dims...), in[0].dims[1]
		for i, x := range in[0].data {
			c := i % width
			y.data[i] = (x-in[3].data[c])/math.Sqrt(in[4].data[c]+float64(n.attributes["epsilon"].float))*in[1].data[c] +
				in[2].data[c]
		}
		return y
	}
	t.Fatalf("%s: there is no operator %s here", n.name, n.op)
	return nil
}

// broadcast returns the joint dimensions by ONNX's rule.
func broadcast(t *testing.T, a, b []int) []int {
	t.Helper()
	if len(a) < len(b) {
		a, b = b, a
	}
	both := slices.Clone(a)
	for i := range b {
		at := len(a) - len(b) + i
		switch {
		case a[at] == 1:
			both[at] = b[i]
		case b[i] != 1:
			require.Equal(t, a[at], b[i], fmt.Sprint(a, " and ", b))
		}
	}
	return both
}

// expand returns a copy of a in larger dimensions.
func expand(a *array, dims []int) *array {
	y := newArray(dims...)
	for i := range y.data {
		from, stride, rest := 0, 1, i
		for d := len(dims) - 1; d >= 0; d-- {
			at := rest % dims[d]
			rest /= dims[d]
			if own := d - (len(dims) - len(a.dims)); own >= 0 {
				if a.dims[own] > 1 {
					from += at * stride
				}
				stride *= a.dims[own]
			}
		}
		y.data[i] = a.data[from]
	}
	return y
}
