package onnx

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Versions of ONNX's format and operators. Opset 18 is the first whose ScatterElements reduces by max.
const (
	irVersion    = 8
	opsetVersion = 18
)

// Values of TensorProto.DataType and AttributeProto.AttributeType.
const (
	float32s = 1
	int64s   = 7

	floatKind  = 1
	intKind    = 2
	stringKind = 3
	tensorKind = 4
)

// message is a message of ONNX's onnx.proto, encoded. Fields are in order and unset fields are omitted, so equal models
// give equal bytes.
type message []byte

func (m message) int(field protowire.Number, x uint64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), x)
}

func (m message) float(field protowire.Number, x float32) message {
	return protowire.AppendFixed32(protowire.AppendTag(m, field, protowire.Fixed32Type), math.Float32bits(x))
}

func (m message) text(field protowire.Number, text string) message {
	if text == "" {
		return m
	}
	return m.bytes(field, message(text))
}

func (m message) bytes(field protowire.Number, content message) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), content)
}

type node struct {
	inputs       []string
	output, name string
	op           string
	attributes   []message
}

func (n node) encode() (m message) {
	for _, input := range n.inputs {
		m = m.bytes(1, message(input))
	}
	m = m.text(2, n.output).text(3, n.name).text(4, n.op)
	for _, a := range n.attributes {
		m = m.bytes(5, a)
	}
	return m
}

func integer(name string, x int64) message {
	return message{}.text(1, name).int(3, uint64(x)).int(20, intKind)
}

func float(name string, x float32) message {
	return message{}.text(1, name).float(2, x).int(20, floatKind)
}

func text(name, x string) message {
	return message{}.text(1, name).bytes(4, message(x)).int(20, stringKind)
}

func tensor(name string, x message) message {
	return message{}.text(1, name).bytes(5, x).int(20, tensorKind)
}

func floats(name string, numbers []float32, dims ...int) message {
	m := tensorOf(name, float32s, 4*len(numbers), dims)
	for _, x := range numbers {
		m = binary.LittleEndian.AppendUint32(m, math.Float32bits(x))
	}
	return m
}

func ints(name string, numbers []int64, dims ...int) message {
	m := tensorOf(name, int64s, 8*len(numbers), dims)
	for _, x := range numbers {
		m = binary.LittleEndian.AppendUint64(m, uint64(x))
	}
	return m
}

// tensorOf returns the beginning of a TensorProto. The caller must append raw_data: the numbers, little-endian. size is
// the length of raw_data in bytes.
func tensorOf(name string, element uint64, size int, dims []int) message {
	m := make(message, 0, size+len(name)+64)
	for _, d := range dims {
		m = m.int(1, uint64(d))
	}
	m = protowire.AppendTag(m.int(2, element).text(8, name), 9, protowire.BytesType)
	return protowire.AppendVarint(m, uint64(size))
}

// A dimension that varies between graphs is given by a name.
func valueInfo(name, doc string, element uint64, dims ...any) message {
	var shape message
	for _, d := range dims {
		var dimension message
		switch d := d.(type) {
		case int:
			dimension = dimension.int(1, uint64(d))
		case string:
			dimension = dimension.text(2, d)
		}
		shape = shape.bytes(1, dimension)
	}
	of := message{}.int(1, element).bytes(2, shape)
	return message{}.text(1, name).bytes(2, message{}.bytes(1, of)).text(3, doc)
}
