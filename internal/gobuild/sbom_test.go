package gobuild

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/internal/checkout"
)

type parts struct {
	Components []struct {
		Name, Version string
		Components    []struct {
			Name   string
			Hashes []struct{ Alg, Content string }
		}
	}
}

func TestThePartsOfAllThatIsBuiltAndLoadedAreListed(t *testing.T) {
	if os.Getenv("NODEMASK_TORTURE") == "" {
		t.Skip("skipped: it compiles the program that writes the lists; NODEMASK_TORTURE=1 runs it")
	}
	root, err := checkout.Root()
	require.NoError(t, err)
	folder, err := os.MkdirTemp(filepath.Join(root, "bin"), "parts-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	file := filepath.Join(folder, "nodemask")
	if err := os.Link(filepath.Join(root, "bin", "nodemask"), file); err != nil {
		t.Skip("bin/nodemask is not built, or is on another disk: ", err)
	}
	said, err := exec.Command(filepath.Join(root, "scripts", "sbom.sh"), folder).CombinedOutput()
	require.NoError(t, err, string(said))
	listed := func(name string) (p parts, versions map[string]string) {
		text, err := os.ReadFile(filepath.Join(folder, name+".cdx.json"))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &p))
		versions = map[string]string{}
		for _, c := range p.Components {
			versions[c.Name] = c.Version
		}
		return p, versions
	}
	_, command := listed("nodemask")
	linked, err := buildinfo.ReadFile(file)
	require.NoError(t, err)
	for _, module := range linked.Deps {
		require.Equal(t, module.Version, command[module.Path], module.Path)
	}
	_, page := listed("nodemask-wasm")
	for _, module := range []string{"github.com/gomlx/gomlx", "github.com/gomlx/compute"} {
		require.NotEmpty(t, page[module])
		require.Equal(t, command[module], page[module])
	}
	require.NotContains(t, page, "github.com/gomlx/go-xla", "no page loads a plugin")
	content, err := os.ReadFile(filepath.Join(root, ".nodemask", "pjrt", "pjrt_c_api_cpu_plugin.so"))
	if err != nil {
		t.Skip("XLA is not set up: ", err)
	}
	plugin, _ := listed("plugin")
	require.Equal(t, fmt.Sprintf("%x", sha256.Sum256(content)), plugin.Components[0].Components[0].Hashes[0].Content)
	requirements, err := os.ReadFile(filepath.Join(root, "scripts", "pjrt-cpu.requirements.txt"))
	require.NoError(t, err)
	require.Contains(t, string(requirements), plugin.Components[0].Name+"=="+plugin.Components[0].Version)
}
