package pickle

import (
	"strconv"
	"unicode/utf8"
)

// Protocol 0 writes numbers and strings as text. This file reads them.

// textInt reads INT's argument: an integer, or a boolean as "00" or "01".
func (p *unpickler) textInt(s []byte) any {
	switch string(s) {
	case "00":
		return false
	case "01":
		return true
	}
	return p.parseInt(s)
}

func (p *unpickler) parseInt(s []byte) int64 {
	if len(s) > 32 {
		p.fail("a number of %d characters: expected at most 32", len(s))
	}
	n, err := strconv.ParseInt(string(s), 10, 64)
	if err != nil {
		p.fail("%q is not a 64-bit integer", s)
	}
	return n
}

// long reads a little-endian two's-complement integer of up to 8 bytes.
func (p *unpickler) long(b []byte) int64 {
	if len(b) > 8 {
		p.fail("an integer of %d bytes: expected at most 8", len(b))
	}
	if len(b) == 0 {
		return 0
	}
	var n uint64
	for i, x := range b {
		n |= uint64(x) << (8 * i)
	}
	free := 64 - 8*len(b)
	return int64(n<<free) >> free
}

// quoted reads STRING's argument, Python 2's repr of a byte string.
func (p *unpickler) quoted(s []byte) String {
	if len(s) < 2 || s[0] != s[len(s)-1] || s[0] != '\'' && s[0] != '"' {
		p.fail("a string is not in quotes")
	}
	s = s[1 : len(s)-1]
	p.spend(len(s))
	out := make(String, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		i++
		if i == len(s) {
			p.fail("a string ends in the middle of an escape")
		}
		switch s[i] {
		case '\\', '\'', '"':
			out = append(out, s[i])
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'x':
			out = append(out, byte(p.hex(s[i+1:], 2)))
			i += 2
		default:
			p.fail("escape \\%c in a string: expected one that Python's repr writes", s[i])
		}
	}
	return out
}

// rawUnicode reads UNICODE's argument, Python's raw-unicode-escape: Latin-1 bytes, \u with four digits and \U with eight. The result is
// UTF-8, as for a BINUNICODE.
func (p *unpickler) rawUnicode(s []byte) String {
	p.spend(2 * len(s)) // a Latin-1 byte may take two in UTF-8
	out := make(String, 0, len(s))
	for i := 0; i < len(s); i++ {
		r := rune(s[i])
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case 'u':
				r = p.hex(s[i+2:], 4)
				i += 5
			case 'U':
				r = p.hex(s[i+2:], 8)
				i += 9
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

func (p *unpickler) hex(s []byte, digits int) rune {
	if len(s) < digits {
		p.fail("a string ends in the middle of an escape")
	}
	n, err := strconv.ParseUint(string(s[:digits]), 16, 32)
	if err != nil {
		p.fail("escape %q in a string: expected %d hex digits", s[:digits], digits)
	}
	return rune(n)
}
