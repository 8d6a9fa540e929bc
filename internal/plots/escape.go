package plots

import (
	"encoding/xml"
	"strings"
	"unicode"
)

// Escape returns s for the text or an attribute of HTML and XML. What XML cannot hold becomes U+FFFD.
func Escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder never fails
	return b.String()
}

// escapes returns arguments for [strings.NewReplacer] that put before in front of each of chars.
func escapes(before, chars string) []string {
	var pairs []string
	for _, c := range chars {
		pairs = append(pairs, string(c), before+string(c))
	}
	return pairs
}

// Plain returns s, such as a name from a file, in one line that changes nothing around it and that a terminal does not
// obey: each run of white space and control characters becomes one space, what is not UTF-8 or not for XML becomes
// U+FFFD, and controls of the direction of writing are left out.
func Plain(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r < ' ', r >= 0x7f && r < 0xa0, r == '\u2028', r == '\u2029':
			return ' '
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		case r == 0xfffe, r == 0xffff:
			return '\ufffd'
		default:
			return r
		}
	}, strings.ToValidUTF8(s, "\ufffd"))
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' }), " ")
}

// sentences returns the parts that are not empty, in one line.
func sentences(parts ...string) string {
	var all []string
	for _, part := range parts {
		if part = Plain(part); part != "" {
			all = append(all, part)
		}
	}
	return strings.Join(all, " ")
}

// ElementID returns s as the id of an element that HTML, XML and CSS all take: all but letters, digits, - and _ become
// -, and it begins with a letter.
func ElementID(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, s)
	if s == "" || s[0] >= '0' && s[0] <= '9' || s[0] == '-' {
		return "x" + s
	}
	return s
}
