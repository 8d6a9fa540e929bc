// Package labels makes the text in drawings of graphs and trees safe to write anywhere: the names of nodes, on one
// line, and the ids of elements.
package labels

import (
	"fmt"
	"strings"
	"unicode"
)

// Of returns the name of a node of the graph, or its number if it has no name.
func Of(node int32, names []string) string {
	if int(node) < len(names) && names[node] != "" {
		return names[node]
	}
	return fmt.Sprint(node)
}

// Printable returns a text on one line. A character that does not print, such as a line break or one that a terminal
// would obey, is written as \u and its number.
func Printable(s string) string {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// ID turns a text, which must not be empty, into an element's id that can also stand in a style sheet: it begins with a
// letter, and all but letters, digits, - and _ become _.
func ID(text string) string {
	id := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, text)
	if c := id[0] | 0x20; c < 'a' || c > 'z' {
		id = "t" + id
	}
	return id
}
