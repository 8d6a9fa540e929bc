package record

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
)

func TestKeysSayWhatDiffersFromThePreset(t *testing.T) {
	c := NewCell("cora", "gat", datasets.Inductive, 10)
	require.Equal(t, "cora/gat/inductive/10%", c.Key())
	require.Equal(t, "cora/gat/inductive/10%/keep=0.5", c.Masked(0.5).Key(),
		"masking takes attention dropout away by itself")
	require.Equal(t, "cora/gat/inductive/10%/attention-dropout=0", c.Fair().Key())
	require.Equal(t, "cora/gat/inductive/10%/keep=0.5/attention-dropout=0.6",
		c.Masked(0.5).With(func(p *hyper.Parameters) { p.AttentionDropout = 0.6 }).Key())
	require.Equal(t, "cora/gat/inductive/10%/keep=0.5/self=kept/readout=all/residual=true",
		c.Masked(0.5).With(func(p *hyper.Parameters) {
			p.SelfTerm, p.Readout, p.Residual = hyper.SelfKept, hyper.ReadoutAll, true
		}).Key())
	c.Arrivals, c.Resplit = datasets.TrainEdges, true
	require.Equal(t, "cora/gat/inductive/10%/arrivals=train-edges/resplit=true/layers=4/stop=f1",
		c.With(func(p *hyper.Parameters) { p.Layers, p.StopOn = 4, hyper.StopOnF1 }).Key())
}

func TestLabelsSayWhatSetsCellsApart(t *testing.T) {
	gin := NewCell("cora", "gin", datasets.Inductive, 10)
	for want, c := range map[string]Cell{
		"GIN":               gin,
		"GIN + NM":          gin.Masked(0.5),
		"GIN + NM, p = 0.9": gin.Masked(0.9),
		"GAT, attention dropout 0": NewCell("cora", "gat", datasets.Inductive, 10).
			With(func(p *hyper.Parameters) { p.AttentionDropout = 0 }),
		"GraphSAGE + NM, layers 4": NewCell("cora", "sage", datasets.Inductive, 10).Masked(0.5).
			With(func(p *hyper.Parameters) { p.Layers = 4 }),
		"GIN, regulariser dropedge:0.5": gin.
			With(func(p *hyper.Parameters) { p.Regulariser, p.RegulariserRate = hyper.DropEdgeRegulariser, 0.5 }),
	} {
		require.Equal(t, want, c.Label(NewCell("cora", c.Parameters.Model, datasets.Inductive, 10), 0.5))
	}
	require.Equal(t, "GIN + NM, p = 0.5", gin.Masked(0.5).Label(gin, 0.9), "another keep rate is the usual one")
	two := gin.With(func(p *hyper.Parameters) { p.MLPLayers = 2 })
	require.Equal(t, "GIN", two.Label(two, 0.5))
	require.Equal(t, "GIN, mlp 1", gin.Label(two, 0.5), "the preset is a choice where something else is usual")
}

func TestCommandsAreForAShellWhateverTheDataAreCalled(t *testing.T) {
	for _, data := range []string{"cora", "sbm:nodes=90,classes=3", "my graph", "it's", "$(exit 3)", "a;b", "-x", "~",
		"two\nlines", "größe", ""} {
		c := NewCell(data, "gin", datasets.Inductive, 10).Masked(0.5)
		out, err := exec.Command("sh", "-c", "set -- "+c.Command(10)+`; for word; do printf '%s\0' "$word"; done`).Output()
		require.NoError(t, err, data)
		words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		require.Equal(t, []string{"nodemask", "train", "--data", data, "--model", "gin", "--setting", "inductive", "--train",
			"10", "--trials", "10",
			"--keep-rate", "0.5", "--json"}, words)
	}
	require.Contains(t, NewCell("cora", "gin", datasets.Inductive, 10).Command(10), "--data cora ",
		"words that need no quotes have none")
}

func TestACellOfAMisspeltModelIsAnErrorThatNamesThem(t *testing.T) {
	err := NewCell("cora", "gni", datasets.Inductive, 10).Parameters.Check()
	require.ErrorContains(t, err, `no model "gni": expected one of gin, gat`)
}
