// Package svgtest reads drawings in tests.
package svgtest

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/stretchr/testify/require"
)

// WellFormed returns the text of a drawing or other XML, and requires closed elements and unique ids.
func WellFormed(t require.TestingT, svg string) string {
	d := xml.NewDecoder(strings.NewReader(svg))
	var words strings.Builder
	ids := map[string]bool{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return words.String()
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			for _, a := range token.Attr {
				if a.Name.Local == "id" {
					require.False(t, ids[a.Value], "id %s is there twice", a.Value)
					ids[a.Value] = true
				}
			}
		case xml.CharData:
			words.Write(token)
		}
	}
}
