package floors

import (
	"os"
	"os/exec"
	"path"
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
	wrapped := regexp.MustCompile(`([^\n])\n *([^\s|])`) // commands in text may span two lines
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
	require.Greater(t, found, 3)
}

// TestDocsNameTestsWhereTheyAre: each test named in the docs exists, and in the named folder, as in "`TestThis`,
// `TestThat` (`nmgnn/cached`)".
func TestDocsNameTestsWhereTheyAre(t *testing.T) {
	root := filepath.Join("..", "..")
	out, err := exec.Command("git", "-C", root, "ls-files", "*_test.go").Output()
	if err != nil {
		t.Skipf("skipped: git does not list the files: %v", err)
	}
	folders := map[string][]string{} // by test
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, file := range strings.Fields(string(out)) {
		source, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		for _, test := range declared.FindAllStringSubmatch(string(source), -1) {
			folders[test[1]] = append(folders[test[1]], path.Dir(file))
		}
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	groups := regexp.MustCompile("((?:`Test\\w+`(?:,? |, and | and )?)+)(?:\\(|in )`([\\w/]+)`")
	named := regexp.MustCompile("`(Test\\w+)`")
	found := 0
	for _, page := range pages {
		content, err := os.ReadFile(page)
		require.NoError(t, err)
		text := strings.Join(strings.Fields(string(content)), " ")
		for _, test := range named.FindAllStringSubmatch(text, -1) {
			assert.NotEmpty(t, folders[test[1]], "%s: there is no %s", page, test[1])
			found++
		}
		for _, group := range groups.FindAllStringSubmatch(text, -1) {
			for _, test := range named.FindAllStringSubmatch(group[1], -1) {
				assert.Contains(t, folders[test[1]], group[2], "%s: %s is elsewhere", page, test[1])
			}
		}
	}
	require.Greater(t, found, 10)
}
