package floors

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// libraryFiles yields the files of packages that other programs import, by folder, without tests.
func libraryFiles(t *testing.T, internal bool, each func(folder, path string, file *ast.File)) {
	t.Helper()
	root := filepath.Join("..", "..")
	for _, room := range []string{".", "csr", "stats", "plots", "datasets", "aggtree", "nmgnn"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, room), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				_, err := os.Stat(filepath.Join(path, "go.mod"))
				otherModule := err == nil && room != "."
				below := room == "." && filepath.Clean(path) != filepath.Clean(root)
				if d.Name() == "internal" && !internal || d.Name() == "testdata" || otherModule || below {
					return filepath.SkipDir
				}
				return nil
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err == nil {
				each(filepath.Dir(path), path, file)
			}
			return err
		}))
	}
}

// TestTheLibraryHasFewNames counts exported names, without a type's constants, methods and fields. Reproduction, pages
// and notebooks are no library.
func TestTheLibraryHasFewNames(t *testing.T) {
	const most = 250
	var names []string
	libraryFiles(t, false, func(folder, _ string, file *ast.File) {
		add := func(name *ast.Ident) {
			if name.IsExported() {
				names = append(names, filepath.Base(folder)+"."+name.Name)
			}
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					add(d.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						add(spec.Name)
					case *ast.ValueSpec:
						if of, ok := spec.Type.(*ast.Ident); ok && of.IsExported() {
							continue // a value of that type
						}
						for _, name := range spec.Names {
							add(name)
						}
					}
				}
			}
		}
	})
	slices.Sort(names)
	require.Greater(t, len(names), 150, "the library was looked through")
	require.LessOrEqual(t, len(names), most, "%s", strings.Join(names, "\n"))
	t.Logf("%d exported names at top level", len(names))
}

var aFlag = regexp.MustCompile(`(^|[ ("'])--[a-z]{2,}`)

func TestTextsOfTheLibraryNameNoFlags(t *testing.T) {
	exempt := []string{
		"datasets/describe.go",     // a description, not an error, for users of the command
		"nmgnn/backend/xla.go",     // XLA's own flags
		"nmgnn/internal/gpucheck/", // likewise
	}
	libraryFiles(t, true, func(_, path string, file *ast.File) {
		if slices.ContainsFunc(exempt, func(part string) bool { return strings.Contains(filepath.ToSlash(path), part) }) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				require.NotRegexp(t, aFlag, text.Value, "%s: a library does not know the command's flags", path)
			}
			return true
		})
	})
}

func TestEachPackageOfTheLibraryHasAnExample(t *testing.T) {
	examples := map[string]bool{}
	libraryFiles(t, false, func(folder, _ string, _ *ast.File) { examples[folder] = false })
	for folder := range examples {
		tests, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		require.NoError(t, err)
		for _, path := range tests {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			examples[folder] = examples[folder] || strings.Contains(string(text), "\nfunc Example")
		}
		require.True(t, examples[folder], "%s: no Example", folder)
	}
	require.Greater(t, len(examples), 12)
}

// TestTheLibraryShowsNoInternalTypes walks the types of all exported names: fields, arguments, results, methods.
func TestTheLibraryShowsNoInternalTypes(t *testing.T) {
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", ".", "./csr", "./stats",
		"./plots", "./datasets/...", "./aggtree/...", "./nmgnn/...")
	list.Dir, list.Stderr = filepath.Join("..", ".."), os.Stderr
	out, err := list.Output()
	require.NoError(t, err)
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exports[path] = file
	}
	read := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	w := walk{found: map[string]string{}}
	packages := 0
	for _, path := range slices.Sorted(maps.Keys(exports)) {
		module := strings.TrimSuffix(modulePath, "/")
		if path != module && !strings.HasPrefix(path, modulePath) || isInternal(path) {
			continue
		}
		p, err := read.Import(path)
		require.NoError(t, err)
		packages++
		for _, name := range p.Scope().Names() {
			if object := p.Scope().Lookup(name); object.Exported() {
				w.object(p.Name()+"."+name, object)
			}
		}
	}
	require.Greater(t, packages, 12, "the library was walked through")
	require.Empty(t, w.found, "exported names that show internal types")
}

const modulePath = "nodemask/"

func isInternal(path string) bool {
	return strings.HasPrefix(path, modulePath) && strings.Contains(path+"/", "/internal/")
}

// walk notes the internal types that names show.
type walk struct{ found map[string]string }

func (w walk) object(name string, o types.Object) {
	if alias, ok := o.Type().(*types.Alias); ok {
		w.visit(name, alias.Rhs())
		return
	}
	named, ok := o.Type().(*types.Named)
	if _, isType := o.(*types.TypeName); !ok || !isType {
		w.visit(name, o.Type())
		return
	}
	if named.Obj() != o {
		w.visit(name, named)
		return
	}
	w.visit(name, named.Underlying())
	for method := range named.Methods() {
		if method.Exported() {
			w.visit(name+"."+method.Name(), method.Type())
		}
	}
}

func (w walk) visit(name string, t types.Type) {
	switch t := t.(type) {
	case *types.Alias:
		w.visit(name, types.Unalias(t))
	case *types.Named:
		if p := t.Obj().Pkg(); p != nil && isInternal(p.Path()) {
			w.found[name] = fmt.Sprintf("%s.%s", p.Path(), t.Obj().Name())
		}
		for argument := range t.TypeArgs().Types() {
			w.visit(name, argument)
		}
	case *types.Struct:
		for field := range t.Fields() {
			if field.Exported() {
				w.visit(name+"."+field.Name(), field.Type())
			}
		}
	case *types.Interface:
		for method := range t.Methods() {
			if method.Exported() {
				w.visit(name+"."+method.Name(), method.Type())
			}
		}
	case *types.Signature:
		w.visit(name, t.Params())
		w.visit(name, t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			w.visit(name, v.Type())
		}
	case *types.Map:
		w.visit(name, t.Key())
		w.visit(name, t.Elem())
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		w.visit(name, t.Elem())
	}
}
