package ended

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnEndedContextKeepsItsCause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	require.NoError(t, Err(ctx))
	full := errors.New("the disk is full")
	cancel(full)
	require.EqualError(t, Err(ctx), "context canceled: the disk is full")
	require.ErrorIs(t, Err(ctx), full)
	require.ErrorIs(t, Err(ctx), context.Canceled)
	plain, stop := context.WithCancel(t.Context())
	stop()
	require.Equal(t, context.Canceled, Err(plain))
}
