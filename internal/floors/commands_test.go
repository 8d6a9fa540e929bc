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

// TestDocsNameTestsThatThereAre: each test named in the docs exists, and in the named folder, as in "`TestThis`,
// `TestThat` (`nmgnn/cached`)"; and -run and -bench of the docs find one.
func TestDocsNameTestsThatThereAre(t *testing.T) {
	root := filepath.Join("..", "..")
	out, err := exec.Command("git", "-C", root, "ls-files", "*_test.go").Output()
	if err != nil {
		t.Skipf("skipped: git does not list the files: %v", err)
	}
	folders := map[string][]string{} // by test
	all := ""
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Example|Fuzz|Benchmark)\w*)\(`)
	for _, file := range strings.Fields(string(out)) {
		source, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		for _, test := range declared.FindAllStringSubmatch(string(source), -1) {
			folders[test[1]] = append(folders[test[1]], path.Dir(file))
			all += test[1] + "\n"
		}
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	asked := regexp.MustCompile(`go test [^\x60]*?-(?:run|bench) '?(\w+)`)
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
		for _, test := range asked.FindAllStringSubmatch(text, -1) {
			assert.Contains(t, all, test[1], "%s: no test has such a name", page)
			found++
		}
		for _, group := range groups.FindAllStringSubmatch(text, -1) {
			for _, test := range named.FindAllStringSubmatch(group[1], -1) {
				assert.Contains(t, folders[test[1]], group[2], "%s: %s is elsewhere", page, test[1])
			}
		}
	}
	require.Greater(t, found, 13)
}
