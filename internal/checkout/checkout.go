// Package checkout finds the project's folder from where the program was installed or built. It never tries the working
// directory: code in the project's folder is run, and the working directory may be somebody else's.
package checkout

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// built is the path of the project's folder, or "". 'make test' and the notebook kernel set this variable by the
// linker's flag -X, as their programs lie in temporary folders and -trimpath leaves the folder out of source paths.
var built string

// Root returns the clone of this project in which this program is installed, or else the clone from which it was built.
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

// Folders returns where the project may be, best first: the folder whose bin/ or .nodemask/bin/ holds this program,
// then the folder of this program's source code.
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
