package floors

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDocsNameTestsThatThereAre: every `go test PACKAGE -run NAME` or `-bench NAME` in the docs finds a test.
func TestDocsNameTestsThatThereAre(t *testing.T) {
	root := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	more, err := filepath.Glob(filepath.Join(root, "*.md"))
	require.NoError(t, err)
	command := regexp.MustCompile("(?:cd (\\S+) && )?go test ([^`]*?)(\\./[\\w/]+)([^`\n]*)")
	named := regexp.MustCompile(`-(run|bench) (?:'([^']*)'|"([^"]*)"|([^\s\x60]+))`)
	wrapped := regexp.MustCompile(`([^\n])\n *([^\s|])`) // a command in a sentence may be on two lines
	kinds := map[string]string{"run": "Test|Example|Fuzz", "bench": "Benchmark"}
	found := 0
	for _, page := range append(pages, more...) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, c := range command.FindAllStringSubmatch(wrapped.ReplaceAllString(string(text), "$1 $2"), -1) {
			tests, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(c[1]), filepath.FromSlash(c[3]), "*_test.go"))
			require.NoError(t, err)
			var declared []string
			for _, file := range tests {
				source, err := os.ReadFile(file)
				require.NoError(t, err)
				declared = append(declared, string(source))
			}
			for _, n := range named.FindAllStringSubmatch(c[2]+" "+c[4], -1) {
				pattern, _, _ := strings.Cut(n[2]+n[3]+n[4], "/")
				if pattern == "^$" {
					continue
				}
				found++
				is := regexp.MustCompile(pattern)
				has := false
				for _, name := range regexp.MustCompile(`(?m)^func ((?:`+kinds[n[1]]+`)\w*)\(`).FindAllStringSubmatch(
					strings.Join(declared, "\n"), -1) {
					has = has || is.MatchString(name[1])
				}
				assert.True(t, has, "%s: %q: no test of that folder has a name like %q", page, c[0], pattern)
			}
		}
	}
	require.Greater(t, found, 15)
}
