package judge_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
)

func TestBalancedArmsShareConfigurations(t *testing.T) {
	d := judge.BalancedDesign()
	require.Len(t, d.Questions(), 6*3*2*2)
	require.Len(t, d.Protocol().Questions(), 4*3*2*2, "two were added")
	own := map[string]int{judge.ArmPlain: 0, judge.ArmMaskedTuned: 8 * 16, judge.ArmDropEdge: 4 * 16,
		judge.ArmDropout: 4 * 8, judge.ArmDropGNN: 4 * 16}
	for _, model := range d.Models {
		q := judge.TunedQuestion{Data: "cora", Model: model, Setting: datasets.Inductive, TrainPercent: 10}
		tuned, err := d.Tuned(record.NewResults(nil), q)
		require.NoError(t, err)
		require.Len(t, tuned.Arms, len(own))
		require.Equal(t, []uint64{600, 601, 602}, tuned.Next.Seeds)
		found := map[string]int{}
		for _, c := range tuned.Next.Cells {
			p := c.Parameters
			arm := judge.ArmPlain
			switch {
			case p.KeepRate.Active():
				arm = judge.ArmMaskedTuned
			case p.Regulariser == hyper.DropEdgeRegulariser:
				arm = judge.ArmDropEdge
			case p.Regulariser == hyper.DropGNNRegulariser:
				arm = judge.ArmDropGNN
			case p.Dropout != 0 && p.Dropout != 0.5:
				arm = judge.ArmDropout
			}
			found[arm]++
			require.Zero(t, p.AttentionDropout)
			if model.Name != "gin" {
				continue
			}
			want := hyper.NormBoth
			if model.With == judge.OneLayer {
				want = ""
			}
			require.Equal(t, want, p.Norm, "%s", c.Key())
			require.Equal(t, hyper.DropoutOnScores, p.DropoutOn)
			require.Equal(t, model.With != judge.RawFeatures, p.NormalizeFeatures)
		}
		own[judge.ArmPlain] = 16
		require.Equal(t, own, found)
	}
}

func TestSplitsOfTheBalancedComparisonAreNoReadings(t *testing.T) {
	r := trained(t, judge.Cited, "gin", judge.Splits, func(record.Cell, datasets.Arrivals, int) float64 { return 70 })
	more := trained(t, judge.Cited, "gin", 120, func(record.Cell, datasets.Arrivals, int) float64 { return 70 })
	q, err := judge.QuestionOf(judge.Cited, "cora", "gin", datasets.Inductive)
	require.NoError(t, err)
	want, _, err := q.Effects(r)
	require.NoError(t, err)
	found, _, err := q.Effects(more)
	require.NoError(t, err)
	require.Equal(t, want, found)
}
