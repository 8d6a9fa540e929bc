package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"nodemask/internal/gobuild"
)

// Build returns the program that pages run, compiled with the installed Go tools and cached in .nodemask/wasm.
func Build(ctx context.Context, project string) (Module, error) {
	folder := filepath.Join(project, ".nodemask", "wasm")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return Module{}, err
	}
	binary := filepath.Join(folder, "nodemask.wasm")
	out, err := gobuild.Build(ctx, gobuild.Program{
		Project: project, Package: "./cmd/nodemask-wasm", File: binary,
		Flags:       []string{"-buildvcs=false", "-ldflags=-s -w"},
		Environment: []string{"GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS="},
	})
	if err != nil {
		return Module{}, fmt.Errorf("compiling the page's program: %w\n%s", err, bytes.TrimSpace(out))
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return Module{}, fmt.Errorf("asking go for its folder: %w", err)
	}
	script, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return Module{}, fmt.Errorf("this installation of Go lacks what WebAssembly needs: %w", err)
	}
	compiled, err := os.ReadFile(binary)
	if err != nil {
		return Module{}, err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return Module{}, err
	}
	_, err = z.Write(compiled)
	err = errors.Join(err, z.Close())
	return Module{Exec: string(script), Gzip: packed.Bytes()}, err
}
