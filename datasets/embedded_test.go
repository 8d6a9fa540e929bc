package datasets

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
)

func TestCoraHasThePublishedCounts(t *testing.T) {
	g, err := Cora()
	require.NoError(t, err)
	require.NoError(t, g.Check())
	assert.Equal(t, "cora", g.Name)
	assert.Equal(t, "embedded", g.Source)
	assert.Equal(t, 2708, g.NumNodes())
	assert.Equal(t, 1433, g.Features.Width)
	assert.EqualValues(t, 49216, g.Features.NonZeros())
	assert.Equal(t, csr.Report{Listed: 5429, Duplicates: 151, Edges: 5278}, g.Report)
	assert.EqualValues(t, 2*5278, g.Edges.NumEdges())
	for _, value := range g.Features.Values {
		require.EqualValues(t, 1, value)
	}
	// Sizes of the classes as in the table of Sen et al.'s release.
	sizes := map[string]int{}
	for _, label := range g.Labels {
		sizes[g.Classes[label]]++
	}
	assert.Equal(t, map[string]int{
		"Case_Based": 298, "Genetic_Algorithms": 418, "Neural_Networks": 818, "Probabilistic_Methods": 426,
		"Reinforcement_Learning": 217, "Rule_Learning": 180, "Theory": 351,
	}, sizes)
	assert.IsIncreasing(t, g.Classes)
}

func TestCoraKeepsTheOrderOfTheLINQSRelease(t *testing.T) {
	g, err := Cora()
	require.NoError(t, err)
	// The first two lines of cora.content, and the first pair of cora.cites: 35 and 1033.
	assert.Equal(t, []string{"31336", "1061127"}, g.NodeIDs[:2])
	assert.Equal(t, "Neural_Networks", g.Classes[g.Labels[0]])
	assert.Equal(t, "Rule_Learning", g.Classes[g.Labels[1]])
	index := map[string]int32{}
	for v, id := range g.NodeIDs {
		index[id] = int32(v)
	}
	assert.True(t, g.Edges.HasEdge(index["35"], index["1033"]))
	assert.True(t, g.Edges.HasEdge(index["1033"], index["35"]))
}

func TestEachCallOfCoraReturnsAGraphOfItsOwn(t *testing.T) {
	a, err := Cora()
	require.NoError(t, err)
	a.Labels[0], a.Features.Values[0], a.Edges.Targets[0], a.Classes[0] = 99, 99, 99, "changed"
	b, err := Cora()
	require.NoError(t, err)
	require.NoError(t, b.Check())
	assert.Equal(t, "Case_Based", b.Classes[0])
}

func TestADamagedEmbeddedFileIsAnErrorThatSaysWhatToDo(t *testing.T) {
	_, err := embedded("cora", coraBin[:1000])
	require.Error(t, err)
	assert.Contains(t, err.Error(), "embedded/cora.bin: byte 8: the checksum does not match")
	assert.Contains(t, err.Error(), "build it")
}

func BenchmarkCora(b *testing.B) {
	for b.Loop() {
		if _, err := Cora(); err != nil {
			b.Fatal(err)
		}
	}
}
