package gnntest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
)

// CaseFeatures is the number of input features, and of hidden units: a residual connection from the features needs
// equal numbers.
const CaseFeatures = 6

// Case is a test case. Change sets the hyperparameters of the case's model; Name lists the changes.
type Case struct {
	Name   string
	Change func(p *hyper.Parameters)
}

// AllCases combines each model with each option that all models have, then adds cases for options of some models only.
func AllCases(models []string) (all []Case) {
	add := func(name string, change func(p *hyper.Parameters)) { all = append(all, Case{name, change}) }
	for _, model := range models {
		add(model, func(p *hyper.Parameters) {})
		add(model+", 1 layer", func(p *hyper.Parameters) { p.Layers = 1 })
		add(model+", 3 layers, readout last", func(p *hyper.Parameters) { p.Layers, p.Readout = 3, hyper.ReadoutLast })
		add(model+", 3 layers, readout all, residual", func(p *hyper.Parameters) {
			p.Layers, p.Readout, p.Residual = 3, hyper.ReadoutAll, true
		})
		add(model+", residual from features, raw", func(p *hyper.Parameters) {
			p.Layers, p.Hidden, p.Residual, p.NormalizeFeatures = 3, CaseFeatures, true, false
		})
	}
	add("gin, epsilon", func(p *hyper.Parameters) { p.Epsilon = 0.3 })
	add("gin, learned epsilon, 2 linear layers", func(p *hyper.Parameters) {
		p.LearnEpsilon, p.Epsilon, p.MLPLayers = true, -0.25, 2
	})
	add("gin, norm inside, 3 linear layers", func(p *hyper.Parameters) { p.Norm, p.MLPLayers = hyper.NormInside, 3 })
	add("gin, norm both, 2 linear layers, readout all, residual", func(p *hyper.Parameters) {
		p.Norm, p.MLPLayers, p.Readout, p.Residual, p.Layers = hyper.NormBoth, 2, hyper.ReadoutAll, true, 3
	})
	for _, model := range []string{"gat", "gatv2", "sgat"} {
		add(model+", 3 heads, self kept, masked", func(p *hyper.Parameters) {
			p.Heads, p.SelfTerm, p.KeepRate = 3, hyper.SelfKept, 0.5
		})
		add(model+", 1 head", func(p *hyper.Parameters) { p.Heads = 1 })
	}
	for i := range all {
		model, _, _ := strings.Cut(all[i].Name, ",")
		change := all[i].Change
		all[i].Change = func(p *hyper.Parameters) { p.Model, p.Heads, p.Hidden = model, 2, 12; change(p) }
	}
	return all
}

// Model returns the case's model. Weights are multiples of 1/64, equal on all machines.
func (c Case) Model(t testing.TB, features int) *cached.Model {
	t.Helper()
	p, err := hyper.For("gin")
	require.NoError(t, err)
	c.Change(&p)
	require.NoError(t, p.Check(), c.Name)
	m := &cached.Model{Settings: p, Classes: []string{"red", "grün", `"blue"`}, Features: features, Data: "a test", Seed: 7}
	network, err := infer.Untrained(Go(t), nmgnn.Build(p, len(m.Classes)), m.Features, 1)
	require.NoError(t, err)
	for i, w := range network.Weights {
		r := gomlx.HostRandom(uint64(i), c.Name+w.Path)
		for j := range w.Values {
			w.Values[j] = float32(r.IntN(65)-32) / 64
			if strings.HasSuffix(w.Path, "/running_variance") {
				w.Values[j] += 1.5
			}
		}
	}
	m.Weights = network.Weights
	return m
}
