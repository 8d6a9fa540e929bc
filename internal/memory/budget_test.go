package memory

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestABudgetGrowsWithTheFile(t *testing.T) {
	small, large := NewBudget(1000), NewBudget(1<<20)
	require.NoError(t, small.Take(anyway))
	require.NoError(t, small.Take(64_000))
	require.ErrorContains(t, small.Take(1),
		"its content takes more than 268 MB of memory, too much for a file of 1000 bytes")
	require.NoError(t, large.Take(anyway+1))
	require.Error(t, large.Take(1<<62), "no sum overflows")
	require.Error(t, large.Take(-1))
}

func TestWhatThisProcessMayNotHaveIsRefused(t *testing.T) {
	require.NoError(t, Fits(1))
	require.ErrorContains(t, Fits(1<<60), "of memory more, and")
	b := NewBudget(1 << 50)
	require.ErrorContains(t, b.Take(1<<55), "of memory more, and")
}
