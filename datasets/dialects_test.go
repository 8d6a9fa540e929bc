package datasets

import (
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wide returns UTF-16, little-endian with a byte order mark.
func wide(text string) string {
	b := []byte{0xff, 0xfe}
	for _, c := range utf16.Encode([]rune(text)) {
		b = append(b, byte(c), byte(c>>8))
	}
	return string(b)
}

func TestEncodingsOfGraphMLAndJSONAreRead(t *testing.T) {
	const body = ` standalone="no"?><graphml><key id="y" for="node" attr.type="double"/><graph edgedefault="undirected">` +
		`<node id="a"><data key="y">1</data></node><node id="b"><data key="y">NaN</data></node></graph></graphml>`
	for name, content := range map[string]string{
		"UTF8":         `<?xml version="1.0" encoding="UTF8"` + body,
		"ISO-8859-1":   `<?xml version="1.0" encoding="ISO-8859-1"` + body + "<!-- \xe9 -->",
		"Windows-1252": `<?xml version="1.0" encoding="Windows-1252"` + body,
	} {
		g := readText(t, "a.graphml", content)
		assert.Equal(t, []int32{0, Unlabelled}, g.Labels, name)
	}
	_, err := ReadMemory(t.Context(), "", map[string][]byte{"a.graphml": []byte(`<?xml version="1.0" encoding="EBCDIC"` +
		body)})
	require.ErrorContains(t, err, `the encoding "EBCDIC": expected UTF-8, UTF-16, ISO-8859 or Windows-125x`)
	g := readText(t, "a.json", `{"nodes":[{"id":"NaN \" NaN","y":NaN},{"id":2,"y":3}],"links":[]}`)
	assert.Equal(t, []string{`NaN " NaN`, "2"}, g.NodeIDs)
	assert.Equal(t, []int32{Unlabelled, 0}, g.Labels)
}
