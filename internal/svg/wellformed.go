package svg

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// WellFormed returns a test's XML as text; it fails unless elements are closed and ids unique.
func WellFormed(t interface {
	Errorf(format string, args ...any)
}, svg string) string {
	d := xml.NewDecoder(strings.NewReader(svg))
	var words strings.Builder
	ids := map[string]bool{}
	token, err := d.Token()
	for ; err == nil; token, err = d.Token() {
		switch token := token.(type) {
		case xml.StartElement:
			for _, a := range token.Attr {
				if a.Name.Local == "id" && ids[a.Value] {
					t.Errorf("id %s occurs twice", a.Value)
				}
				ids[a.Value] = ids[a.Value] || a.Name.Local == "id"
			}
		case xml.CharData:
			words.Write(token)
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Errorf("not well-formed: %v", err)
	}
	return words.String()
}
