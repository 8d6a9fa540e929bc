package safetensors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// headerParser reads a header token by token: decoding whole values would accept duplicate names and ignore case. It
// stops at the first fault, to limit memory to a few times the header's size.
type headerParser struct {
	*File
	tokens *json.Decoder
	names  map[string]bool
}

func (f *File) parseHeader(header []byte) error {
	p := &headerParser{File: f, tokens: json.NewDecoder(bytes.NewReader(header)), names: map[string]bool{}}
	p.tokens.UseNumber()
	if !bytes.HasPrefix(header, []byte("{")) {
		return f.errorf(lengthSize,
			"the header begins with %.20q: expected \"{\". This is not a nodemask %s, or it is damaged: name another file, or "+
				"%s",
			header[:min(len(header), 20)], f.kind.Name, f.kind.Remedy)
	}
	if !utf8.Valid(header) {
		return f.damaged(lengthSize, "the header is not UTF-8")
	}
	if err := p.object(p.entry); err != nil {
		return err
	}
	if rest := header[p.tokens.InputOffset():]; len(bytes.Trim(rest, " ")) > 0 {
		return p.wrong("%.40q follows after the header's last }: expected spaces", rest)
	}
	return nil
}

func (p *headerParser) entry(name string) error {
	switch {
	case p.names[name]:
		return p.wrong("%.60q is there twice", name)
	case name == "":
		return p.wrong("a tensor has no name")
	case len(p.tensors) == maxTensors && name != metadataKey:
		return p.wrong("there are more than %d tensors", maxTensors)
	}
	p.names[name] = true
	if name == metadataKey {
		return p.object(func(key string) error {
			if _, ok := p.metadata[key]; ok || len(p.metadata) == maxMetadata {
				return p.wrong("key %.60q of the metadata: expected at most %d keys, each once", key, maxMetadata)
			}
			text, err := next[string](p, "a text")
			p.metadata[key] = text
			return err
		})
	}
	t := tensor{name: name}
	var offsets []int64
	read := map[string]bool{}
	if err := p.object(func(key string) (err error) {
		if read[key] {
			return p.wrong("tensor %.60q has %q twice", name, key)
		}
		read[key] = true
		switch key {
		case "dtype":
			t.dtype, err = next[string](p, "a type")
		case "shape":
			t.shape, err = numbers[int](p, maxRank)
		case "data_offsets":
			offsets, err = numbers[int64](p, 2)
		default:
			return p.wrong("tensor %.60q has %.40q: expected dtype, shape and data_offsets", name, key)
		}
		return err
	}); err != nil {
		return err
	}
	if len(read) != 3 || len(offsets) != 2 {
		return p.wrong("tensor %.60q: expected dtype, shape and two data_offsets", name)
	}
	t.begin, t.end = offsets[0], offsets[1]
	p.tensors = append(p.tensors, t)
	return p.size(t)
}

func (p *headerParser) size(t tensor) error {
	width := widths[t.dtype]
	if width == 0 {
		return p.errorf(lengthSize+p.tokens.InputOffset(), "tensor %.60q is of type %.20q: expected F32, I32, I64 or U8: "+
			"save it as F32, as PyTorch's .float() does, or %s", t.name, t.dtype, p.kind.Remedy)
	}
	if t.begin > t.end || t.end > int64(len(p.data)) {
		return p.wrong("tensor %.60q has bytes %d to %d of the data: expected 0 to %d, which is all there is",
			t.name, t.begin, t.end, len(p.data))
	}
	need := width
	for _, size := range t.shape {
		if size > 0 && need > math.MaxInt64/int64(size) {
			return p.wrong("tensor %.60q has the shape %v, of more numbers than can be counted", t.name, t.shape)
		}
		need *= int64(size)
	}
	if need != t.end-t.begin {
		return p.wrong("tensor %.60q has %d bytes: expected %d for %s of shape %v",
			t.name, t.end-t.begin, need, t.dtype, t.shape)
	}
	return nil
}

// value is called after each name.
func (p *headerParser) object(value func(name string) error) error {
	if err := p.delimiter('{'); err != nil {
		return err
	}
	for p.tokens.More() {
		name, err := next[string](p, "a name")
		if err != nil {
			return err
		}
		if err := value(name); err != nil {
			return err
		}
	}
	return p.delimiter('}')
}

// numbers reads a list of up to most non-negative integers.
func numbers[T int | int64](p *headerParser, most int) ([]T, error) {
	if err := p.delimiter('['); err != nil {
		return nil, err
	}
	list := []T{}
	for p.tokens.More() {
		literal, err := next[json.Number](p, "a number")
		if err != nil {
			return nil, err
		}
		n, err := strconv.ParseInt(literal.String(), 10, 64)
		if err != nil || n < 0 || int64(T(n)) != n || len(list) == most {
			return nil, p.wrong("%.40q in a list: expected at most %d whole numbers from 0 up", literal, most)
		}
		list = append(list, T(n))
	}
	return list, p.delimiter(']')
}

func (p *headerParser) delimiter(want json.Delim) error {
	found, err := next[json.Delim](p, fmt.Sprintf("%q", want.String()))
	if err == nil && found != want {
		return p.wrong("found %q: expected %q", found.String(), want.String())
	}
	return err
}

func next[T any](p *headerParser, what string) (T, error) {
	var none T
	token, err := p.tokens.Token()
	if err != nil {
		return none, p.wrong("the header cannot be read: %.120w", err)
	}
	found, ok := token.(T)
	if !ok {
		return none, p.wrong("found %.40q: expected %s", fmt.Sprint(token), what)
	}
	return found, nil
}

func (p *headerParser) wrong(format string, args ...any) error {
	return p.damaged(lengthSize+p.tokens.InputOffset(), format, args...)
}
