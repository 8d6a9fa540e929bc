// Command mutate changes the operators of a package's code one at a time, and lists the changes that its tests do not
// notice. No file of the package is touched. In the project's folder:
//
//	go run ./scripts/mutate -every 3 ./datasets/internal/pickle ./internal/wholefile
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// mutants has what is put in an operator's place.
var mutants = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ,
	token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD,
	token.MUL: token.ADD, token.QUO: token.MUL, token.SHL: token.SHR, token.ADD_ASSIGN: token.SUB_ASSIGN,
	token.SUB_ASSIGN: token.ADD_ASSIGN, token.INC: token.DEC, token.DEC: token.INC,
}

// mutant is a change of a file.
type mutant struct {
	path       string
	at         token.Position
	from, into token.Token
}

func main() {
	every := flag.Int("every", 1, "try one in so many")
	part := flag.String("file", "", "change files alone whose names contain this")
	tests := flag.String("run", "", "tests to run, as go test has it")
	within := flag.Duration("timeout", time.Minute, "what takes longer is noticed")
	flag.Parse()
	for _, folder := range flag.Args() {
		if err := try(folder, *part, *tests, *every, *within); err != nil {
			fmt.Fprintln(os.Stderr, "mutate:", err)
			os.Exit(1)
		}
	}
}

// try tries the mutants of the package in a folder.
func try(folder, part, tests string, every int, within time.Duration) error {
	all, err := find(folder, part)
	if err != nil {
		return err
	}
	tried, noticed := 0, 0
	for i := 0; i < len(all); i += every {
		m := all[i]
		survives, err := m.survives(folder, tests, within)
		if err != nil {
			return err
		}
		if tried++; survives {
			fmt.Printf("%s:%d:%d: %s for %s\n", m.path, m.at.Line, m.at.Column, m.into, m.from)
		} else {
			noticed++
		}
	}
	fmt.Printf("%s: %d of %d mutants noticed, of %d in all\n", folder, noticed, tried, len(all))
	return nil
}

// find lists the mutants of those files of a package whose names contain part.
func find(folder, part string) (all []mutant, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") ||
			!strings.Contains(e.Name(), part) {
			continue
		}
		path, files := filepath.Join(folder, e.Name()), token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return nil, err
		}
		add := func(at token.Pos, from token.Token) {
			if into, ok := mutants[from]; ok {
				all = append(all, mutant{path, files.Position(at), from, into})
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				add(n.OpPos, n.Op)
			case *ast.AssignStmt:
				add(n.TokPos, n.Tok)
			case *ast.IncDecStmt:
				add(n.TokPos, n.Tok)
			}
			return true
		})
	}
	return all, nil
}

// survives reports whether the tests pass with a mutant in place.
func (m mutant) survives(folder, tests string, within time.Duration) (bool, error) {
	content, err := os.ReadFile(m.path)
	if err != nil {
		return false, err
	}
	rest := content[m.at.Offset:]
	if !bytes.HasPrefix(rest, []byte(m.from.String())) {
		return false, fmt.Errorf("%s: the file has changed", m.at)
	}
	changed := bytes.Join([][]byte{content[:m.at.Offset], []byte(m.into.String()), rest[len(m.from.String()):]}, nil)
	dir, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	whole, err := filepath.Abs(m.path)
	if err != nil {
		return false, err
	}
	instead, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {whole: instead}})
	if err != nil {
		return false, err
	}
	if err := os.WriteFile(instead, changed, 0o600); err != nil {
		return false, err
	}
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*within)
	defer cancel()
	// What does not compile is noticed, too.
	return exec.CommandContext(ctx, "go", "test", "-vet=off", "-failfast", "-overlay", overlay, "-timeout",
		within.String(), "-run", tests, folder).Run() == nil, nil
}
