package record

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
)

func TestKeysSayWhatDiffersFromThePreset(t *testing.T) {
	c := NewCell("cora", "gat", datasets.Inductive, 10)
	require.Equal(t, "cora/gat/inductive/10%", c.Key())
	require.Equal(t, "cora/gat/inductive/10%/keep=0.5", c.Masked(0.5).Key(), "masking takes attention dropout away by itself")
	require.Equal(t, "cora/gat/inductive/10%/attention-dropout=0", c.fair().Key())
	require.Equal(t, "cora/gat/inductive/10%/keep=0.5/attention-dropout=0.6",
		c.Masked(0.5).With(func(s *hyper.Parameters) { s.AttentionDropout = 0.6 }).Key())
	c.Arrivals, c.Resplit = datasets.TrainEdges, true
	require.Equal(t, "cora/gat/inductive/10%/arrivals=train-edges/resplit=true/layers=4/stop=f1",
		c.With(func(s *hyper.Parameters) { s.Layers, s.StopOn = 4, hyper.StopOnF1 }).Key())
}

func TestEveryCellOfEveryArtifactCanBeTrainedAndHasAKeyOfItsOwn(t *testing.T) {
	byKey := map[string]Cell{}
	ids := map[string]bool{}
	for _, a := range Artifacts() {
		require.False(t, ids[a.ID], "%s twice", a.ID)
		ids[a.ID] = true
		require.NotEmpty(t, a.Cells(), a.ID)
		for _, row := range a.Rows {
			require.Len(t, row.Labels, len(a.Labels), a.ID)
			require.Len(t, row.Entries, len(a.Columns), "%s: %v", a.ID, row.Labels)
		}
		for _, c := range a.Cells() {
			require.NoError(t, c.Settings.Check(), c.Key())
			known, is := byKey[c.Key()]
			if is {
				known.Cached, known.History = c.Cached, c.History
				require.Equal(t, known, c, "one key, one cell")
			}
			byKey[c.Key()] = c
			require.False(t, c.Cached && c.Setting == datasets.Transductive, "%s: nothing arrives there", c.Key())
		}
	}
	for _, id := range []string{"table-gat", "table-mad", "table-gin-cora", "table-gin-pubmed", "table-gin-reddit", "table-scale-cora", "table-scale-pubmed",
		"fig-keep-rate-gin", "fig-keep-rate-gat", "fig-depth", "fig-loss-cora", "fig-loss-pubmed", "table-when"} {
		require.True(t, ids[id], id)
	}
}

func TestOnlyWhatCannotBeHadHereIsLeftOutUnlessAskedFor(t *testing.T) {
	all, err := Find()
	require.NoError(t, err)
	for _, a := range all {
		for _, c := range a.Cells() {
			require.False(t, strings.HasPrefix(c.Data, "reddit"), a.ID)
		}
	}
	found, err := Find("table-gin-reddit", "table-mad")
	require.NoError(t, err)
	require.Equal(t, "table-gin-reddit", found[0].ID)
	_, err = Find("table-9")
	require.ErrorContains(t, err, `no artifact "table-9": known are table-gat, `)
}

func TestSharedCellsAreRunOnceWithAllThatIsToBeMeasured(t *testing.T) {
	plain := NewCell("cora", "gin", datasets.Inductive, 10)
	cached, history := plain, plain
	cached.Cached, history.History = true, true
	other := plain.Masked(0.5)
	merged := merge([]Cell{plain, other, cached, history})
	require.Len(t, merged, 2)
	require.True(t, merged[0].Cached && merged[0].History)
	require.Equal(t, other, merged[1])
}

func TestPublishedNumbersStandWhereThePaperHasThem(t *testing.T) {
	at := func(id string, row, column int) float64 {
		found, err := Find(id)
		require.NoError(t, err)
		require.NotNil(t, found[0].Rows[row].Entries[column].Published, "%s %d %d", id, row, column)
		return *found[0].Rows[row].Entries[column].Published
	}
	require.Equal(t, 40.74, at("table-gat", 0, 0), "GAT, inductive, 10 %")
	require.Equal(t, 87.22, at("table-gat", 13, 5), "SGAT + NM, transductive, 90 %")
	require.Equal(t, 0.57, at("table-mad", 8, 1), "GAT + NM, class probabilities, transductive")
	require.Equal(t, 86.61, at("table-gin-pubmed", 6, 3))
	require.Equal(t, 919.0, at("table-scale-cora", 6, 5))
	require.Equal(t, 85.87, at("table-scale-pubmed", 6, 3))
	found, err := Find("table-gat-citeseer")
	require.NoError(t, err)
	for _, row := range found[0].Rows {
		for _, e := range row.Entries {
			require.Nil(t, e.Published, "the paper omits CiteSeer")
		}
	}
}
