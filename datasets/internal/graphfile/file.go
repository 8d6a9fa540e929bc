package graphfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"nodemask/internal/memory"
	"nodemask/internal/wholefile"
)

// MaxDepth limits nesting in a file.
const MaxDepth = 64

// File is a regular file or bytes in memory.
type File struct {
	io.Reader
	io.ReaderAt
	Name string
	Size int64 // bytes
	memory.Budget

	close func() error
}

// Open opens a file. Folders, pipes and devices are errors; Open does not wait for a pipe.
func Open(path string) (*File, error) {
	f, err := wholefile.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &File{Reader: f, ReaderAt: f, Name: path, Size: info.Size(), Budget: memory.NewBudget(info.Size()),
		close: f.Close}, nil
}

// Bytes returns a file with this content.
func Bytes(name string, content []byte) *File {
	r := bytes.NewReader(content)
	return &File{Reader: r, ReaderAt: r, Name: name, Size: r.Size(), Budget: memory.NewBudget(r.Size()),
		close: func() error { return nil }}
}

// Close closes the file.
func (f *File) Close() error { return f.close() }

// TokenReader reads R for a decoder that holds whole tokens in memory. It fails if a token has more than Most bytes.
// Unless [TokenReader.Next] is called, all of R is one token.
type TokenReader struct {
	Ctx  context.Context
	R    io.Reader
	Most int
	What string // name of a token in errors, such as "line"

	read   int // bytes read of the current token
	tokens int
	depth  int
}

// Next tells t that a new token follows, and reads nothing. It returns Ctx's error some time after Ctx ends.
func (t *TokenReader) Next() error {
	t.read = 0
	if t.tokens++; t.tokens%4096 == 0 {
		return t.Ctx.Err()
	}
	return nil
}

// Nest changes the nesting depth by delta, which may be negative. Beyond [MaxDepth] it returns an error.
func (t *TokenReader) Nest(delta int) error {
	if t.depth += delta; t.depth > MaxDepth {
		return fmt.Errorf("nested %d deep: expected at most %d", t.depth, MaxDepth)
	}
	return nil
}

// Read reads from R.
func (t *TokenReader) Read(p []byte) (int, error) {
	n, err := t.R.Read(p)
	if t.read += n; t.read > t.Most {
		return 0, fmt.Errorf("a %s of more than %d MiB: expected less", t.What, t.Most>>20)
	}
	return n, err
}
