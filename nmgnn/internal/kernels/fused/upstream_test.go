package fused_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProposedPatchesApplyToThePinnedVersions(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skipf("skipped: %v", err)
	}
	folder, err := filepath.Abs("../../../../docs/upstream")
	require.NoError(t, err)
	for patch, module := range map[string]string{"1-gomlx-operation": "gomlx", "2-compute-custom-call": "compute",
		"3-go-xla-custom-call": "go-xla", "4-go-xla-platform": "go-xla", "5-go-xla-compile-for": "go-xla"} {
		list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/gomlx/"+module)
		sources, err := list.Output()
		require.NoError(t, err)
		apply := exec.Command("git", "apply", "--check", filepath.Join(folder, patch+".patch"))
		apply.Dir = strings.TrimSpace(string(sources))
		apply.Env = append(apply.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(apply.Dir))
		text, err := apply.CombinedOutput()
		require.NoError(t, err, "%s: %s", patch, text)
	}
}
