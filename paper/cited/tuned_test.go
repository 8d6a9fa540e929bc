package cited_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/cited"
	"nodemask/paper/multiverse"
	"nodemask/paper/record"
)

func TestBalancedArmsShareConfigurations(t *testing.T) {
	d := cited.Tuned()
	require.Len(t, d.Questions(), 6*3*2*2)
	require.Len(t, d.Protocol().Questions(), 4*3*2*2, "two were added")
	d.Arms, d.Added = slices.Concat(d.Arms, d.Added), nil // so that all of them come at once
	own := map[string]int{multiverse.ArmPlain: 0, multiverse.ArmMaskedTuned: 8 * 16, multiverse.ArmDropEdge: 4 * 16,
		multiverse.ArmDropout: 4 * 8, multiverse.ArmDropMessage: 4 * 16, multiverse.ArmDropGNN: 4 * 16}
	for _, model := range d.Models {
		q := multiverse.TunedQuestion{Data: "cora", Model: model, Setting: datasets.Inductive, TrainPercent: 10}
		tuned, err := d.Tuned(record.NewResults(nil), q)
		require.NoError(t, err)
		require.Len(t, tuned.Arms, len(own))
		require.Equal(t, []uint64{600, 601, 602}, tuned.Next.Seeds)
		found := map[string]int{}
		for _, c := range tuned.Next.Cells {
			p := c.Parameters
			arm := multiverse.ArmPlain
			switch {
			case p.KeepRate.Active():
				arm = multiverse.ArmMaskedTuned
			case p.Regulariser == hyper.DropEdgeRegulariser:
				arm = multiverse.ArmDropEdge
			case p.Regulariser == hyper.DropMessageRegulariser:
				arm = multiverse.ArmDropMessage
			case p.Regulariser == hyper.DropGNNRegulariser:
				arm = multiverse.ArmDropGNN
			case p.Dropout != 0 && p.Dropout != 0.5:
				arm = multiverse.ArmDropout
			}
			found[arm]++
			require.Zero(t, p.AttentionDropout)
			if model.Name != "gin" {
				continue
			}
			want := hyper.NormBoth
			if model.With == cited.OneLayer {
				want = ""
			}
			require.Equal(t, want, p.Norm, "%s", c.Key())
			require.Equal(t, hyper.DropoutOnScores, p.DropoutOn)
			require.Equal(t, model.With != cited.RawFeatures, p.NormalizeFeatures)
		}
		own[multiverse.ArmPlain] = 16
		require.Equal(t, own, found)
	}
}

func TestSplitsOfTheBalancedComparisonAreNoReadings(t *testing.T) {
	r := trained(t, cited.Cited, "gin", cited.Splits, func(record.Cell, datasets.Arrivals, int) float64 { return 70 })
	more := trained(t, cited.Cited, "gin", 120, func(record.Cell, datasets.Arrivals, int) float64 { return 70 })
	q, err := cited.Question(cited.Cited, "cora", "gin", datasets.Inductive)
	require.NoError(t, err)
	want, err := q.Effects(r)
	require.NoError(t, err)
	found, err := q.Effects(more)
	require.NoError(t, err)
	require.Equal(t, want.Splits, found.Splits)
}
