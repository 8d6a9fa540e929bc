package main

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

func TestPackagesOfTheProjectThatACellNamesAreImported(t *testing.T) {
	project, err := checkout.Root()
	require.NoError(t, err)
	for body, want := range map[string]string{
		`nb.Figure("trees")`:                                    `; import "nodemask/nb"`,
		`c := record.NewCell(); nb.Compare(c)`:                  `; import "nodemask/nb"; import "nodemask/paper/record"`,
		`incell.Train(1, train.Experiment{})`:                   `; import "nodemask/nb/incell"; import "nodemask/nmgnn/train"`,
		`var p hyper.Parameters; _ = p`:                         `; import "nodemask/nmgnn/hyper"`,
		`fmt.Println("not of the project")`:                     ``,
		`nb.Figur("no such function")`:                          `; import "nodemask/nb"`,
		`checkout.Root() // of the project alone`:               ``,
		`record := struct{ NewCell int }{}; _ = record.NewCell`: ``,
		`testify.New()`:                                         ``,
	} {
		added, err := withImports([]byte("package main // a cell\n\nfunc main() {\n"+body+"\n}\n"), project)
		require.NoError(t, err, body)
		if want == "" {
			assert.Nil(t, added, "%s: %s", body, added)
			continue
		}
		assert.Equal(t, "package main"+want+" // a cell\n\nfunc main() {\n"+body+"\n}\n", string(added))
	}
}

func TestWhatIsImportedOrIsNoGoStaysAsItIs(t *testing.T) {
	project, err := checkout.Root()
	require.NoError(t, err)
	for _, source := range []string{
		"package main\n\nimport \"nodemask/nb\"\n\nfunc main() { nb.Figure(\"trees\") }\n",
		"package main\n\nimport nb \"fmt\"\n\nfunc main() { nb.Figure(\"trees\") }\n",
		"package main\n\nvar nb = struct{ Figure func() }{}\n\nfunc main() { nb.Figure() }\n",
		"package main\n\nfunc main() { nb.Figure(\n",
		"",
	} {
		added, err := withImports([]byte(source), project)
		require.NoError(t, err)
		assert.Nil(t, added, source)
	}
}

func TestGoimportsDoesTheRest(t *testing.T) {
	project := t.TempDir()
	lab := filepath.Join(project, ".nodemask", "lab")
	for _, folder := range []string{"bin", "tools"} {
		require.NoError(t, os.MkdirAll(filepath.Join(lab, folder), 0o777))
	}
	require.NoError(t, os.Mkdir(filepath.Join(project, "nb"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(project, "nb", "nb.go"), []byte("package nb\n\nfunc Figure() {}\n"),
		0o666))
	self := filepath.Join(lab, "bin", "goimports")
	out, err := exec.Command("go", "build", "-o", self, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	cell := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(cell, []byte("package main\n\nfunc main() { nb.Figure() }\n"), 0o666))
	goimports := func(script string) (said string, err error) {
		require.NoError(t, os.WriteFile(filepath.Join(lab, "tools", "goimports"), []byte("#!/bin/sh\n"+script+"\n"), 0o777))
		text, err := exec.Command(self, "-w", cell).CombinedOutput()
		return string(text), err
	}
	said, err := goimports(`echo "$1"; cat "$2"`)
	require.NoError(t, err)
	assert.Equal(t, "-w\npackage main; import \"nodemask/nb\"\n\nfunc main() { nb.Figure() }\n", said)
	require.NoError(t, os.WriteFile(cell, []byte("package main\n\nfunc main() { nb.Figur(); other.Name() }\n"), 0o666))
	said, err = goimports(`cat "$2"`)
	require.NoError(t, err)
	assert.Equal(t, "package main; import \"nodemask/nb\"\n\nfunc main() { nb.Figur(); other.Name() }\n", said)
	said, err = goimports("echo 'main.go:1:1: expected declaration' >&2; exit 2")
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 2, exit.ExitCode())
	assert.Equal(t, "main.go:1:1: expected declaration", strings.TrimSpace(said))
}
