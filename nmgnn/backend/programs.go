package backend

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"nodemask/internal/checkout"
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
