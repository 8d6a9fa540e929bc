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
	FailNow()
}, svg string) string {
	d := xml.NewDecoder(strings.NewReader(svg))
	var words strings.Builder
	ids := map[string]bool{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return words.String()
		}
		if err != nil {
			t.Errorf("not well-formed: %v", err)
			t.FailNow()
		}
		switch token := token.(type) {
		case xml.StartElement:
			for _, a := range token.Attr {
				if a.Name.Local == "id" {
					if ids[a.Value] {
						t.Errorf("id %s occurs twice", a.Value)
						t.FailNow()
					}
					ids[a.Value] = true
				}
			}
		case xml.CharData:
			words.Write(token)
		}
	}
}
