package nb

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"nodemask/internal/checkout"
)

// Source shows the source of a function, or of a type with its exported methods: Source("nmgnn", "GIN").
func Source(pkg, name string) {
	text, err := sourceOf(Must1(checkout.Root()), pkg, name)
	Must(err)
	Markdown(text)
}

func sourceOf(project, pkg, name string) (string, error) {
	folder := filepath.Join(project, pkg)
	names, err := fs.Glob(os.DirFS(folder), "*.go") // folder's name may look like a pattern
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, base := range names {
		if strings.HasSuffix(base, "_test.go") {
			continue
		}
		path := filepath.Join(folder, base)
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, text, parser.ParseComments)
		if err != nil {
			return "", err
		}
		for _, declaration := range file.Decls {
			doc, ok := declares(declaration, name)
			if !ok {
				continue
			}
			from := declaration.Pos()
			if doc != nil {
				from = doc.Pos()
			}
			begin, end := files.Position(from), files.Position(declaration.End())
			fmt.Fprintf(&b, "`%s/%s`, line %d:\n\n```go\n%s\n```\n\n", pkg, filepath.Base(path), begin.Line,
				text[begin.Offset:end.Offset])
		}
	}
	if b.Len() == 0 {
		return "", fmt.Errorf("no type or function %s in the package %s of this project", name, pkg)
	}
	return b.String(), nil
}

func declares(d ast.Decl, name string) (doc *ast.CommentGroup, ok bool) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return d.Doc, d.Name.Name == name
		}
		receiver := d.Recv.List[0].Type
		if star, ok := receiver.(*ast.StarExpr); ok {
			receiver = star.X
		}
		identifier, ok := receiver.(*ast.Ident)
		return d.Doc, ok && identifier.Name == name && d.Name.IsExported()
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if t, ok := spec.(*ast.TypeSpec); ok && t.Name.Name == name {
				return d.Doc, true
			}
		}
	}
	return nil, false
}
