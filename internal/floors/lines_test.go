package floors

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

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

// mayBeLong reports whether a line cannot be broken: a string of Go, a formula or command in a comment, or a table,
// picture or command of Markdown.
func mayBeLong(line string, markdown bool) bool {
	if markdown {
		return strings.HasPrefix(line, "|") || strings.HasPrefix(line, "!") || strings.HasPrefix(line, "    ") ||
			strings.HasPrefix(line, "+") || strings.HasPrefix(line, "<!--")
	}
	return strings.ContainsAny(line, "\"`") || strings.HasPrefix(line, "//\t")
}
