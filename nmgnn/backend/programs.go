package backend

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nodemask/internal/checkout"
	"nodemask/internal/wholefile"
)

// An absolute path, or "off".
const programsVariable = "NODEMASK_PROGRAMS"

// keepPrograms needs a plugin with a known SHA-256. Programs call our kernels by name, so they survive a rebuild of the
// kernels.
func keepPrograms(plugin, pin string) error {
	path := os.Getenv(programsVariable)
	if path == "off" {
		return nil
	}
	if path == "" {
		var err error
		if path, err = programsFolder(); err != nil {
			return err
		}
	}
	folder, err := openProgramFolder(path)
	if err != nil {
		return err
	}
	context := []string{pin, features()}
	for _, variable := range []string{"XLA_FLAGS", "PJRT_NPROC", "ONEDNN_MAX_CPU_ISA"} {
		context = append(context, variable+"="+os.Getenv(variable))
	}
	return hookPrograms(plugin, folder, []byte(strings.Join(context, "\n")))
}

// programsFolder returns .nodemask/programs of the program's clone, else the user's cache.
func programsFolder() (string, error) {
	if root, err := checkout.Root(); err == nil {
		setUp := filepath.Join(root, ".nodemask")
		if info, err := os.Stat(setUp); err == nil && info.IsDir() && writable(setUp) {
			return filepath.Join(setUp, "programs"), nil
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for compiled programs: %w: set %s to one, or to off", err, programsVariable)
	}
	return filepath.Join(cache, "nodemask", "programs"), nil
}

func writable(folder string) bool {
	f, err := os.CreateTemp(folder, ".try")
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) == nil
}

// features returns the CPU's name and instructions, on which XLA's code depends.
func features() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(info), "\n\n")
	var kept []string
	for line := range strings.Lines(first) {
		name, value, _ := strings.Cut(line, ":")
		switch name = strings.TrimSpace(name); name {
		case "model name", "flags", "Features", "CPU part":
			kept = append(kept, name+":"+strings.TrimSpace(value))
		}
	}
	return cmp.Or(strings.Join(kept, "\n"), first)
}

const (
	// magic begins each file, before the SHA-256 of the rest.
	magic      = "nodemask program 1\n"
	ending     = ".program"
	longest    = 64 << 20  // bytes of one program
	defaultMax = 200 << 20 // bytes of a folder
)

// programFolder holds programs as files named by the SHA-256 of all they depend on. They are native code: only this
// user may write there, and each file is checked before loading.
type programFolder struct {
	path string
	max  int64 // bytes; above it, least recently used files are removed
}

// openProgramFolder opens the folder at an absolute path, or makes it with mode 0700. A link, or a folder that others
// own or may write to, is an error.
func openProgramFolder(path string) (*programFolder, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("%s: expected an absolute path", path)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if err := private(info); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &programFolder{path, defaultMax}, nil
}

func (f *programFolder) file(key string) string { return filepath.Join(f.path, key+ending) }

// load returns a key's program and whether it exists undamaged, and removes damaged files.
func (f *programFolder) load(key string) ([]byte, bool) {
	path := f.file(key)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > longest || private(info) != nil {
		return nil, false
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, false
	}
	program, whole := unpack(content)
	if !whole {
		_ = os.Remove(path) // it will be recompiled
		return nil, false
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // marks it as used
	return program, true
}

func unpack(content []byte) (program []byte, whole bool) {
	rest, ok := bytes.CutPrefix(content, []byte(magic))
	if !ok || len(rest) < sha256.Size {
		return nil, false
	}
	sum := sha256.Sum256(rest[sha256.Size:])
	return rest[sha256.Size:], bytes.Equal(sum[:], rest[:sha256.Size])
}

// save keeps a program, and removes the least recently used ones from a full folder.
func (f *programFolder) save(key string, program []byte) error {
	if len(program)+len(magic)+sha256.Size > longest {
		return fmt.Errorf("a program of %d bytes: at most %d are kept", len(program), longest)
	}
	sum := sha256.Sum256(program)
	err := wholefile.Write(f.file(key), 0o600, func(w io.Writer) error {
		var errs []error
		for _, part := range [][]byte{[]byte(magic), sum[:], program} {
			_, err := w.Write(part)
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	})
	if err != nil {
		return err
	}
	return f.prune()
}

func (f *programFolder) prune() error {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return err
	}
	var kept []fs.FileInfo
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && filepath.Ext(entry.Name()) == ending && info.Mode().IsRegular() {
			kept = append(kept, info)
		}
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var total int64
	for _, info := range kept {
		if total += info.Size(); total > f.max {
			if err := os.Remove(filepath.Join(f.path, info.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// programKey returns the SHA-256 of all parts, each preceded by its length.
func programKey(parts ...[]byte) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d\n", len(part))
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))
}
