package floors_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/internal/checkout"
	"nodemask/paper/record"
)

func number(t *testing.T, version string) []int {
	t.Helper()
	var parts []int
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		require.NoError(t, err, "the version %q", version)
		parts = append(parts, n)
	}
	require.Len(t, parts, 3, "the version %q", version)
	return parts
}

func TestVersionsAgreeEverywhere(t *testing.T) {
	root, err := checkout.Root()
	require.NoError(t, err)
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		return string(text)
	}
	var listed []string
	for _, found := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(read("CHANGELOG.md"), -1) {
		listed = append(listed, found[1])
	}
	require.NotEmpty(t, listed)
	for i, version := range listed[1:] {
		require.Positive(t, slices.Compare(number(t, listed[i]), number(t, version)), "CHANGELOG.md has %s above %s",
			listed[i], version)
	}
	require.True(t, strings.HasPrefix(record.Version(), "nodemask "+listed[0]+" ("),
		"CHANGELOG.md begins with %s, and the program is %s", listed[0], record.Version())
	require.Contains(t, read("CITATION.cff"), "\nversion: "+listed[0]+"\n")
	// Versions are tags. A clone may lack tags or git; the current version has no tag yet.
	tags, err := exec.Command("git", "-C", root, "tag", "--list", "v*").Output()
	if err != nil {
		t.Logf("tags are not checked: %v", err)
	}
	for tag := range strings.FieldsSeq(string(tags)) {
		require.Contains(t, listed, strings.TrimPrefix(tag, "v"), "CHANGELOG.md lacks what the tag %s has", tag)
	}
}
