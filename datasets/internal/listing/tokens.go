package listing

import (
	"fmt"
	"io"
)

// TokenReader reads R for a decoder that keeps each token whole, and ends with an error when one is of more than Most bytes.
type TokenReader struct {
	R    io.Reader
	Most int
	What string // the kinds of tokens: "tag or text"

	read int // since the last token
}

// Next says that a token begins.
func (t *TokenReader) Next() { t.read = 0 }

// Read reads from R.
func (t *TokenReader) Read(p []byte) (int, error) {
	n, err := t.R.Read(p)
	if t.read += n; t.read > t.Most {
		return 0, fmt.Errorf("a %s of more than %d MiB: expected less", t.What, t.Most>>20)
	}
	return n, err
}
