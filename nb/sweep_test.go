package nb

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

func TestAnExperimentStartsFromTheSettingsOfTrain(t *testing.T) {
	x := Experiment("cora", "gcn")
	p, err := hyper.For("gcn")
	require.NoError(t, err)
	assert.Equal(t, record.Cell{Data: "cora", Setting: datasets.Inductive, TrainPercent: 10, Parameters: p}, x)
	assert.Equal(t, x, Experiment(Data("cora"), "gcn"))
	assert.Equal(t, []string{"train", "--data", "cora", "--model", "gcn", "--setting", "inductive", "--train", "10",
		"--trials", "1", "--json"}, x.Arguments(1))
}

func TestLabelsNameWhatDiffersAndALineWhatAllShare(t *testing.T) {
	gin, gcn := Experiment("cora", "gin"), Experiment("cora", "gcn")
	late := gin.Masked(0.5)
	late.Arrivals = datasets.TrainEdges
	labels, shared := described([]record.Cell{gin, gcn.Masked(0.5), gin.Masked(0.9), late})
	assert.Equal(t, []string{"GIN, new nodes arrive with all edges", "GCN + NM, p = 0.5, new nodes arrive with all edges",
		"GIN + NM, p = 0.9, new nodes arrive with all edges", "GIN + NM, p = 0.5, new nodes arrive with train edges"}, labels)
	assert.Equal(t, "All: cora, inductive, 10 % to train on.", shared)
	labels, shared = described([]record.Cell{gin})
	assert.Equal(t, []string{"GIN"}, labels)
	assert.Equal(t, "All: cora, inductive, 10 % to train on, new nodes arrive with all edges.", shared)
}

func TestASweepIsShownAndItsBestTrialSaved(t *testing.T) {
	live := t.TempDir()
	t.Setenv("NODEMASK_LIVE", live)
	t.Setenv("GOMLX_BACKEND", "go")
	const data = "sbm:nodes=60,classes=2"
	var s *Swept
	text := printed(t, func() { s = Sweep(data, []string{"gcn"}, []float64{1, 0.5}, 3) })
	assert.Contains(t, text, "6 of 6 trials run in ")
	assert.Contains(t, text, "All: "+data+", inductive, 10 % to train on, new nodes arrive with all edges, each trial has its "+
		"own split.")
	c := s.chart("gcn")
	require.NoError(t, c.Check())
	assert.Equal(t, []float64{0.5, 1}, c.Series[0].X)
	rows := textOf(s.table())
	require.Len(t, rows, 2)
	assert.Equal(t, []string{"GCN", "0.5"}, rows[0][:2])
	assert.Contains(t, rows[0][5], " to ")
	assert.Equal(t, []string{"–", "–"}, rows[1][4:], "nothing is gained on itself")
	best := s.Best()
	for _, c := range s.all() {
		for _, trial := range s.results.Trials(c) {
			if c.Key() == best.cell.Key() {
				assert.LessOrEqual(t, trial.ValidationF1, best.trial.ValidationF1)
			}
		}
	}
	file := filepath.Join(live, "best.safetensors")
	text = printed(t, func() { best.Save(file) })
	assert.Contains(t, text, "Saved "+best.String())
	assert.NotContains(t, text, "another machine", "run again it gives the same")
	assert.FileExists(t, file)
}
