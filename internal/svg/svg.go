// Package svg holds what all drawings share: the outer svg element, colours for light and dark pages, and escaping of
// text.
package svg

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// Ink is the colour of the text around a drawing.
const Ink = "currentColor"

// Colour holds two CSS colours, one for light pages and one for dark pages.
type Colour struct{ Light, Dark string }

// Palette holds Okabe and Ito's blue, vermilion, bluish green, reddish purple, orange, sky blue and yellow, which the
// colour-blind can tell apart. Light has a contrast of 3:1 or more on white, Dark on #121212. [Ink] stands for Okabe
// and Ito's black.
var Palette = []Colour{
	{"#0072B2", "#4AA3DF"},
	{"#D55E00", "#E8742A"},
	{"#009E73", "#1DB88C"},
	{"#B9608F", "#CC79A7"},
	{"#A87400", "#E69F00"},
	{"#2F8FBF", "#56B4E9"},
	{"#857C00", "#F0E442"},
}

func light(colour int) string {
	if colour == len(Palette) {
		return Ink
	}
	return Palette[colour].Light
}

// Fill returns the attributes that fill a shape with a colour of [Palette], or with [Ink] if colour is len(Palette).
func Fill(colour int) string { return fmt.Sprintf(`class="fill%d" fill="%s"`, colour, light(colour)) }

// Stroke returns the attributes that draw a line in the colour that [Fill] would use.
func Stroke(colour int, width float64) string {
	return fmt.Sprintf(`class="line%d" stroke="%s" stroke-width="%s" fill="none"`, colour, light(colour), Px(width))
}

// Px returns a length, rounded to a hundredth of a pixel.
func Px(v float64) string {
	return strconv.FormatFloat(math.Round(100*v)/100+0, 'f', -1, 64) // adding 0 turns -0 into 0
}

// Sheet is a drawing's size, with a title and description for screen readers.
type Sheet struct {
	ID, Title, Description string
	Width, Height          float64 // in CSS pixels
}

// SVG returns a drawing of shapes, which are SVG elements. In a page, the colours follow the page. In a standalone
// file, the colours follow the reader's choice of light or dark.
func (s Sheet) SVG(shapes string) []byte {
	var b strings.Builder
	id, title := ElementID(s.ID), Plain(s.Title)
	if title == "" {
		title = "Chart"
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" id="%s" role="img" aria-labelledby="%[1]s-title %[1]s-desc" `,
		id)
	fmt.Fprintf(&b, `width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" style="max-width:100%%;height:auto" `, Px(s.Width),
		Px(s.Height))
	fmt.Fprintf(&b, "fill=\"%s\" font-size=\"12\" font-family=\"%s\">\n", Ink, FontFamily)
	fmt.Fprintf(&b, "<title id=\"%s-title\">%s</title>\n", id, Escape(title))
	fmt.Fprintf(&b, "<desc id=\"%s-desc\">%s</desc>\n", id, Escape(s.Description))
	// A standalone drawing has no surrounding text to take its colour from.
	fmt.Fprintf(&b, "<style>\n#%s:root{color:#1a1a1a;color-scheme:light dark}\n", id)
	fmt.Fprintf(&b, "@media (prefers-color-scheme:dark){\n#%s:root{color:#e6e6e6;background:#121212}\n", id)
	for i, colour := range Palette {
		if strings.Contains(shapes, fmt.Sprintf(`="line%d"`, i)) || strings.Contains(shapes, fmt.Sprintf(`="fill%d"`, i)) {
			fmt.Fprintf(&b, "#%s .line%d{stroke:%s}#%[1]s .fill%[2]d{fill:%[3]s}\n", id, i, colour.Dark)
		}
	}
	fmt.Fprintf(&b, "}\n@media print{#%s:root{color:#1a1a1a;background:none}}\n</style>\n", id)
	return []byte(b.String() + shapes + "</svg>\n")
}

// FontFamily lists the fonts for all texts in drawings and pages. None needs a download.
const FontFamily = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Liberation Sans',sans-serif"

// Escape returns s escaped for text or attributes in HTML and XML. Characters that XML cannot hold become U+FFFD.
func Escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}

// Plain returns s as one line that is safe in text and on terminals. White space and control characters become single
// spaces. Invalid UTF-8 and characters that XML cannot hold become U+FFFD. Bidirectional controls are removed.
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

// Name returns a node's name, made safe by [Plain], or else the node's number.
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
