//go:build !js

package lanes

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type section struct {
	id   byte
	data []byte
}

func sections(t *testing.T, module []byte) (all []section) {
	require.Equal(t, "\x00asm\x01\x00\x00\x00", string(module[:8]))
	for rest := module[8:]; len(rest) > 0; {
		id, size, i := rest[0], 0, 1
		for shift := 0; ; shift += 7 {
			size |= int(rest[i]&0x7f) << shift
			if i++; rest[i-1] < 0x80 {
				break
			}
		}
		all, rest = append(all, section{id, rest[i : i+size]}), rest[i+size:]
	}
	return all
}

// The memory is the Go program's: the module's own data or stack would overwrite it.
func TestTheModuleBringsNoMemoryOrData(t *testing.T) {
	module, err := os.ReadFile("lanes.wasm")
	require.NoError(t, err)
	require.Less(t, len(module), 32<<10)
	names := map[byte]string{5: "memory", 8: "start", 9: "elements", 11: "data"}
	for _, s := range sections(t, module) {
		require.Empty(t, names[s.id])
		if s.id == 2 {
			require.Equal(t, "\x01\x03env\x06memory\x02", string(s.data[:13]), "it imports a memory alone")
		}
	}
}

// Compares Go loops and GoMLX's operations with the module.
func TestResultsAreTheSameInWebAssembly(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: it compiles GoMLX for WebAssembly")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skipf("skipped: %v", err)
	}
	// opened so that go test reruns this after a change
	for _, pattern := range []string{"*", "../*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			_, err := os.ReadFile(file)
			require.NoError(t, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 9*time.Minute)
	defer cancel()
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	require.NoError(t, err)
	test := exec.CommandContext(ctx, "go", "test", "-count=1", "-v", "-run", "Hastened|InLanes",
		"-exec", filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "go_js_wasm_exec"),
		"nodemask/nmgnn/internal/kernels/fused")
	for _, v := range os.Environ() { // only a few: wasm_exec.js has room for 8 kB
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "GO") || name == "PATH" || name == "HOME" ||
			strings.HasPrefix(name, "XDG_CACHE") {
			test.Env = append(test.Env, v)
		}
	}
	test.Env = append(test.Env, "GOOS=js", "GOARCH=wasm")
	out, err := test.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: TestHastenedOperationsAreGoMLXsToTheLastBit")
	require.Contains(t, string(out), "--- PASS: TestLoopsAreTheSameToTheLastBitInLanes")
}
