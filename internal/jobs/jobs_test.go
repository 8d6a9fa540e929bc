package jobs

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/backend"
)

func open(b *backend.Backend) string { return b.ID }

func TestAPoolThatIsClosedRunsNothing(t *testing.T) {
	b, err := backend.Open("go")
	require.NoError(t, err)
	ended := make(chan string, 2)
	pool, err := New(b, 2, open, func(w string) { ended <- w })
	require.NoError(t, err)
	require.NoError(t, pool.Run(t.Context(), func(_ context.Context, w string) error {
		require.Equal(t, "go", w)
		return nil
	}))
	pool.Close()
	pool.Close()
	require.Len(t, ended, 2)
	require.ErrorContains(t, pool.Run(t.Context(), func(context.Context, string) error { return nil }),
		"the pool is closed: expected a new one")
	_, err = New(nil, 2, open, func(string) {})
	require.ErrorContains(t, err, "the backend is closed, or was never opened: open one with backend.Open")
}
