package backend

import (
	"testing"

	"github.com/gomlx/compute/gobackend"
	"github.com/stretchr/testify/require"
)

func TestABackendThatSomebodyElseOpenedIsAdopted(t *testing.T) {
	pureGo, err := gobackend.New("ops_sequential")
	require.NoError(t, err)
	b, err := Adopt(pureGo)
	require.NoError(t, err)
	require.Equal(t, "go", b.ID)
	require.NoError(t, b.KernelsLost)
	b.Finalize()
	_, err = Adopt(nil)
	require.ErrorContains(t, err, "the backend is nil")

	opened, err := Open("xla:cpu")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	defer opened.Finalize()
	b, err = Adopt(opened.Backend)
	require.NoError(t, err)
	require.Equal(t, opened.ID, b.ID)
	require.Equal(t, opened.Plugin, b.Plugin)
	require.Equal(t, "fused", b.Kernel())
}
