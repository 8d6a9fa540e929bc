package evidence

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/internal/cited"
	"nodemask/internal/multiverse"
	"nodemask/nmgnn/hyper"
	"nodemask/paper"
	"nodemask/record"
)

func TestReadingsWereRunUnderTheProtocolAsItStands(t *testing.T) {
	all, err := record.OpenTrajectories("../../results/multiverse", "").Load()
	require.NoError(t, err)
	if len(all) == 0 {
		t.Skip("skipped: no readings are recorded yet")
	}
	versions := map[string]bool{}
	for _, one := range all {
		require.Equal(t, paper.ProtocolHash(), one.Protocol,
			"%s on %s: rules that came later than results cannot have been fixed before", one.Model, one.Data)
		versions[one.Version] = true
	}
	require.Len(t, versions, 1, "all of one version")
}

func TestPublishedPlainColumnsAreTheTables(t *testing.T) {
	for _, c := range []struct {
		model   string
		setting datasets.Setting
		size    int
		want    float64
	}{{"gin", datasets.Inductive, 10, 52.91}, {"gin", datasets.Transductive, 90, 86.67},
		{"gat", datasets.Inductive, 25, 74.12}, {"sgat", datasets.Transductive, 50, 87.32}} {
		got, found := PublishedPlain(c.model)(c.setting, c.size)
		require.True(t, found)
		require.Equal(t, c.want, got)
	}
	for _, model := range []string{"gin", "gat", "gcn"} {
		_, found := PublishedPlain(model)(datasets.Inductive, 11)
		require.False(t, found)
	}
	_, found := PublishedPlain("gcn")(datasets.Inductive, 10)
	require.False(t, found)
}

func TestTheFigureOnDepthHasTheBodyThatTrainsBestWithoutMasking(t *testing.T) {
	all, err := record.OpenTrajectories("../../results/multiverse", "").Load()
	require.NoError(t, err)
	results, err := multiverse.NewResults(all)
	require.NoError(t, err)
	depth, err := results.Depth("cora")
	require.NoError(t, err)
	require.Equal(t, "two, norm inside, all layers", depth.Chosen)
	cell := depthCell(datasets.Transductive, 16)
	require.Equal(t, []any{2, hyper.NormInside, hyper.ReadoutAll, hyper.StopOnF1}, []any{cell.Parameters.MLPLayers,
		cell.Parameters.Norm, cell.Parameters.Readout, cell.Parameters.StopOn})
}

func TestTablesAreInTheCitedReading(t *testing.T) {
	for _, model := range cited.Models() {
		for _, setting := range datasets.Settings() {
			q, err := cited.Question(cited.Cited, "cora", model, setting)
			require.NoError(t, err)
			first := make(multiverse.Reading, len(q.Axes))
			for arm, keep := range map[multiverse.Arm]hyper.KeepRate{multiverse.Plain: 1,
				multiverse.Masked: paper.MaskedKeepRate} {
				want, err := first.Cell(q.Axes, arm, "cora", model, setting, 10)
				require.NoError(t, err)
				c := resplit(paper.Cell("cora", model, setting, 10))
				if keep.Active() {
					c = paper.Masked(c, keep)
				}
				require.Equal(t, want.Key(), c.Key())
			}
		}
	}
}
