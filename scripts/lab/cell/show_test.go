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

func TestTheLastExpressionOfACellIsShown(t *testing.T) {
	project, err := checkout.Root()
	require.NoError(t, err)
	const head = "package main; import \"nodemask/nb\"; import \"fmt\"\n\nfunc f() int { return 1 }\n\nfunc g() {}\n\nvar x T\n\nfunc main() {\n"
	for last, shown := range map[string]bool{
		`nb.Data("cora")`:                true,
		`1 + 1`:                          true,
		`x`:                              true,
		"x.Degree(\n\t1)":                true,
		`f()`:                            true,
		`len("a")`:                       true,
		`g()`:                            false,
		`fmt.Println("a")`:               false,
		`nb.Describe(nb.Data("cora"))`:   false,
		`nb.Tree(nb.Data("cora"), 5, 2)`: false,
		`x = 1`:                          false,
		`panic("a")`:                     false,
	} {
		got := showing([]byte(head+last+"\n}\n"), project)
		if !shown {
			assert.Nil(t, got, last)
			continue
		}
		want := strings.Replace(head, "main;", "main; import cellnb \"nodemask/nb\";", 1) + "cellnb.Show(" + last + ")\n}\n"
		assert.Equal(t, want, string(got))
	}
}

func TestItIsTheGoCommandInAllElse(t *testing.T) {
	project := t.TempDir()
	bin, cell := filepath.Join(project, ".nodemask", "lab", "bin"), t.TempDir()
	require.NoError(t, os.MkdirAll(bin, 0o777))
	out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "go"), ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(cell, name), []byte(text), 0o666))
	}
	write("go.mod", "module gonb_45aaa29b\n")
	as := func(folders string, args ...string) (string, int) {
		c := exec.Command(filepath.Join(bin, "go"), args...)
		c.Dir, c.Env = cell, append(os.Environ(), "PATH="+folders, "GOFLAGS=", "GOWORK=off")
		out, _ := c.CombinedOutput() // the exit code is checked
		return string(out), c.ProcessState.ExitCode()
	}
	path := bin + string(filepath.ListSeparator) + os.Getenv("PATH")
	want, err := exec.Command("go", "version").Output()
	require.NoError(t, err)
	out2, code := as(path, "version")
	assert.Equal(t, string(want), out2)
	assert.Zero(t, code)
	// Errors are those of the cell as written, which stays unchanged.
	source := "package main\n\nfunc main() { x() }\n\n// # gonb_45aaa29b\n"
	write("main.go", source)
	out2, code = as(path, "build", "-o", "program")
	assert.Equal(t, "./main.go:3:15: undefined: x\n", out2)
	assert.Equal(t, 1, code)
	left, err := os.ReadFile(filepath.Join(cell, "main.go"))
	require.NoError(t, err)
	assert.Equal(t, source, string(left))
	// A method without results is not shown.
	write("main.go", "package main\n\ntype x struct{}\n\nfunc (x) f() {}\n\nfunc main() {\n\tx{}.f()\n}\n")
	out2, code = as(path, "build", "-o", "program")
	assert.Equal(t, "", out2)
	assert.Zero(t, code)
	_, code = as(path, "no-such-command")
	assert.Equal(t, 2, code)
	out2, code = as(bin, "version")
	assert.Equal(t, "cell: no go command in PATH: install Go and run 'make setup-lab'\n", out2)
	assert.Equal(t, 1, code)
}
