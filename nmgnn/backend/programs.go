//go:build cgo && linux

package backend

import (
	"bytes"
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
	"syscall"
	"time"

	"nodemask/internal/checkout"
	"nodemask/internal/wholefile"
)

const programsVariable = "NODEMASK_PROGRAMS"

// keepPrograms makes XLA keep compiled programs on disk. pin is the plugin's SHA-256. Programs call our kernels by
// name, so they stay valid when kernels are rebuilt.
func keepPrograms(plugin, pin string) error {
	if os.Getenv(programsVariable) == "off" {
		return nil
	}
	folder, err := openPrograms()
	if err != nil {
		return err
	}
	// The code that XLA compiles depends on the CPU's name and instructions.
	context := append(cpuinfo("model name", "flags", "Features", "CPU part"), pin)
	for _, variable := range []string{"XLA_FLAGS", "PJRT_NPROC", "ONEDNN_MAX_CPU_ISA"} {
		context = append(context, variable+"="+os.Getenv(variable))
	}
	return hookPrograms(plugin, folder, []byte(strings.Join(context, "\n")))
}

func openPrograms() (f *programFolder, err error) {
	var paths []string
	if path := os.Getenv(programsVariable); path != "" {
		paths = []string{path}
	} else {
		root, _ := checkout.Root()
		if setUp := filepath.Join(root, ".nodemask"); isFolder(setUp) {
			paths = append(paths, filepath.Join(setUp, "programs"))
		}
		if cache, err := os.UserCacheDir(); err == nil {
			paths = append(paths, filepath.Join(cache, "nodemask", "programs"))
		}
	}
	err = fmt.Errorf("no folder for compiled programs: set %s to one, or to off", programsVariable)
	for _, path := range paths {
		if f, err = openProgramFolder(path); err == nil {
			return f, nil
		}
	}
	return nil, err
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return filepath.IsAbs(path) && err == nil && info.IsDir()
}

const (
	ending     = ".program"
	longest    = 64 << 20  // largest size of a compiled program in bytes
	defaultMax = 200 << 20 // largest total size of a folder's programs in bytes
)

// programFolder holds compiled programs. Each file is named by the SHA-256 of all that its program depends on. Programs
// are native code, so only this user may write to the folder, and each file is checked before loading.
type programFolder struct {
	path string
	max  int64
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
	if len(content) < sha256.Size || sha256.Sum256(content[sha256.Size:]) != [sha256.Size]byte(content[:sha256.Size]) {
		_ = os.Remove(path)
		return nil, false
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now)
	return content[sha256.Size:], true
}

// save writes a program, and removes the least recently used programs from a full folder.
func (f *programFolder) save(key string, program []byte) error {
	sum := sha256.Sum256(program)
	err := wholefile.Write(f.file(key), 0o600, func(w io.Writer) error {
		_, err := io.Copy(w, io.MultiReader(bytes.NewReader(sum[:]), bytes.NewReader(program)))
		return err
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

func programKey(parts ...[]byte) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d\n", len(part))
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func private(info fs.FileInfo) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		return errors.New("it is a link")
	}
	if info.Mode().Perm()&0o022 != 0 {
		return errors.New("others may write to it")
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != os.Geteuid() {
		return errors.New("it belongs to another user")
	}
	return nil
}
