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

// withImports adds to source the missing imports of the project's packages. It returns nil if nothing is missing or the
// source is invalid.
func withImports(source []byte, project string) ([]byte, error) {
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
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if len(packages[name]) == 1 {
			fmt.Fprintf(&lines, "; import %q", path.Join(module, filepath.ToSlash(packages[name][0])))
		}
	}
	if lines.Len() == 0 {
		return nil, nil
	}
	// The imports go on the line of the package clause, so line numbers in errors stay right.
	at := int(file.Name.End()) - 1
	return slices.Concat(source[:at], lines.Bytes(), source[at:]), nil
}

func missing(file *ast.File) map[string]bool {
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
	wanted := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && unresolved[x] && !imported[x.Name] {
				wanted[x.Name] = true
			}
		}
		return true
	})
	return wanted
}

func named(project string, wanted map[string]bool) (map[string][]string, error) {
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
		if wanted[name] {
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
