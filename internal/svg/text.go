package svg

import (
	"encoding/xml"
	"fmt"
	"strings"
	"unicode"
)

// FontFamily is the list of fonts for all texts in drawings and pages, without any that must be fetched.
const FontFamily = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Liberation Sans',sans-serif"

// Escape returns s escaped for text or attributes in HTML and XML. Characters that XML cannot hold become U+FFFD.
func Escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}

// Plain returns s, such as a name from a file, as one line that is safe in text and on terminals: white space and
// controls become single spaces, invalid UTF-8 and non-XML characters U+FFFD; bidirectional controls are removed.
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

// Name returns a node's [Plain] name; without one, its number.
func Name(node int32, names []string) string {
	if int(node) < len(names) {
		if name := Plain(names[node]); name != "" {
			return name
		}
	}
	return fmt.Sprint(node)
}

// ElementID returns s as an id valid in HTML, XML and CSS.
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
