package onnx

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

// fieldOf is a field's number or bytes.
type fieldOf struct {
	int   uint64
	bytes []byte
}

type fieldsOf map[protowire.Number][]fieldOf

// parse reads a message with known fields only.
func parse(t *testing.T, b []byte, known ...protowire.Number) fieldsOf {
	t.Helper()
	all := fieldsOf{}
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		require.Positive(t, n)
		require.Contains(t, known, number)
		b = b[n:]
		var f fieldOf
		switch kind {
		case protowire.VarintType:
			f.int, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var x uint32
			x, n = protowire.ConsumeFixed32(b)
			f.int = uint64(x)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(b)
		default:
			t.Fatalf("field %d of wire type %d", number, kind)
		}
		require.GreaterOrEqual(t, n, 0)
		b = b[n:]
		all[number] = append(all[number], f)
	}
	return all
}

// one returns a field that occurs at most once.
func (all fieldsOf) one(t *testing.T, number protowire.Number) (f fieldOf) {
	t.Helper()
	require.LessOrEqual(t, len(all[number]), 1)
	if len(all[number]) == 1 {
		f = all[number][0]
	}
	return f
}

func (all fieldsOf) text(t *testing.T, number protowire.Number) string {
	t.Helper()
	return string(all.one(t, number).bytes)
}

// The messages of a file, as far as we use them.
type (
	modelProto struct {
		producer, version, doc string
		metadata               map[string]string
		graph                  graphProto
	}
	graphProto struct {
		name            string
		nodes           []nodeProto
		initializers    []tensorProto
		inputs, outputs []infoProto
	}
	nodeProto struct {
		inputs           []string
		output, name, op string
		attributes       map[string]attribute
	}
	attribute struct {
		float  float32
		int    int64
		text   string
		tensor tensorProto
	}
	tensorProto struct {
		name string
		array
	}
	infoProto struct {
		name, doc string
		element   uint64
		dims      []any // a number, or a name
	}
)

func decode(t *testing.T, file []byte) modelProto {
	t.Helper()
	all := parse(t, file, 1, 2, 3, 6, 7, 8, 14)
	require.EqualValues(t, 8, all.one(t, 1).int, "IR version")
	operators := parse(t, all.one(t, 8).bytes, 2)
	require.EqualValues(t, 18, operators.one(t, 2).int, "the standard operators, version 18")
	m := modelProto{producer: all.text(t, 2), version: all.text(t, 3), doc: all.text(t, 6),
		graph: decodeGraph(t, all.one(t, 7).bytes), metadata: map[string]string{}}
	for _, f := range all[14] {
		entry := parse(t, f.bytes, 1, 2)
		m.metadata[entry.text(t, 1)] = entry.text(t, 2)
	}
	return m
}

func decodeGraph(t *testing.T, b []byte) graphProto {
	all := parse(t, b, 1, 2, 5, 11, 12)
	g := graphProto{name: all.text(t, 2)}
	for _, f := range all[1] {
		g.nodes = append(g.nodes, decodeNode(t, f.bytes))
	}
	for _, f := range all[5] {
		g.initializers = append(g.initializers, decodeTensor(t, f.bytes))
	}
	for _, f := range all[11] {
		g.inputs = append(g.inputs, decodeInfo(t, f.bytes))
	}
	for _, f := range all[12] {
		g.outputs = append(g.outputs, decodeInfo(t, f.bytes))
	}
	return g
}

func decodeNode(t *testing.T, b []byte) nodeProto {
	all := parse(t, b, 1, 2, 3, 4, 5)
	n := nodeProto{output: all.text(t, 2), name: all.text(t, 3), op: all.text(t, 4), attributes: map[string]attribute{}}
	for _, f := range all[1] {
		n.inputs = append(n.inputs, string(f.bytes))
	}
	for _, f := range all[5] {
		of := parse(t, f.bytes, 1, 2, 3, 4, 5, 20)
		require.Len(t, of, 3, "a name, a value and its kind")
		value := protowire.Number(of.one(t, 20).int + 1) // kinds are numbered like the fields of their values
		require.Contains(t, of, value)
		a := attribute{float: math.Float32frombits(uint32(of.one(t, 2).int)), int: int64(of.one(t, 3).int),
			text: of.text(t, 4)}
		if value == 5 {
			a.tensor = decodeTensor(t, of.one(t, 5).bytes)
		}
		n.attributes[of.text(t, 1)] = a
	}
	return n
}

func decodeTensor(t *testing.T, b []byte) tensorProto {
	all := parse(t, b, 1, 2, 8, 9)
	x := tensorProto{name: all.text(t, 8)}
	for _, d := range all[1] {
		x.dims = append(x.dims, int(d.int))
	}
	element := all.one(t, 2).int
	for raw := all.one(t, 9).bytes; len(raw) > 0; {
		if element == int64s {
			x.data, raw = append(x.data, float64(int64(binary.LittleEndian.Uint64(raw)))), raw[8:]
		} else {
			require.EqualValues(t, float32s, element)
			x.data, raw = append(x.data, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw)))), raw[4:]
		}
	}
	require.Len(t, x.data, product(x.dims), x.name)
	return x
}

func decodeInfo(t *testing.T, b []byte) infoProto {
	all := parse(t, b, 1, 2, 3)
	tensor := parse(t, parse(t, all.one(t, 2).bytes, 1).one(t, 1).bytes, 1, 2)
	v := infoProto{name: all.text(t, 1), doc: all.text(t, 3), element: tensor.one(t, 1).int}
	for _, f := range parse(t, tensor.one(t, 2).bytes, 1)[1] {
		if d := parse(t, f.bytes, 1, 2); len(d[1]) > 0 {
			v.dims = append(v.dims, int(d.one(t, 1).int))
		} else {
			v.dims = append(v.dims, d.text(t, 2))
		}
	}
	return v
}
