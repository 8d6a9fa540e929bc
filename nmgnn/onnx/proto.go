package onnx

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The messages of ONNX's onnx.proto that a model needs, with the field numbers of that file in their encoders. Unset
// fields are left out, as protobuf has it. Fields are written in the order of their numbers, so equal models give
// equal bytes.

// Versions of the format and of its operators. Version 18 of the operators is the first whose ScatterElements reduces
// by max.
const (
	irVersion    = 8
	opsetVersion = 18
)

// elementType is a TensorProto.DataType.
type elementType uint64

const (
	float32s elementType = 1
	int64s   elementType = 7
)

// modelProto is a ModelProto with the standard operators alone.
type modelProto struct {
	producer, version, doc string
	metadata               []entry
	graph                  graphProto
}

// entry is a StringStringEntryProto.
type entry struct{ key, value string }

// graphProto is a GraphProto.
type graphProto struct {
	name            string
	nodes           []nodeProto
	initializers    []tensorProto
	inputs, outputs []valueInfo
}

// nodeProto is a NodeProto: one operator with one output.
type nodeProto struct {
	inputs       []string
	output, name string
	op           string
	attributes   []attribute
}

// attributeKind is an AttributeProto.AttributeType.
type attributeKind uint64

const (
	floatAttribute  attributeKind = 1
	intAttribute    attributeKind = 2
	stringAttribute attributeKind = 3
	tensorAttribute attributeKind = 4
)

// attribute is an AttributeProto. Kind says which of the values is set.
type attribute struct {
	name   string
	kind   attributeKind
	float  float32
	int    int64
	text   string
	tensor tensorProto
}

// integer returns an attribute of a whole number.
func integer(name string, x int64) attribute {
	return attribute{name: name, kind: intAttribute, int: x}
}

// tensorProto is a TensorProto: of floats, or of ints if that is set. No dimensions make a scalar.
type tensorProto struct {
	dims   []int64
	name   string
	floats []float32
	ints   []int64
}

// valueInfo is a ValueInfoProto of a tensor.
type valueInfo struct {
	name, doc string
	element   elementType
	dims      []dimension
}

// dimension is a TensorShapeProto.Dimension: a number, or the name of one that differs between graphs.
type dimension struct {
	value int64
	param string
}

func (m modelProto) encode() []byte {
	var b []byte
	b = appendInt(b, 1, irVersion)
	b = appendText(b, 2, m.producer)
	b = appendText(b, 3, m.version)
	b = appendText(b, 6, m.doc)
	b = appendMessage(b, 7, m.graph.encode())
	b = appendMessage(b, 8, appendInt(nil, 2, opsetVersion))
	for _, e := range m.metadata {
		b = appendMessage(b, 14, appendText(appendText(nil, 1, e.key), 2, e.value))
	}
	return b
}

func (g graphProto) encode() []byte {
	var b []byte
	for _, n := range g.nodes {
		b = appendMessage(b, 1, n.encode())
	}
	b = appendText(b, 2, g.name)
	for _, t := range g.initializers {
		b = appendMessage(b, 5, t.encode())
	}
	for _, v := range g.inputs {
		b = appendMessage(b, 11, v.encode())
	}
	for _, v := range g.outputs {
		b = appendMessage(b, 12, v.encode())
	}
	return b
}

func (n nodeProto) encode() []byte {
	var b []byte
	for _, input := range n.inputs {
		b = appendMessage(b, 1, []byte(input))
	}
	b = appendText(b, 2, n.output)
	b = appendText(b, 3, n.name)
	b = appendText(b, 4, n.op)
	for _, a := range n.attributes {
		b = appendMessage(b, 5, a.encode())
	}
	return b
}

func (a attribute) encode() []byte {
	b := appendText(nil, 1, a.name)
	switch a.kind {
	case floatAttribute:
		b = protowire.AppendTag(b, 2, protowire.Fixed32Type)
		b = protowire.AppendFixed32(b, math.Float32bits(a.float))
	case intAttribute:
		b = appendInt(b, 3, uint64(a.int))
	case stringAttribute:
		b = appendMessage(b, 4, []byte(a.text))
	case tensorAttribute:
		b = appendMessage(b, 5, a.tensor.encode())
	}
	return appendInt(b, 20, uint64(a.kind))
}

func (t tensorProto) encode() []byte {
	element, numbers := float32s, len(t.floats)*4
	if t.ints != nil {
		element, numbers = int64s, len(t.ints)*8
	}
	b := make([]byte, 0, numbers+len(t.name)+64)
	for _, d := range t.dims {
		b = appendInt(b, 1, uint64(d))
	}
	b = appendInt(b, 2, uint64(element))
	b = appendText(b, 8, t.name)
	b = protowire.AppendTag(b, 9, protowire.BytesType) // raw_data: little-endian
	b = protowire.AppendVarint(b, uint64(numbers))
	for _, x := range t.floats {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	for _, x := range t.ints {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return b
}

func (v valueInfo) encode() []byte {
	var shape []byte
	for _, d := range v.dims {
		if d.param != "" {
			shape = appendMessage(shape, 1, appendText(nil, 2, d.param))
		} else {
			shape = appendMessage(shape, 1, appendInt(nil, 1, uint64(d.value)))
		}
	}
	tensor := appendMessage(appendInt(nil, 1, uint64(v.element)), 2, shape)
	return appendText(appendMessage(appendText(nil, 1, v.name), 2, appendMessage(nil, 1, tensor)), 3, v.doc)
}

func appendInt(b []byte, field protowire.Number, x uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), x)
}

func appendText(b []byte, field protowire.Number, text string) []byte {
	if text == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), text)
}

func appendMessage(b []byte, field protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), message)
}
