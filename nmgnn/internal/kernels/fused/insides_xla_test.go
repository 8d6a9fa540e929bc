//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package fused_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gomlx/go-xla/compute/xla"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/kernels/fused"
)

func openXLA(t *testing.T) *backend.Backend {
	b, err := backend.Open("xla:cpu")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	return b
}

func available(t *testing.T, b *xla.Backend) bool {
	found := false
	_, err := CallOnce(b, func(x *Node) *Node {
		found = fused.Available(x.Graph())
		return Neg(x)
	}, float32(1))
	require.NoError(t, err)
	return found
}

func TestAForeignXLAIsLeftAsItIs(t *testing.T) {
	b := openXLA(t)
	// go-xla loads another name as another plugin, without kernels yet.
	link := filepath.Join(t.TempDir(), "plugin.so")
	require.NoError(t, os.Symlink(b.Plugin, link))
	other, err := xla.New(link)
	require.NoError(t, err)
	defer other.Finalize()
	platform, err := fused.Platform(other)
	require.NoError(t, err)
	require.Equal(t, "cpu", platform, "whatever the file's name")

	require.False(t, available(t, other.(*xla.Backend)))
	require.ErrorContains(t, fused.Register(other, b.Plugin), "the backend's plugin is "+link)
	require.False(t, available(t, other.(*xla.Backend)), "nothing was registered")
	_, err = CallOnce(other, func(x *Node) *Node { return fused.ELU(x, nil) }, [][]float32{{1}})
	require.ErrorContains(t, err, "Intercepted or Register say why")

	require.NoError(t, fused.Register(other, link))
	require.True(t, available(t, other.(*xla.Backend)))
	y, err := CallOnce(other, func(x *Node) *Node { return fused.ELU(x, nil) }, [][]float32{{1}})
	require.NoError(t, err)
	require.Equal(t, [][]float32{{1}}, y.Value())
	require.NoError(t, fused.Register(b.Backend, b.Plugin), "again")
}

func TestPlatformIsXLAs(t *testing.T) {
	b := openXLA(t)
	platform, err := fused.Platform(b.Backend)
	require.NoError(t, err)
	require.Equal(t, "cpu", platform)
	pure, err := backend.Open("go")
	require.NoError(t, err)
	_, err = fused.Platform(pure.Backend)
	require.ErrorContains(t, err, "is not an XLA backend")
}
