package graphfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"nodemask/internal/memory"
)

// MaxDepth is how deep the values or elements of a file may be nested in one another.
const MaxDepth = 64

// What a file's content may take in memory, whatever it claims: so much anyway, and so much for each of its bytes.
const (
	anyway  = 256 << 20
	perByte = 64
)

// step is how many bytes are taken between two looks at what the machine has left, and reserve what stays free for all
// else.
const (
	step    = 16 << 20
	reserve = 64 << 20
)

// File is a regular file, or one at hand as bytes.
type File struct {
	io.Reader
	io.ReaderAt
	Name string // for errors
	Size int64  // in bytes
	Budget

	close func() error
}

// Open opens a file. A folder, pipe or device is an error, and is not waited for.
func Open(path string) (*File, error) {
	if _, limited := memory.Addresses(); limited { // of which Go takes many at a time, and ends the program without
		if err := Fits(2 * reserve); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := Regular(os.Stat(path)); err != nil { // before it is opened: opening a pipe waits for whoever writes to it
		return nil, named(path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err := Regular(info, err); err != nil { // it may be another by now
		return nil, errors.Join(named(path, err), f.Close())
	}
	return &File{Reader: f, ReaderAt: f, Name: path, Size: info.Size(), Budget: NewBudget(info.Size()),
		close: f.Close}, nil
}

// Regular returns an error unless info, which comes with err, is of a regular file.
func Regular(info os.FileInfo, err error) error {
	switch {
	case err != nil:
		return err
	case info.Mode().IsRegular():
		return nil
	case info.IsDir():
		return errors.New("a folder: expected a file")
	}
	return errors.New("a pipe, socket or device: expected a regular file. Write what it gives into a file first")
}

// named puts a path before an error that does not name it.
func named(path string, err error) error {
	var known *os.PathError
	if err == nil || errors.As(err, &known) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// Bytes returns a file that is at hand.
func Bytes(name string, content []byte) *File {
	r := bytes.NewReader(content)
	return &File{Reader: r, ReaderAt: r, Name: name, Size: int64(len(content)), Budget: NewBudget(int64(len(content))),
		close: func() error { return nil }}
}

// Close closes the file.
func (f *File) Close() error { return f.close() }

// Budget counts the memory that a file's content takes.
type Budget struct{ size, taken, looked int64 }

// NewBudget returns the budget of a file of so many bytes.
func NewBudget(size int64) Budget { return Budget{size: size} }

// Take returns an error if so many bytes more, which the caller is about to allocate, are more than a file of this size
// may stand for, or more than this process may have.
func (b *Budget) Take(bytes int64) error {
	if most := anyway + perByte*b.size; bytes < 0 || bytes > most-b.taken {
		return fmt.Errorf("its content takes more than %s of memory, too much for a file of %s: expected one that is not "+
			"made to grow so", memory.Text(most), memory.Text(b.size))
	}
	b.taken += bytes
	if b.taken-b.looked < step {
		return nil
	}
	// A list that grows is there twice for a moment, and of what was counted the graph itself is still to come.
	need := b.taken/2 + 2*(b.taken-b.looked) + reserve
	b.looked = b.taken
	return Fits(need)
}

// Fits returns an error if so many bytes are more than this process may have.
func Fits(bytes int64) error {
	if left, known := memory.Get(); known && bytes > left.Bytes {
		return fmt.Errorf("this takes about %s of memory more, and %s has %s left: free some, or take a smaller graph",
			memory.Text(bytes), left.Of, memory.Text(left.Bytes))
	}
	return nil
}

// TokenReader reads R for a decoder that keeps each token whole, and ends with an error when one is of more than Most
// bytes: the whole of R if [TokenReader.Next] is never called.
type TokenReader struct {
	Ctx  context.Context
	R    io.Reader
	Most int
	What string // the kinds of tokens: "tag or text"

	read   int // since the last token
	tokens int
	depth  int
}

// Next says that a token begins. Once Ctx is done it returns the error of that.
func (t *TokenReader) Next() error {
	t.read = 0
	if t.tokens++; t.tokens%4096 == 0 {
		return t.Ctx.Err()
	}
	return nil
}

// Nest says that what comes is nested deeper by so much, and returns an error beyond [MaxDepth].
func (t *TokenReader) Nest(by int) error {
	if t.depth += by; t.depth > MaxDepth {
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
