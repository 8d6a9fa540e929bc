package measure

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

// elsewhere is on a data set that openSome lacks.
func elsewhere() []record.Cell {
	cells := tiny()
	for i := range cells {
		cells[i].Data = "far"
	}
	return cells
}

var errFar = errors.New("far: not on this machine")

// openSome opens only sbm.
func openSome(sbm Opener, counted *atomic.Int32) Opener {
	return func(ctx context.Context, data string) (*datasets.Graph, error) {
		if data != "sbm" {
			counted.Add(1)
			return nil, errFar
		}
		return sbm(ctx, data)
	}
}

func TestUnopenableDataAreNamedFirstAndAllElseRuns(t *testing.T) {
	b, store := openGo(t), record.Open(t.TempDir())
	o, opened := tinyOptions()
	o.Open = openSome(o.Open, opened)
	var said error
	var last State
	o.Progress = func(s State) {
		require.NotNil(t, said, "said before the first trial")
		last = s
	}
	o.Unopened = func(err error) { said = err }
	err := Missing(t.Context(), b, store, append(elsewhere(), tiny()...), o)
	require.ErrorIs(t, err, errFar)
	require.Equal(t, said, err)
	require.EqualError(t, err, "far: not on this machine")
	require.EqualValues(t, 2, opened.Load(), "each is tried once")
	require.Equal(t, 9, last.Done)
	require.Equal(t, 9, last.Total, "what cannot run is not waited for")
	records := loaded(t, store)
	require.Len(t, records, 9)
}

func TestUnopenableDataAreAnErrorAtOnceIfNothingElseIsLeft(t *testing.T) {
	b, store := openGo(t), record.Open(t.TempDir())
	o, opened := tinyOptions()
	o.Seeds, o.Open = hyper.Seeds(1, 1), openSome(o.Open, opened)
	o.Unopened = func(error) { t.Error("said twice") }
	require.NoError(t, Missing(t.Context(), b, store, tiny(), o))
	require.ErrorIs(t, Missing(t.Context(), b, store, append(elsewhere()[:1], tiny()...), o), errFar)

	o.Unopened, o.Seeds = nil, hyper.Seeds(1, 2)
	o.Progress = func(State) { t.Error("a trial was run") }
	require.ErrorIs(t, Missing(t.Context(), b, store, append(elsewhere(), tiny()...), o), errFar)

	// Cancelling while data are opened is no fault of theirs.
	ctx, cancel := context.WithCancel(t.Context())
	o.Open = func(context.Context, string) (*datasets.Graph, error) { cancel(); return nil, errFar }
	require.Equal(t, context.Canceled, Missing(ctx, b, store, tiny(), o))
}
