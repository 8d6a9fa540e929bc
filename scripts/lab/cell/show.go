package main

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
)

var gonbPackage = regexp.MustCompile(`(?m)^# gonb_[0-9a-f]*\n`)

// goCommand runs the go command after bin in PATH. If it builds a cell (main.go in the working directory), main's last
// line shows itself.
func goCommand(bin string, args []string) error {
	command, err := goAfter(bin)
	if err != nil {
		return err
	}
	run := func() ([]byte, error) {
		c := exec.Command(command, args...)
		var said bytes.Buffer
		c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, &said
		if len(args) == 0 || args[0] != "build" && args[0] != "test" {
			c.Stderr = os.Stderr
		}
		err := c.Run()
		return gonbPackage.ReplaceAll(said.Bytes(), nil), err
	}
	said, err := []byte(nil), error(nil)
	source, unread := os.ReadFile("main.go")
	with := []byte(nil)
	if unread == nil && len(args) > 0 && args[0] == "build" {
		with = showing(source)
	}
	if with != nil {
		if err := os.WriteFile("main.go", with, 0o600); err != nil {
			return err
		}
		said, err = run()
		if err := os.WriteFile("main.go", source, 0o600); err != nil {
			return err
		}
	}
	if with == nil || err != nil { // errors must be those of the original cell; calls without results cannot be shown
		said, err = run()
	}
	if _, err := os.Stderr.Write(said); err != nil {
		return err
	}
	return err
}

// goAfter returns the first go command in PATH outside bin.
func goAfter(bin string) (string, error) {
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		if real, err := filepath.EvalSymlinks(folder); err != nil || real == bin {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(folder, "go")); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no go command in PATH: install Go and run 'make setup-lab'")
}

// showing passes main's last expression to nb.Show; nil if there is nothing to show. Line numbers stay.
func showing(source []byte) []byte {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, 0)
	if err != nil {
		return nil
	}
	for _, d := range file.Decls {
		main, ok := d.(*ast.FuncDecl)
		if !ok || main.Name.Name != "main" || main.Recv != nil || len(main.Body.List) == 0 {
			continue
		}
		last, ok := main.Body.List[len(main.Body.List)-1].(*ast.ExprStmt)
		if !ok || !shows(last.X) {
			return nil
		}
		at := func(p token.Pos) int { return files.Position(p).Offset }
		name, from, to := at(file.Name.End()), at(last.X.Pos()), at(last.X.End())
		return slices.Concat(source[:name], []byte(`; import cellnb "nodemask/nb"`), source[name:from], []byte("cellnb.Show("),
			source[from:to], []byte(")"), source[to:])
	}
	return nil
}

// shown are functions of nb whose values show themselves; its others show what they do.
var shown = []string{"Data", "Experiment", "Live", "Recorded", "Best"}

// shows is false for calls made for their effects, such as fmt.Println.
func shows(x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return true // the compiler will reject it anyway
	}
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Obj != nil || f.Name == "len" || f.Name == "cap"
	case *ast.SelectorExpr:
		if name, ok := f.X.(*ast.Ident); ok && name.Obj == nil {
			return name.Name == "nb" && slices.Contains(shown, f.Sel.Name)
		}
	}
	return true
}
