package floors

import (
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
