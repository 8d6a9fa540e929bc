package nb

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/plots"
)

func TestADescriptionIsDrawnByDegreeAndByClass(t *testing.T) {
	d := datasets.Describe(Data(filepath.Join("..", "datasets", "testdata", "formats", "undirected.graphml")))
	degrees := degreesOf(d)
	assert.Equal(t, []plots.Bar{{Label: "0 neighbours", Value: 12.5}, {Label: "1 neighbour", Value: 12.5},
		{Label: "2–3 neighbours", Value: 75}}, degrees.Rows)
	assert.Equal(t, "Half of the nodes have at most 2 neighbours", degrees.Title)
	assert.Equal(t, []plots.Bar{{Label: "ant", Value: 50}, {Label: "cat", Value: 50}}, classesOf(d).Rows)
	half := 50.0
	assert.Equal(t, []plots.Bar{{Label: "ant", Value: 0, Mark: &half}, {Label: "cat", Value: 0, Mark: &half}},
		homophilyOf(d).Rows)
}

func TestAGraphWithoutClassesHasNoBarsOfThem(t *testing.T) {
	d := datasets.Describe(Data(filepath.Join("..", "datasets", "testdata", "formats", "bare.pt")))
	assert.Empty(t, classesOf(d).Rows)
	assert.Empty(t, homophilyOf(d).Rows)
	assert.NotEmpty(t, degreesOf(d).Rows)
}

func TestOfManyClassesTheLargestAreDrawnAndTheRestIsSaid(t *testing.T) {
	d := datasets.Description{Nodes: 60}
	for i := range 30 {
		d.Classes = append(d.Classes, datasets.ClassCount{Name: fmt.Sprint(i), Nodes: i})
	}
	b := classesOf(d)
	require.Len(t, b.Rows, 20)
	assert.Equal(t, "29", b.Rows[0].Label)
	assert.Equal(t, "The largest 20 of 30 classes.", b.Caption)
}
