package backend

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
)

const pluginFunction = "GetPjrtApi"

// setUp lists plugins that 'make setup' installs: the folder in .nodemask/, the folder in Python's packages if pip may
// install the plugin, and the plugin's SHA-256.
var setUp = map[string]struct{ folder, wheel, sum string }{
	"cpu":  {"pjrt", "lammps_jax_pjrt_cpu", "ad1309ac822b1b24d51b7f9947c7c9fa9ef5d67f390584cbc3d1fa2428fed9c2"},
	"cuda": {"pjrt-cuda", "", "43d3efd6fd43d8a5d9aa67176e830d81e4ad5fc19fda4ad09cdcc4aebd9f3920"},
}

// checkPlugin returns an error unless the file at path has the SHA-256 pin. If pin is "", it checks only that the file
// looks loadable, because truncated libraries would crash the system's loader, and files of other types would crash
// go-xla.
func checkPlugin(path, pin string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", filepath.Base(path))
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if pin != "" {
		return checkSum(f, pin)
	}
	if runtime.GOOS != "linux" {
		return nil
	}
	if why := pluginFault(f, info.Size()); why != "" {
		return fmt.Errorf("%s %s: replace it, or run 'make setup' if that installed it", filepath.Base(path), why)
	}
	return nil
}

// checkSum reads f again only if f has changed, because reading the CPU plugin's 200 MB takes 0.2 s.
func checkSum(f *os.File, pin string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	seen := fmt.Sprint(f.Name(), info.Size(), info.ModTime().UnixNano(), pin)
	if _, ok := checked.Load(seen); ok {
		return nil
	}
	hash := sha256.New()
	if _, err := io.CopyBuffer(hash, struct{ io.Reader }{f}, make([]byte, 1<<20)); err != nil {
		return err
	}
	if sum := hex.EncodeToString(hash.Sum(nil)); sum != pin {
		return fmt.Errorf("%s has SHA-256 %s: expected %s. If you trust it, name its folder in PJRT_PLUGIN_LIBRARY_PATH; "+
			"else remove it and run 'make setup'", filepath.Base(f.Name()), sum, pin)
	}
	checked.Store(seen, true)
	return nil
}

var checked sync.Map

var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

func pluginFault(r io.ReaderAt, size int64) string {
	library, err := elf.NewFile(r) // fails for truncated files: the table of sections is at the end
	if err != nil {
		return fmt.Sprintf("is no shared library, or damaged or cut short (%d bytes; %v)", size, err)
	}
	if machine := machines[runtime.GOARCH]; library.Type != elf.ET_DYN || machine != library.Machine {
		return fmt.Sprintf("is a file of type %s for %s: expected a shared library for %s", library.Type, library.Machine,
			machine)
	}
	symbols, err := library.DynamicSymbols()
	if err != nil {
		return fmt.Sprintf("is damaged: its symbols cannot be read (%v)", err)
	}
	defines := func(s elf.Symbol) bool { return s.Name == pluginFunction && s.Section != elf.SHN_UNDEF }
	if !slices.ContainsFunc(symbols, defines) {
		return "is not a PJRT plugin: it has no function " + pluginFunction
	}
	return ""
}
