package floors

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
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
