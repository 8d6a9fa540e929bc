package learn

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/hyper"
)

// Estimates were fitted to measurements: measure again when changing them.
func TestEstimatesAreThoseThatWereFitted(t *testing.T) {
	cora := Size{Nodes: 2708, Edges: 10556, Features: 1433, Classes: 7, Sparse: true, Values: 49216}
	dense := cora
	dense.Sparse, dense.Values = false, 0
	for model, want := range map[string][]float64{
		"gin":   {7525440, 52365648, 1507814.4, 7985712, 22539328},
		"gat":   {9889984, 54730192, 1507814.4, 10899168, 25452784},
		"sgat":  {9889984, 54730192, 1507814.4, 8196832, 22750448},
		"gcn":   {7525440, 52365648, 1507814.4, 8196832, 22750448},
		"sage":  {9368640, 54208848, 1507814.4, 7985712, 22539328},
		"gatv2": {11733184, 56573392, 1507814.4, 10899168, 25452784},
	} {
		p, err := hyper.For(model)
		require.NoError(t, err)
		require.InDeltaSlice(t, want, []float64{
			cora.Whole(p, false), dense.Whole(p, true), cora.Pass(p),
			float64(cora.Batch(p, 0)), float64(dense.Batch(p, 1e6)),
		}, 1, model)
	}
}
