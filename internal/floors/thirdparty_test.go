package floors_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/internal/checkout"
)

// linked returns what packages are linked with of other modules, "path version" each.
func linked(t *testing.T, root string, environment []string, packages ...string) []string {
	t.Helper()
	list := exec.Command("go", append([]string{"list", "-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}"}, packages...)...)
	list.Dir, list.Env, list.Stderr = root, append(os.Environ(), environment...), os.Stderr
	output, err := list.Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(output)), "\n")
}

func TestTheListOfThirdPartiesIsWhatIsLinked(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("skipped: %v", err)
	}
	root, err := checkout.Root()
	require.NoError(t, err)
	want := linked(t, root, []string{"CGO_ENABLED=1"}, "./cmd/nodemask")
	want = append(want, linked(t, root, []string{"GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0"}, "./cmd/nodemask-wasm")...)
	want = append(want, linked(t, root, nil, "./nb", "./nb/incell")...)
	page, err := os.ReadFile(filepath.Join(root, "THIRD_PARTY.md"))
	require.NoError(t, err)
	var unlisted, listedToo []string
	found := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, " | ")
		name, is := strings.CutPrefix(cells[0], "| ")
		if !is || len(cells) != 4 || !strings.Contains(name, "/") {
			continue
		}
		module := ""
		for _, m := range want {
			path, version, _ := strings.Cut(m, " ")
			if (name == path || strings.HasPrefix(name, path+"/")) && strings.TrimSuffix(version, "+incompatible") == cells[1] {
				module = m
			}
		}
		found[module] = true
		if module == "" {
			listedToo = append(listedToo, name+" "+cells[1])
		}
	}
	for _, m := range slices.Compact(slices.Sorted(slices.Values(want))) {
		if m != "" && !found[m] {
			unlisted = append(unlisted, m)
		}
	}
	assert.Empty(t, unlisted, "linked, and not in THIRD_PARTY.md: 'make third-party' writes it")
	assert.Empty(t, listedToo, "in THIRD_PARTY.md, and not linked: 'make third-party' writes it")
}
