package nmgnn_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn"
	"nodemask/nmgnn/hyper"
)

func TestBuildMakesTheModelThatTheParametersDescribe(t *testing.T) {
	built := func(model string, change func(p *hyper.Parameters)) nmgnn.Model {
		p, err := hyper.For(model)
		require.NoError(t, err)
		p.AttentionDropout = 0
		change(&p)
		require.NoError(t, p.Check())
		m := nmgnn.Build(p, 7)
		m.Activation = nil // functions cannot be compared
		return m
	}
	require.Equal(t, nmgnn.Model{Dropout: 0.5, Layers: []nmgnn.Layer{nmgnn.GIN{Width: []int{64}},
		nmgnn.GIN{Width: []int{7}}}},
		built("gin", func(*hyper.Parameters) {}))
	require.Equal(t, nmgnn.Model{Dropout: 0.5, Layers: []nmgnn.Layer{nmgnn.GIN{Width: []int{64, 64}, Norm: true},
		nmgnn.GIN{Width: []int{64, 7}, Norm: true}}},
		built("gin", func(p *hyper.Parameters) { p.MLPLayers, p.Norm = 2, hyper.NormInside }), "logits are not normalised")
	require.Equal(t, nmgnn.Model{Dropout: 0.5, Norm: true, Residual: true, Readout: nmgnn.Readout{Classes: 7, All: true},
		Layers: []nmgnn.Layer{nmgnn.GIN{Width: []int{64, 64}, Norm: true}, nmgnn.GIN{Width: []int{64, 64}, Norm: true}}},
		built("gin", func(p *hyper.Parameters) {
			p.MLPLayers, p.Norm, p.Readout, p.Residual = 2, hyper.NormBoth, hyper.ReadoutAll, true
		}), "all layers are hidden")
	require.Equal(t, nmgnn.Model{Dropout: 0.6, Readout: nmgnn.Readout{Classes: 7},
		Layers: []nmgnn.Layer{nmgnn.GAT{Heads: 8, Width: 8, KeepSelf: true}, nmgnn.GAT{Heads: 8, Width: 8, KeepSelf: true}}},
		built("gat", func(p *hyper.Parameters) { p.SelfTerm, p.Readout = hyper.SelfKept, hyper.ReadoutLast }),
		"all layers have all heads")
	kept := func(p *hyper.Parameters) { p.SelfTerm = hyper.SelfKept }
	require.Equal(t, nmgnn.GATv2{Heads: 1, Width: 7, KeepSelf: true}, built("gatv2", kept).Layers[1])
	require.Equal(t, nmgnn.SGAT{Heads: 1, Width: 7, KeepSelf: true}, built("sgat", kept).Layers[1])
}

func TestEveryModelHasAConstructorOfItsOwn(t *testing.T) {
	kinds := map[string]bool{}
	for _, model := range hyper.Models() {
		p, err := hyper.For(model)
		require.NoError(t, err)
		kinds[fmt.Sprintf("%T", nmgnn.Build(p, 7).Layers[0])] = true
	}
	require.Len(t, kinds, len(hyper.Models()))
}

func TestLayersThatNoModelCanHaveAreRefused(t *testing.T) {
	for says, l := range map[string]nmgnn.Layer{
		"layer 1 is nil": nil,
		"layer 1: widths []: expected at least 1 each":    nmgnn.GIN{},
		"layer 1: widths [3 0]: expected at least 1 each": nmgnn.GIN{Width: []int{3, 0}},
		"layer 1: widths [-1]: expected at least 1 each":  nmgnn.SAGE{Width: -1},
		"layer 1: widths [0]: expected at least 1 each":   nmgnn.GCN{},
		"layer 1: -2 heads: expected 1 or more; 0 is":     nmgnn.GAT{Heads: -2, Width: 1},
		"layer 1: dropout 1.5: expected a probability":    nmgnn.GATv2{Width: 1, Dropout: 1.5},
		"layer 1: dropout -3: expected a probability":     nmgnn.SGAT{Width: 1, Dropout: -3},
	} {
		m := nmgnn.Model{Layers: []nmgnn.Layer{nmgnn.GCN{Width: 2}, l}}
		require.ErrorContains(t, m.Check(), says)
	}
	m := nmgnn.Model{Layers: []nmgnn.Layer{nmgnn.GCN{Width: 2}}, Readout: nmgnn.Readout{Classes: -1}}
	require.ErrorContains(t, m.Check(), "a readout of -1 classes")
}
