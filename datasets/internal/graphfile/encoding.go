package graphfile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// Text returns r, decoded to UTF-8 if r is UTF-16. UTF-16 is recognised by a byte order mark, or by a zero byte in the
// first character.
func Text(r io.Reader) io.Reader {
	in := bufio.NewReaderSize(r, 1<<16)
	begin, _ := in.Peek(2)
	order := unicode.LittleEndian
	switch {
	case bytes.Equal(begin, []byte{0xfe, 0xff}), len(begin) == 2 && begin[0] == 0 && begin[1] != 0:
		order = unicode.BigEndian
	case bytes.Equal(begin, []byte{0xff, 0xfe}), len(begin) == 2 && begin[0] != 0 && begin[1] == 0:
	default:
		return in
	}
	return unicode.UTF16(order, unicode.UseBOM).NewDecoder().Reader(in)
}

// Charset decodes r to UTF-8 for package encoding/xml. The parameter label names the encoding. UTF-16 is returned
// unchanged, because [Text] has decoded it.
func Charset(label string, r io.Reader) (io.Reader, error) {
	plain := func(name string) string {
		return strings.Map(func(c rune) rune {
			if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
				return c
			}
			return -1
		}, strings.ToLower(name))
	}
	name := plain(label)
	switch name {
	case "usascii", "ascii", "utf8", "utf16", "utf16le", "utf16be":
		return r, nil
	case "latin1":
		name = "iso88591"
	}
	name = strings.Replace(name, "cp125", "windows125", 1)
	for _, e := range charmap.All {
		if m, ok := e.(*charmap.Charmap); ok && plain(m.String()) == name {
			return m.NewDecoder().Reader(r), nil
		}
	}
	return nil, fmt.Errorf("the encoding %.40q: expected UTF-8, UTF-16, ISO-8859 or Windows-125x: save the file as UTF-8", label)
}
