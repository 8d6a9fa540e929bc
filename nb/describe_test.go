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

func TestADescriptionIsByDegreeAndByClass(t *testing.T) {
	d := datasets.Describe(Data(filepath.Join("..", "datasets", "testdata", "formats", "undirected.graphml")))
	degrees := degreesOf(d)
	assert.Equal(t, [][]plots.Field{plots.Fields("0 neighbours", "12.5"), plots.Fields("1 neighbour", "12.5"),
		plots.Fields("2–3 neighbours", "75.0")}, degrees.Rows)
	assert.Equal(t, "Half of the nodes have at most 2 neighbours", degrees.Title)
	assert.Equal(t, [][]plots.Field{plots.Fields("ant", "50.0"), plots.Fields("cat", "50.0")}, classesOf(d).Rows)
	assert.Equal(t, [][]plots.Field{plots.Fields("ant", "0.0", "50.0"), plots.Fields("cat", "0.0", "50.0")},
		homophilyOf(d).Rows)
}

func TestAGraphWithoutClassesHasNoTablesOfThem(t *testing.T) {
	d := datasets.Describe(Data(filepath.Join("..", "datasets", "testdata", "formats", "bare.pt")))
	assert.Empty(t, classesOf(d).Rows)
	assert.Empty(t, homophilyOf(d).Rows)
	assert.NotEmpty(t, degreesOf(d).Rows)
}

func TestOfManyClassesTheLargestAreShownAndTheRestIsSaid(t *testing.T) {
	d := datasets.Description{Nodes: 60}
	for i := range 30 {
		d.Classes = append(d.Classes, datasets.ClassCount{Name: fmt.Sprint(i), Nodes: i})
	}
	b := classesOf(d)
	require.Len(t, b.Rows, 20)
	assert.Equal(t, "29", b.Rows[0][0].Text)
	assert.Equal(t, "The largest 20 of 30 classes.", b.Caption)
}
