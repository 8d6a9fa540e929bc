package main

import (
	"bytes"
	"io"
	"os"
	"unicode/utf8"

	"golang.org/x/term"
)

// pipeColumns is how wide lines may be where no terminal says so.
const pipeColumns = 100

// columns returns how many characters a line of w may have: the terminal's width, or pipeColumns.
func columns(w io.Writer) int {
	if f, is := w.(*os.File); is && term.IsTerminal(int(f.Fd())) {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width >= 20 {
			return width
		}
	}
	return pipeColumns
}

// narrow returns text with lines of at most width characters; an ellipsis ends those that were cut.
func narrow(text []byte, width int) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		body := bytes.TrimSuffix(line, []byte("\n"))
		if utf8.RuneCount(body) > width {
			runes := []rune(string(body))
			line = []byte(string(runes[:width-1]) + "…\n")
		}
		out = append(out, line...)
	}
	return out
}
