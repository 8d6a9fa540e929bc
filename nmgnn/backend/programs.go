package backend

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"nodemask/internal/checkout"
	"nodemask/nmgnn/internal/programs"
)

// programsVariable is the environment variable that says where compiled programs are kept: "off", or the absolute path
// of a folder.
const programsVariable = "NODEMASK_PROGRAMS"

// keepPrograms has a plugin whose SHA-256 is known take programs from disk that an earlier process compiled. A program
// calls our kernels by name, so it does not depend on how they were built.
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
	folder, err := programs.Open(path)
	if err != nil {
		return err
	}
	context := []string{pin, features()}
	for _, variable := range []string{"XLA_FLAGS", "PJRT_NPROC", "ONEDNN_MAX_CPU_ISA"} {
		context = append(context, variable+"="+os.Getenv(variable))
	}
	return programs.Keep(plugin, folder, []byte(strings.Join(context, "\n")))
}

// programsFolder returns where programs are kept unless the user says otherwise: .nodemask/programs of the clone that
// this program is installed in or was built from, or the user's cache.
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

// writable reports whether this process may make files in a folder.
func writable(folder string) bool {
	f, err := os.CreateTemp(folder, ".try")
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) == nil
}

// features returns the processor's name and the instructions that it has, for which XLA compiles.
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
