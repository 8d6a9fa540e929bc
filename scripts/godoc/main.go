// Godoc prints the module's public packages as JSON: each package's HTML and exported names. scripts/reports runs it
// in the project's folder.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const module = "nodemask"

type page struct {
	Path     string   `json:"path"` // its folder, with slashes
	Synopsis string   `json:"synopsis"`
	HTML     string   `json:"html"`
	Names    []string `json:"names"` // exported; each is its id in the HTML
}

func main() {
	pages, err := all(".")
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(pages)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "godoc:", err)
		os.Exit(1)
	}
}

var hidden = map[string]bool{"internal": true, "cmd": true, "scripts": true, "tools": true, "testdata": true,
	"node_modules": true}

func all(root string) (pages []page, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || path == root {
			return err
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil || hidden[entry.Name()] || entry.Name()[0] == '.' {
			return fs.SkipDir
		}
		found, err := build.ImportDir(path, 0)
		if none := new(build.NoGoError); errors.As(err, &none) {
			return nil
		} else if err != nil {
			return err
		}
		if found.Name == "main" || len(found.GoFiles)+len(found.CgoFiles) == 0 {
			return nil
		}
		p, err := document(path, found)
		pages = append(pages, p)
		return err
	})
	places := map[string]bool{}
	for _, p := range pages {
		for _, name := range p.Names {
			places[fileOf(p.Path)+"#"+name] = true
		}
	}
	for i, p := range pages {
		pages[i].HTML = links.ReplaceAllStringFunc(p.HTML, func(link string) string {
			parts := links.FindStringSubmatch(link)
			if page := cmp.Or(parts[1], fileOf(p.Path)); places[page+"#"+parts[2]+parts[3]] {
				return link
			}
			return fmt.Sprintf(`href="%s#%s"`, parts[1], parts[2])
		})
	}
	return pages, err
}

// links matches links to a method or field. A field has no anchor: its link goes to the type.
var links = regexp.MustCompile(`href="([\w-]*(?:\.html)?)#(\w+)(\.\w+)"`)

func fileOf(path string) string { return "go-" + strings.ReplaceAll(path, "/", "-") + ".html" }

func document(path string, found *build.Package) (page, error) {
	set := token.NewFileSet()
	var files []*ast.File
	for _, names := range [][]string{found.GoFiles, found.CgoFiles, found.TestGoFiles, found.XTestGoFiles} {
		for _, name := range names {
			file, err := parser.ParseFile(set, filepath.Join(path, name), nil, parser.ParseComments)
			if err != nil {
				return page{}, err
			}
			files = append(files, file)
		}
	}
	slashed := filepath.ToSlash(path)
	p, err := doc.NewFromFiles(set, files, module+"/"+slashed)
	if err != nil {
		return page{}, err
	}
	w := &writer{set: set, of: p}
	w.doc(p.Doc, 2)
	w.examples(p.Examples)
	w.values("Constants", p.Consts)
	w.values("Variables", p.Vars)
	if len(p.Funcs) > 0 {
		w.printf("<h2>Functions</h2>\n")
	}
	w.funcs(p.Funcs, "")
	if len(p.Types) > 0 {
		w.printf("<h2>Types</h2>\n")
	}
	for _, t := range p.Types {
		w.entry(t.Name, "type "+t.Name, t.Decl, t.Doc)
		w.examples(t.Examples)
		w.values("", t.Consts)
		w.values("", t.Vars)
		w.funcs(t.Funcs, "")
		w.funcs(t.Methods, t.Name+".")
	}
	return page{slashed, p.Synopsis(p.Doc), w.String(), w.names}, w.err
}

type writer struct {
	strings.Builder
	set   *token.FileSet
	of    *doc.Package
	names []string
	err   error
}

func (w *writer) printf(format string, values ...any) { fmt.Fprintf(w, format, values...) }

// doc links to sibling pages or Go's own.
func (w *writer) doc(text string, level int) {
	p := w.of.Printer()
	p.HeadingLevel = level
	p.HeadingID = func(*comment.Heading) string { return "" }
	p.DocLinkURL = func(l *comment.DocLink) string {
		name := strings.TrimPrefix(l.Recv+"."+l.Name, ".")
		path, ours := strings.CutPrefix(l.ImportPath, module+"/")
		switch {
		case l.ImportPath == "":
			return "#" + name
		case ours && slices.Contains(strings.Split(path, "/"), "internal"):
			return ""
		case ours:
			return strings.TrimSuffix(fileOf(path)+"#"+name, "#")
		}
		return l.DefaultURL("https://pkg.go.dev")
	}
	w.Write(p.HTML(w.of.Parser().Parse(text)))
}

func (w *writer) entry(id, title string, decl ast.Decl, text string) {
	w.names = append(w.names, id)
	w.printf("<h3 id=\"%s\">%s</h3>\n", id, html.EscapeString(title))
	w.code(decl)
	w.doc(text, 4)
}

func (w *writer) code(node any) {
	var text strings.Builder
	if err := format.Node(&text, w.set, node); err != nil && w.err == nil {
		w.err = err
	}
	w.printf("<pre class=\"code\" tabindex=\"0\"><code>%s</code></pre>\n", html.EscapeString(text.String()))
}

func (w *writer) values(title string, all []*doc.Value) {
	if title != "" && len(all) > 0 {
		w.printf("<h2>%s</h2>\n", title)
	}
	for _, v := range all {
		for _, name := range v.Names {
			if ast.IsExported(name) {
				w.names = append(w.names, name)
				w.printf("<span id=\"%s\"></span>", name)
			}
		}
		w.code(v.Decl)
		w.doc(v.Doc, 4)
	}
}

func (w *writer) funcs(all []*doc.Func, of string) {
	for _, f := range all {
		f.Decl.Body = nil
		w.entry(of+f.Name, "func "+strings.TrimPrefix("("+f.Recv+") ", "() ")+f.Name, f.Decl, f.Doc)
		w.examples(f.Examples)
	}
}

func (w *writer) examples(all []*doc.Example) {
	for _, e := range all {
		w.printf("<details><summary>Example%s</summary>\n", html.EscapeString(strings.TrimSuffix(" ("+e.Suffix+")", " ()")))
		if block, ok := e.Code.(*ast.BlockStmt); ok {
			w.code(block.List)
		} else {
			w.code(e.Code)
		}
		if e.Output != "" {
			w.printf("<pre class=\"stdout\" tabindex=\"0\">%s</pre>\n", html.EscapeString(e.Output))
		}
		w.printf("</details>\n")
	}
}
