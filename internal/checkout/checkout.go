// Package checkout finds the project's folder.
package checkout

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Root returns the nearest folder, up from the working directory, that holds a go.mod, if it is this module's. Tests and
// notebooks run from temporary executables, so the folder of the executable says nothing about them. A folder that is not
// this module's is never returned: what is run from there is code.
func Root() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for folder := here; ; folder = filepath.Dir(folder) {
		if mod, err := os.ReadFile(filepath.Join(folder, "go.mod")); err == nil {
			if line, _, _ := strings.Cut(string(mod), "\n"); strings.TrimSpace(line) == "module nodemask" {
				return folder, nil
			}
			break
		}
		if folder == filepath.Dir(folder) {
			break
		}
	}
	return "", fmt.Errorf("%s is not in a clone of nodemask: run this from a folder of the project", here)
}
