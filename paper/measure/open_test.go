package measure

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/paper/record"
)

func TestDataThatCannotBeOpenedAreNamedBeforeTheFirstTrial(t *testing.T) {
	b, store := openGo(t), record.Open(t.TempDir())
	o, opened := tinyOptions()
	sbm := o.Open
	o.Open = func(ctx context.Context, data string) (*datasets.Graph, error) {
		if data != "sbm" {
			opened.Add(1)
			return nil, errors.New(data + ": not on this machine")
		}
		return sbm(ctx, data)
	}
	cells := tiny()
	for i, data := range []string{"far", "far", "away"} {
		cells[i].Data = data
	}
	o.Progress = func(State) { t.Error("a trial was run") }
	require.EqualError(t, Missing(t.Context(), b, store, append(cells, tiny()...), o),
		"far: not on this machine\naway: not on this machine")
	require.EqualValues(t, 3, opened.Load(), "each is tried once")

	// Cancelling while data are opened is no fault of theirs.
	ctx, cancel := context.WithCancel(t.Context())
	o.Open = func(context.Context, string) (*datasets.Graph, error) { cancel(); return nil, errors.New("far") }
	require.Equal(t, context.Canceled, Missing(ctx, b, store, cells, o))
}
