package floors_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/internal/checkout"
)

// linked adds the folders of the modules that packages link.
func linked(t *testing.T, folders map[string]string, root string, environment []string, packages ...string) {
	t.Helper()
	list := exec.Command("go", append([]string{"list", "-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}"}, packages...)...)
	list.Dir, list.Env, list.Stderr = root, append(os.Environ(), environment...), os.Stderr
	output, err := list.Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(output)) {
		if path, folder, found := strings.Cut(strings.TrimSpace(line), "\t"); found {
			folders[path] = folder
		}
	}
}

func TestThirdPartiesAreListedWithTheirLicences(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("skipped: %v", err)
	}
	root, err := checkout.Root()
	require.NoError(t, err)
	folders := map[string]string{}
	linked(t, folders, root, []string{"CGO_ENABLED=1"}, "./cmd/nodemask")
	linked(t, folders, root, []string{"GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0"}, "./cmd/nodemask-wasm")
	linked(t, folders, root, nil, "./nb", "./nb/incell")
	page, err := os.ReadFile(filepath.Join(root, "THIRD_PARTY.md"))
	require.NoError(t, err)
	words := func(text []byte) string { return strings.Join(strings.Fields(string(text)), " ") }
	table, texts, found := strings.Cut(string(page), "\n## The texts\n")
	require.True(t, found)
	texts = words([]byte(texts))
	for path, folder := range folders {
		assert.Contains(t, table, "| "+path, "linked, and not in THIRD_PARTY.md: 'make third-party' writes it")
		files, err := os.ReadDir(folder)
		require.NoError(t, err)
		for _, file := range files {
			switch strings.ToUpper(strings.TrimSuffix(strings.TrimSuffix(file.Name(), ".txt"), ".md")) {
			case "LICENSE", "LICENCE", "COPYING":
				text, err := os.ReadFile(filepath.Join(folder, file.Name()))
				require.NoError(t, err)
				assert.True(t, strings.Contains(texts, words(text)),
					"the licence of %s is not in THIRD_PARTY.md: 'make third-party' writes it", path)
			}
		}
	}
	for line := range strings.Lines(table) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " ")
		if !strings.HasPrefix(line, "| ") || !strings.Contains(name, "/") {
			continue
		}
		is := false
		for path := range folders {
			is = is || name == path || strings.HasPrefix(name, path+"/")
		}
		assert.True(t, is, "%s is in THIRD_PARTY.md, and not linked: 'make third-party' writes it", name)
	}
}
