// Package checkout finds the project's folder. Code is run and loaded from there, so the folder depends on where the
// program was installed or built, and never on the working directory.
package checkout

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// built is the project's folder for programs that are built with -trimpath into temporary folders, as 'make test' and
// the kernel of notebooks do: the linker's flag -X sets it. So the clone's path is in no compiled package, and packages
// compiled once serve everything, also after the clone has moved.
var built string

// Root returns the clone of the project that this program is installed in, or else was built from. Tests and notebook
// cells are built into temporary folders: the linker, or else their source, says where they come from. Programs built
// with -trimpath alone say so by their place.
func Root() (string, error) {
	for _, folder := range Folders() {
		mod, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		if err != nil {
			continue
		}
		if line, _, _ := strings.Cut(string(mod), "\n"); strings.TrimSpace(line) == "module nodemask" {
			return folder, nil
		}
	}
	return "", errors.New("this program is not in the bin/ of a clone of nodemask, and the one that it was built from " +
		"is gone: run 'make build' in a clone, and its bin/nodemask")
}

// Folders lists where the project may be, best first: the folder whose bin/ or .nodemask/bin/ holds the executable, and
// that of the source it was built from.
func Folders() []string {
	var folders []string
	if executable, err := os.Executable(); err == nil {
		if folder := installed(executable); folder != "" {
			folders = append(folders, folder)
		}
	}
	source := built
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		source = filepath.Dir(filepath.Dir(filepath.Dir(file)))
	}
	if source != "" && !slices.Contains(folders, source) {
		folders = append(folders, source)
	}
	return folders
}

// installed returns the folder whose bin/ or .nodemask/bin/ holds the executable, links resolved; else "".
func installed(executable string) string {
	if resolved, err := filepath.EvalSymlinks(executable); err == nil {
		executable = resolved
	}
	bin := filepath.Dir(executable)
	if filepath.Base(bin) != "bin" {
		return ""
	}
	folder := filepath.Dir(bin)
	if filepath.Base(folder) == ".nodemask" {
		return filepath.Dir(folder)
	}
	return folder
}
