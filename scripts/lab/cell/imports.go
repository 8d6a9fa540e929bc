package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const module = "nodemask"

// withImports returns the source with missing imports of the project's packages; nil if nothing is missing or the
// source is invalid. misspelt imports a package even if it does not export the name: the compiler then says
// "undefined: nb.Tre" instead of "undefined: nb".
func withImports(source []byte, project string, misspelt bool) ([]byte, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", source, 0)
	if err != nil {
		return nil, nil
	}
	wanted := missing(file)
	if len(wanted) == 0 {
		return nil, nil
	}
	packages, err := named(project, wanted)
	if err != nil {
		return nil, err
	}
	var lines bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		var fitting []string
		for _, folder := range packages[name] {
			exported, err := exports(filepath.Join(project, folder), name)
			if err != nil {
				return nil, err
			}
			if misspelt || !slices.ContainsFunc(wanted[name], func(symbol string) bool { return !exported[symbol] }) {
				fitting = append(fitting, folder)
			}
		}
		if len(fitting) == 1 {
			fmt.Fprintf(&lines, "; import %q", path.Join(module, filepath.ToSlash(fitting[0])))
		}
	}
	if lines.Len() == 0 {
		return nil, nil
	}
	// On the package clause's line, to keep line numbers in errors.
	at := int(file.Name.End()) - 1
	return slices.Concat(source[:at], lines.Bytes(), source[at:]), nil
}

func missing(file *ast.File) map[string][]string {
	unresolved := map[*ast.Ident]bool{}
	for _, identifier := range file.Unresolved {
		unresolved[identifier] = true
	}
	imported := map[string]bool{}
	for _, i := range file.Imports {
		name := path.Base(strings.Trim(i.Path.Value, `"`))
		if i.Name != nil {
			name = i.Name.Name
		}
		imported[name] = true
	}
	wanted := map[string][]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && unresolved[x] && !imported[x.Name] {
				wanted[x.Name] = append(wanted[x.Name], s.Sel.Name)
			}
		}
		return true
	})
	return wanted
}

// named returns the project's folders whose packages have a wanted name, without other modules, commands and internal
// packages.
func named(project string, wanted map[string][]string) (map[string][]string, error) {
	folders := map[string][]string{}
	err := filepath.WalkDir(project, func(folder string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if folder == project {
			return nil
		}
		name := d.Name()
		if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "internal" || name == "testdata" {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return filepath.SkipDir
		}
		if _, ok := wanted[name]; ok {
			relative, err := filepath.Rel(project, folder)
			if err != nil {
				return err
			}
			folders[name] = append(folders[name], relative)
		}
		return nil
	})
	return folders, err
}

func exports(folder, name string) (map[string]bool, error) {
	files, err := fs.Glob(os.DirFS(folder), "*.go") // folder's name may look like a pattern
	if err != nil {
		return nil, err
	}
	exported := map[string]bool{}
	for _, base := range files {
		if strings.HasSuffix(base, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, base), nil, 0)
		if err != nil || file.Name.Name != name {
			continue // being written: the compiler will report it
		}
		for symbol := range file.Scope.Objects {
			exported[symbol] = ast.IsExported(symbol)
		}
	}
	return exported, nil
}
