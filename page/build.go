package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"nodemask/internal/gobuild"
	"nodemask/internal/wholefile"
)

// Build returns the program of pages, compiled with the installed Go tools and cached in .nodemask/wasm.
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
	packed, err := packedOnce(folder, compiled)
	return Module{Exec: string(script), Gzip: packed}, err
}

func read(path string) ([]byte, error) {
	f, err := wholefile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return io.ReadAll(f)
}

func packedOnce(folder string, compiled []byte) ([]byte, error) {
	kept := filepath.Join(folder, fmt.Sprintf("%x.gz", sha256.Sum256(compiled)))
	switch packed, err := read(kept); {
	case err == nil && unpacks(packed, compiled):
		return packed, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(compiled); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	old, err := fs.Glob(os.DirFS(folder), "*.gz") // folder's name may look like a pattern
	if err != nil {
		return nil, err
	}
	if err := wholefile.WriteBytes(kept, 0o644, packed.Bytes()); err != nil {
		return nil, fmt.Errorf("writing %s: %w", kept, err)
	}
	for _, name := range old {
		if name == filepath.Base(kept) {
			continue
		}
		if err := os.Remove(filepath.Join(folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return packed.Bytes(), nil
}

func unpacks(packed, compiled []byte) bool {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return false
	}
	program, err := io.ReadAll(z)
	return err == nil && bytes.Equal(program, compiled)
}
