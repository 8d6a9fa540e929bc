package datasets

import (
	"crypto/sha256"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
)

func TestEmbeddedGraphsHaveTheirPublishedShape(t *testing.T) {
	for _, want := range []struct {
		name                   string
		nodes, width, nonzeros int
		report                 csr.Report
		sizes                  []int
	}{
		{"cora", 2708, 1433, 49216, csr.Report{Listed: 5429, Duplicates: 151, Edges: 5278},
			[]int{298, 418, 818, 426, 217, 180, 351}},
		{"pubmed", 19717, 500, 988031, csr.Report{Listed: 44338, SelfLoops: 3, Duplicates: 11, Edges: 44324},
			[]int{4103, 7739, 7875}},
	} {
		g, err := Open(t.Context(), want.name, nowhere(t, ""))
		require.NoError(t, err)
		require.NoError(t, g.Check())
		assert.Equal(t, "embedded", g.Source)
		assert.Equal(t, want.nodes, g.NumNodes())
		assert.Equal(t, want.report, g.Report)
		assert.Equal(t, want.width, g.Features.Width)
		assert.Equal(t, int64(want.nonzeros), g.Features.NonZeros())
		assert.Equal(t, want.sizes, classSizes(g))
	}
	g, err := Cora()
	require.NoError(t, err)
	assert.Equal(t, []string{"Case_Based", "Genetic_Algorithms", "Neural_Networks", "Probabilistic_Methods",
		"Reinforcement_Learning", "Rule_Learning", "Theory"}, g.Classes)
	assert.Equal(t, "31336", g.NodeIDs[0])
	for _, x := range g.Features.Values {
		require.Equal(t, float32(1), x)
	}
}

func TestEmbeddedFilesHaveTheirChecksums(t *testing.T) {
	for _, name := range []string{"cora", "pubmed"} {
		file, err := embedded.ReadFile("embedded/" + name + ".bin")
		require.NoError(t, err)
		packed, err := unpack(file)
		require.NoError(t, err)
		sum := sha256.Sum256(packed.payload)
		require.Equal(t, sum[:], file[packedHeader-sha256.Size:packedHeader], name)
		_, err = packed.graph()
		require.NoError(t, err)
		require.Empty(t, packed.payload)
	}
}

func TestEmbeddedPubMedEqualsPlanetoidsBitForBit(t *testing.T) {
	want := openPlanetoid(t, "pubmed")
	got, err := readEmbedded("pubmed")
	require.NoError(t, err)
	want.Source = got.Source
	assert.True(t, reflect.DeepEqual(want, got))
}

func classSizes(g *Graph) []int {
	sizes := make([]int, g.NumClasses())
	for _, c := range g.Labels {
		if c != Unlabelled {
			sizes[c]++
		}
	}
	return sizes
}
