package floors

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// columns is how long a line may be.
const columns = 120

func TestLinesAreLongOnlyWhereATextIs(t *testing.T) {
	root := filepath.Join("..", "..")
	out, err := exec.Command("git", "-C", root, "ls-files", "-z", "*.go", "*.md").Output()
	if err != nil {
		t.Skipf("skipped: git does not list the files: %v", err)
	}
	var long []string
	for file := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if file == "THIRD_PARTY.md" || file == "paper/PROTOCOL.md" { // others' licences, and a text that is held by its hash
			continue
		}
		content, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		inText, markdown := false, strings.HasSuffix(file, ".md")
		for i, line := range strings.Split(string(content), "\n") {
			was := inText
			if strings.Count(line, "`")%2 == 1 && !markdown {
				inText = !inText
			}
			if utf8.RuneCountInString(line) <= columns || was || mayBeLong(line, markdown) {
				continue
			}
			long = append(long, file+":"+strconv.Itoa(i+1))
		}
	}
	require.Empty(t, long, "lines of more than %d columns", columns)
}

// TestTheWalksOfTheArchitectureAreThere: each function that a walk stops at is in the file that it names.
func TestTheWalksOfTheArchitectureAreThere(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	require.NoError(t, err)
	stops := regexp.MustCompile("\\]\\(([^)]*\\.go)\\)\\s+`([A-Za-z.]+)`").FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(stops), 5)
	for _, stop := range stops {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(stop[1])))
		require.NoError(t, err)
		receiver, name, isMethod := strings.Cut(stop[2], ".")
		declaration := "(?m)^func " + receiver + "\\("
		if isMethod {
			declaration = `(?m)^func \(\w+ \*?` + receiver + `\) ` + name + `\(`
		}
		require.Regexp(t, declaration, string(text), "ARCHITECTURE.md says that %s has %s", stop[1], stop[2])
	}
}

// mayBeLong reports whether a line cannot be broken: a string of Go, a formula or command in a comment, or a table,
// picture or command of Markdown.
func mayBeLong(line string, markdown bool) bool {
	if markdown {
		return strings.HasPrefix(line, "|") || strings.HasPrefix(line, "!") || strings.HasPrefix(line, "    ") ||
			strings.HasPrefix(line, "+") || strings.HasPrefix(line, "<!--")
	}
	return strings.ContainsAny(line, "\"`") || strings.HasPrefix(line, "//\t")
}

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
