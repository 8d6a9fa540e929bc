package backend

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"nodemask/internal/memory"
)

// pluginFunction is what every PJRT plugin exports.
const pluginFunction = "GetPjrtApi"

// checkPlugin returns an error unless a file can be loaded as a plugin, as far as its headers tell: the system's loader ends the
// program for a library that was cut short, and go-xla does for what is none.
func checkPlugin(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", filepath.Base(path))
	}
	if runtime.GOOS != "linux" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if why := pluginFault(f, info.Size()); why != "" {
		return fmt.Errorf("%s %s: replace it, or run 'make setup' if that installed it", filepath.Base(path), why)
	}
	return nil
}

// machines are the processors that libraries are compiled for.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// pluginFault says what keeps a file from being a plugin for this machine, or "".
func pluginFault(r io.ReaderAt, size int64) string {
	magic := make([]byte, len(elf.ELFMAG))
	if _, err := r.ReadAt(magic, 0); err != nil || !bytes.Equal(magic, []byte(elf.ELFMAG)) {
		return fmt.Sprintf("is not a shared library (%d bytes)", size)
	}
	library, err := elf.NewFile(r)
	if err != nil {
		return fmt.Sprintf("is damaged or cut short (%d bytes; %v)", size, err)
	}
	if machine := machines[runtime.GOARCH]; library.Type != elf.ET_DYN || machine != library.Machine {
		return fmt.Sprintf("is a file of type %s for %s: expected a shared library for %s", library.Type, library.Machine, machine)
	}
	inside := func(what string, offset, length uint64) string {
		if end := offset + length; end < offset || end > uint64(size) {
			return fmt.Sprintf("is damaged or cut short: it has %d bytes, but %s ends at byte %d", size, what, end)
		}
		return ""
	}
	for i, p := range library.Progs {
		if fault := inside(fmt.Sprintf("segment %d", i), p.Off, p.Filesz); fault != "" && p.Type == elf.PT_LOAD {
			return fault
		}
	}
	for _, s := range library.Sections {
		if fault := inside(fmt.Sprintf("section %.40q", s.Name), s.Offset, s.FileSize); fault != "" && s.Type != elf.SHT_NOBITS {
			return fault
		}
	}
	symbols, err := library.DynamicSymbols()
	if err != nil {
		return fmt.Sprintf("is damaged: its symbols cannot be read (%v)", err)
	}
	if !slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == pluginFunction && s.Section != elf.SHN_UNDEF }) {
		return "is not a PJRT plugin: it has no function " + pluginFunction
	}
	return ""
}

// xlaAddresses is how many bytes of addresses XLA takes before it computes anything, and some for the rest. On two cores, training on Cora
// took 2.5 GB and failed at 2.0 GB; each further core has threads with stacks and heaps of their own.
func xlaAddresses(cores int) int64 { return 3<<30 + int64(max(cores-2, 0))*(200<<20) }

// checkAddresses returns an error if XLA would not find the addresses that it needs: it ends the program then.
func checkAddresses(limit int64, limited bool, cores int) error {
	if need := xlaAddresses(cores); limited && limit < need {
		return fmt.Errorf("this process may have %s of addresses (ulimit -v), and XLA needs %s on %d cores: raise the limit, or take the backend go",
			memory.Text(limit), memory.Text(need), cores)
	}
	return nil
}

// goXLAFolders lists the folders where go-xla's own installer puts plugins, and those of the loader. go-xla finds them by loading
// every file that is named like a plugin, which a damaged one does not survive.
func goXLAFolders() []string {
	var folders []string
	if home, err := os.UserHomeDir(); err == nil {
		if runtime.GOOS == "darwin" {
			folders = append(folders, filepath.Join(home, "Library", "Application Support", "go-xla"))
		}
		folders = append(folders, filepath.Join(home, ".local", "lib", "go-xla"))
	}
	folders = append(folders, "/usr/local/lib/go-xla")
	for _, folder := range filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")) {
		if filepath.IsAbs(folder) {
			folders = append(folders, folder)
		}
	}
	return folders
}
