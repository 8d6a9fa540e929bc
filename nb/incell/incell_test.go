package incell

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nb"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/train"
)

func TestTrialsOfAnExperimentComeBack(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "go")
	p, err := hyper.Preset("standard")
	require.NoError(t, err)
	p.Hidden, p.MaxEpochs = 8, 3
	results := Train(2, train.Experiment{Graph: nb.Data("sbm:nodes=90,classes=3"), Parameters: p,
		Setting: datasets.Transductive, TrainPercent: 20, SplitSeed: 1})
	require.Len(t, results, 2)
	for i, r := range results {
		assert.EqualValues(t, i+1, r.Seed)
		assert.NotEmpty(t, r.Weights)
	}
}

func TestAnEmbeddingHasEveryNodeInTheColourOfItsClass(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "go")
	p, err := hyper.Preset("standard")
	require.NoError(t, err)
	p.Hidden, p.MaxEpochs, p.Layers = 8, 3, 3
	x := train.Experiment{Graph: nb.Data("sbm:nodes=90,classes=3"), Parameters: p.WithMasking(0.5),
		Setting: datasets.Inductive, Arrivals: datasets.AllEdges, TrainPercent: 20, SplitSeed: 1}
	b := Backend()
	r, err := x.Run(t.Context(), b, hyper.Seeds(1, 1), train.RunOptions{})
	require.NoError(t, err)
	c := embedding(t.Context(), b, x, r[0])
	require.NoError(t, c.Check())
	require.Len(t, c.Series, 3)
	points := 0
	for i, s := range c.Series {
		assert.Equal(t, x.Graph.Classes[i], s.Name)
		assert.True(t, s.Scattered)
		points += len(s.X)
	}
	assert.Equal(t, 90, points)
	assert.Regexp(t, `^GIN \+ NM, 3 layers on sbm: MAD 0\.\d\d, macro F1 \d+\.\d %$`, c.Title)
	assert.Regexp(t, `^first principal component \(\d+ % of the variance\)$`, c.XLabel)
}

func TestAccuracyIsByTheNeighboursInTheTrainSet(t *testing.T) {
	g := nb.Data("sbm:nodes=90,classes=3")
	s, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: 20, Seed: 500})
	require.NoError(t, err)
	counts := make([]int, 5)
	for i, class := range classesOf(g, s) {
		counts[class]++
		n := 0
		for _, u := range g.Edges.Neighbours(s.Test[i]) {
			for _, v := range s.Train {
				if u == v {
					n++
				}
			}
		}
		assert.Equal(t, []int{0, 1, 2, 3, 3, 4, 4}[min(n, 6)], class, "%d neighbours", n)
	}
	t.Setenv("GOMLX_BACKEND", "go")
	table, err := byTrainNeighbours(t.Context(), "sbm:nodes=90,classes=3", "gin", datasets.Inductive, 20, 2)
	require.NoError(t, err)
	require.NoError(t, table.Check())
	require.Len(t, table.Rows, 5)
	assert.Equal(t, []string{"0", "1", "2", "3 to 4", "5 and more"},
		[]string{table.Rows[0][0].Text, table.Rows[1][0].Text, table.Rows[2][0].Text, table.Rows[3][0].Text,
			table.Rows[4][0].Text})
	_, err = byTrainNeighbours(t.Context(), "sbm:nodes=90,classes=3", "gcn", datasets.Inductive, 20, 2)
	require.ErrorContains(t, err, "gcn")
}

func TestNormsAreMeanLengthsByLayerInTrainingAndInTesting(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "go")
	table := normsByLayer(t.Context(), "sbm:nodes=60,classes=3", "gin", datasets.Transductive, 20)
	assert.Equal(t, []string{"reading", "masking", "layer 1", "layer 2", "logits"}, table.Header)
	var rows []string
	for _, row := range table.Rows {
		rows = append(rows, row[0].Text+", "+row[1].Text)
		for _, f := range row[2:] {
			assert.Regexp(t, `^\S+ → \S+ \(× \d+\.\d\)$`, f.Text)
		}
	}
	assert.Equal(t, []string{"the cited reading, none", "the cited reading, p = 0.5", "rescale: yes, p = 0.5",
		"body: no normalisation, none", "body: no normalisation, p = 0.5",
		"body: no normalisation; rescale: yes, p = 0.5"}, rows)

	x := train.Experiment{Graph: nb.Data("sbm:nodes=60,classes=3"), Setting: datasets.Transductive, TrainPercent: 20,
		SplitSeed: 1}
	var err error
	x.Parameters, err = hyper.For("gcn")
	require.NoError(t, err)
	x.Parameters.MaxEpochs = 2
	results, err := x.Run(t.Context(), Backend(), hyper.Seeds(1, 1), train.RunOptions{})
	require.NoError(t, err)
	trained, tested := norms(x, results[0])
	all, err := results[0].Saved(x).Network().Represent(Backend(), x.Graph.Edges, x.Graph.Features, infer.Options{})
	require.NoError(t, err)
	split, err := x.Split(1)
	require.NoError(t, err)
	for l, h := range all { // without masking both measure the same representations
		for _, of := range []struct {
			nodes []int32
			mean  float64
		}{{split.Train, trained[l]}, {split.Test, tested[l]}} {
			sum := 0.0
			for _, v := range of.nodes {
				sum += math.Sqrt(float64(dot(h.Row(int(v)))))
			}
			assert.InDelta(t, sum/float64(len(of.nodes)), of.mean, 1e-5)
		}
	}
}

func dot(row []float32) (sum float32) {
	for _, value := range row {
		sum += value * value
	}
	return sum
}
