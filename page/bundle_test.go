package page

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheScriptsWereBuiltFromTheirSources(t *testing.T) {
	hash := sha256.New()
	for _, folder := range []string{"src", "../aggtree/explorer/src"} {
		files, err := filepath.Glob(filepath.Join(folder, "*"))
		require.NoError(t, err)
		slices.Sort(files)
		for _, file := range files {
			if folder == "src" && filepath.Base(file) == "page.css" {
				continue // embedded by Go itself
			}
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			fmt.Fprintf(hash, "%s\x00%s\x00", filepath.Base(file), data)
		}
	}
	for name, bundle := range map[string]string{"playground.js": script, "front.js": Front} {
		assert.Contains(t, bundle, fmt.Sprintf("SHA-256 %x", hash.Sum(nil)),
			"%s: run 'npm ci' in aggtree/explorer and 'node build.mjs' in page", name)
		assert.NotRegexp(t, `(?i)</script|<!--`, bundle, "the bundle would end its own element")
		assert.NotContains(t, bundle, "eval(")
		for _, address := range regexp.MustCompile("https?://[^\"'`\\s]*").FindAllString(bundle, -1) {
			assert.Regexp(t, `^http://www\.w3\.org/`, address, "names of XML, which are never fetched")
		}
		licence, err := os.ReadFile("../aggtree/explorer/LICENSE.d3")
		require.NoError(t, err)
		for line := range strings.Lines(string(licence)) {
			assert.Contains(t, bundle, strings.TrimSpace(line))
		}
	}
}
