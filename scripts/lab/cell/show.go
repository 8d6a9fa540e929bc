package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var gonbPackage = regexp.MustCompile(`(?m)^# gonb_[0-9a-f]*\n`)

// goCommand runs the first go command in PATH outside the folder bin.
func goCommand(bin, project string, args []string) error {
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
	shown := []byte(nil)
	if unread == nil && len(args) > 0 && args[0] == "build" {
		shown = showing(source, project)
	}
	if shown != nil {
		if err := os.WriteFile("main.go", shown, 0o600); err != nil {
			return err
		}
		said, err = run()
		if err := os.WriteFile("main.go", source, 0o600); err != nil {
			return err
		}
	}
	if shown == nil || err != nil {
		said, err = run()
	}
	if _, err := os.Stderr.Write(said); err != nil {
		return err
	}
	return err
}

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

// showing returns source with main's last expression passed to nb.Show, and with unchanged line numbers. It returns nil
// if there is nothing to show.
func showing(source []byte, project string) []byte {
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
		if !ok || !shows(file, last.X, project) {
			return nil
		}
		at := func(p token.Pos) int { return files.Position(p).Offset }
		name, from, to := at(file.Name.End()), at(last.X.Pos()), at(last.X.End())
		return slices.Concat(source[:name], []byte(`; import cellnb "nodemask/nb"`), source[name:from], []byte("cellnb.Show("),
			source[from:to], []byte(")"), source[to:])
	}
	return nil
}

var quiet = []string{"Tree", "Reading", "Sweep"}

func shows(file *ast.File, x ast.Expr, project string) bool {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return true // Go rejects a + b as a statement, but not nb.Show(a + b)
	}
	switch f := call.Fun.(type) {
	case *ast.Ident:
		if f.Obj == nil {
			return !slices.Contains([]string{"panic", "print", "println", "close", "clear", "copy", "delete"}, f.Name)
		}
		declared, ok := f.Obj.Decl.(*ast.FuncDecl)
		return !ok || declared.Type.Results != nil
	case *ast.SelectorExpr:
		name, ok := f.X.(*ast.Ident)
		if !ok || name.Obj != nil {
			// Assume that a method returns a value. If it returns nothing, the cell with nb.Show does not compile, and
			// goCommand builds the unchanged cell.
			return true
		}
		for _, i := range file.Imports {
			path := strings.Trim(i.Path.Value, `"`)
			if i.Name == nil && strings.HasSuffix("/"+path, "/"+name.Name) || i.Name != nil && i.Name.Name == name.Name {
				folder, own := strings.CutPrefix(path, module+"/")
				if !own || folder == "nb" && slices.Contains(quiet, f.Sel.Name) {
					return false
				}
				return returns(filepath.Join(project, folder), f.Sel.Name)
			}
		}
		return false
	}
	return true
}

func returns(folder, name string) bool {
	files, _ := os.ReadDir(folder)
	function := regexp.MustCompile(fmt.Sprintf(`(?m)^func %s\b`, regexp.QuoteMeta(name)))
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil || !strings.HasSuffix(f.Name(), ".go") || !function.Match(text) {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), "", text, 0)
		if err != nil {
			return false
		}
		if o := parsed.Scope.Lookup(name); o != nil {
			declared, ok := o.Decl.(*ast.FuncDecl)
			return ok && declared.Type.Results != nil
		}
	}
	return false
}
