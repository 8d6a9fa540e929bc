package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"unicode/utf8"
)

// headerParser reads a header entry by entry and stops at the first fault, to limit memory to a few times the header's
// size.
type headerParser struct {
	*File
	tokens *json.Decoder
}

func (f *File) parseHeader(header []byte) error {
	p := &headerParser{File: f, tokens: json.NewDecoder(bytes.NewReader(header))}
	p.tokens.DisallowUnknownFields()
	if !bytes.HasPrefix(header, []byte("{")) {
		return f.errorf(lengthSize,
			"the header begins with %.20q: expected \"{\". This is not a nodemask %s, or it is damaged: name another file, or "+
				"%s",
			header[:min(len(header), 20)], f.kind.Name, f.kind.Remedy)
	}
	if !utf8.Valid(header) {
		return f.damaged(lengthSize, "the header is not UTF-8")
	}
	names := map[string]bool{}
	_, err := p.tokens.Token()
	for err == nil && p.tokens.More() {
		var token json.Token
		if token, err = p.tokens.Token(); err != nil {
			break
		}
		name, _ := token.(string)
		if names[name] {
			return p.wrong("%.60q is there twice", name)
		}
		names[name] = true
		if err := p.entry(name); err != nil {
			return err
		}
	}
	if err == nil {
		_, err = p.tokens.Token()
	}
	if err != nil {
		return p.wrong("the header cannot be read: %.120w", err)
	}
	if rest := header[p.tokens.InputOffset():]; len(bytes.Trim(rest, " ")) > 0 {
		return p.wrong("%.40q follows after the header's last }: expected spaces", rest)
	}
	return nil
}

func (p *headerParser) entry(name string) error {
	if name == metadataKey {
		if err := p.tokens.Decode(&p.metadata); err != nil || p.metadata == nil || len(p.metadata) > maxMetadata {
			return p.wrong("the metadata cannot be read (%.120v): expected at most %d texts", err, maxMetadata)
		}
		return nil
	}
	var t struct {
		Type    string         `json:"dtype"`
		Shape   numbers[int]   `json:"shape"`
		Offsets numbers[int64] `json:"data_offsets"`
	}
	if len(p.tensors) == maxTensors {
		return p.wrong("there are more than %d tensors", maxTensors)
	}
	err := p.tokens.Decode(&t)
	if err != nil || name == "" || t.Shape == nil || len(t.Shape) > maxRank || len(t.Offsets) != 2 ||
		min(slices.Min(append(t.Shape, 0)), int(min(t.Offsets[0], 0))) < 0 {
		return p.wrong("tensor %.60q cannot be read (%.120v): expected a name, dtype, shape of at most %d sizes, and two "+
			"data_offsets", name, err, maxRank)
	}
	p.tensors = append(p.tensors,
		tensor{name: name, dtype: t.Type, shape: t.Shape, begin: t.Offsets[0], end: t.Offsets[1]})
	return p.size(p.tensors[len(p.tensors)-1])
}

// numbers is a short list: a long one would take many times the memory of its text.
type numbers[T int | int64] []T

// UnmarshalJSON reads a list of at most 256 bytes.
func (n *numbers[T]) UnmarshalJSON(text []byte) error {
	if len(text) > 256 {
		return errors.New("a list of more than 256 bytes")
	}
	return json.Unmarshal(text, (*[]T)(n))
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

func (p *headerParser) wrong(format string, args ...any) error {
	return p.damaged(lengthSize+p.tokens.InputOffset(), format, args...)
}
