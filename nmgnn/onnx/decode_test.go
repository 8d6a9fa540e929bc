package onnx

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

// fieldOf is one field of a message: a number or bytes.
type fieldOf struct {
	number protowire.Number
	int    uint64
	bytes  []byte
}

func fields(t *testing.T, b []byte) (all []fieldOf) {
	t.Helper()
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		require.Positive(t, n)
		b = b[n:]
		f := fieldOf{number: number}
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
		all = append(all, f)
	}
	return all
}

// The messages of a file, as far as files have them.
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
		inputs, outputs []valueInfo
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
	valueInfo struct {
		name, doc string
		element   uint64
		dims      []any // a number, or the name of one
	}
)

// decode reads a file, field by field.
func decode(t *testing.T, file []byte) modelProto {
	t.Helper()
	m := modelProto{metadata: map[string]string{}}
	for _, f := range fields(t, file) {
		switch f.number {
		case 1:
			require.EqualValues(t, 8, f.int, "IR version")
		case 2:
			m.producer = string(f.bytes)
		case 3:
			m.version = string(f.bytes)
		case 6:
			m.doc = string(f.bytes)
		case 7:
			m.graph = decodeGraph(t, f.bytes)
		case 8:
			require.Equal(t, []fieldOf{{number: 2, int: 18}}, fields(t, f.bytes), "the standard operators, version 18")
		case 14:
			e := fields(t, f.bytes)
			m.metadata[string(e[0].bytes)] = string(e[1].bytes)
		default:
			t.Fatalf("field %d of a model", f.number)
		}
	}
	return m
}

func decodeGraph(t *testing.T, b []byte) (g graphProto) {
	for _, f := range fields(t, b) {
		switch f.number {
		case 1:
			g.nodes = append(g.nodes, decodeNode(t, f.bytes))
		case 2:
			g.name = string(f.bytes)
		case 5:
			g.initializers = append(g.initializers, decodeTensor(t, f.bytes))
		case 11:
			g.inputs = append(g.inputs, decodeInfo(t, f.bytes))
		case 12:
			g.outputs = append(g.outputs, decodeInfo(t, f.bytes))
		default:
			t.Fatalf("field %d of a graph", f.number)
		}
	}
	return g
}

func decodeNode(t *testing.T, b []byte) nodeProto {
	n := nodeProto{attributes: map[string]attribute{}}
	for _, f := range fields(t, b) {
		switch f.number {
		case 1:
			n.inputs = append(n.inputs, string(f.bytes))
		case 2:
			n.output = string(f.bytes)
		case 3:
			n.name = string(f.bytes)
		case 4:
			n.op = string(f.bytes)
		case 5:
			name, a := decodeAttribute(t, f.bytes)
			n.attributes[name] = a
		default:
			t.Fatalf("field %d of a node", f.number)
		}
	}
	return n
}

func decodeAttribute(t *testing.T, b []byte) (name string, a attribute) {
	all := fields(t, b)
	require.Len(t, all, 3, "a name, a value and its kind")
	name = string(all[0].bytes)
	f := all[1]
	switch f.number {
	case 2:
		a.float = math.Float32frombits(uint32(f.int))
	case 3:
		a.int = int64(f.int)
	case 4:
		a.text = string(f.bytes)
	case 5:
		a.tensor = decodeTensor(t, f.bytes)
	}
	kind := map[protowire.Number]uint64{2: 1, 3: 2, 4: 3, 5: 4}[f.number]
	require.Equal(t, fieldOf{number: 20, int: kind}, all[2])
	return name, a
}

func decodeTensor(t *testing.T, b []byte) (x tensorProto) {
	element := uint64(0)
	for _, f := range fields(t, b) {
		switch f.number {
		case 1:
			x.dims = append(x.dims, int(f.int))
		case 2:
			element = f.int
		case 8:
			x.name = string(f.bytes)
		case 9:
			for raw := f.bytes; len(raw) > 0; {
				if element == int64s {
					x.data, raw = append(x.data, float64(int64(binary.LittleEndian.Uint64(raw)))), raw[8:]
				} else {
					require.EqualValues(t, float32s, element)
					x.data, raw = append(x.data, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw)))), raw[4:]
				}
			}
		default:
			t.Fatalf("field %d of a tensor", f.number)
		}
	}
	require.Len(t, x.data, product(x.dims), x.name)
	return x
}

func decodeInfo(t *testing.T, b []byte) (v valueInfo) {
	for _, f := range fields(t, b) {
		switch f.number {
		case 1:
			v.name = string(f.bytes)
		case 2:
			for _, f := range fields(t, fields(t, f.bytes)[0].bytes) {
				if f.number == 1 {
					v.element = f.int
					continue
				}
				for _, f := range fields(t, f.bytes) {
					if d := fields(t, f.bytes)[0]; d.number == 1 {
						v.dims = append(v.dims, int(d.int))
					} else {
						v.dims = append(v.dims, string(d.bytes))
					}
				}
			}
		case 3:
			v.doc = string(f.bytes)
		default:
			t.Fatalf("field %d of a value", f.number)
		}
	}
	return v
}
