package nb

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
)

func TestADescriptionHasATableAndTwoCharts(t *testing.T) {
	d := datasets.Describe(Data(filepath.Join("..", "datasets", "testdata", "formats", "undirected.graphml")))
	table := factsOf(d)
	require.NoError(t, table.Check())
	text, err := table.Render("text")
	require.NoError(t, err)
	for _, says := range []string{"GraphML", "8 (1 isolated, 2 unlabelled)", "0.000 of the edges", "2 train, 2 validation and 2 test nodes", `GraphML key "nick" of type string: left out`} {
		assert.Contains(t, text, says)
	}
	degrees := degreesOf(d)
	require.NoError(t, degrees.Check())
	assert.Equal(t, []float64{12.5, 12.5, 75}, degrees.Series[0].Y)
	assert.Equal(t, "Half of the nodes of undirected have at most 2 neighbours", degrees.Title)
	classes := classesOf(d)
	require.NoError(t, classes.Check())
	assert.Equal(t, []float64{50, 50}, classes.Series[0].Y)
	assert.Equal(t, "1: ant, 2: cat.", classes.Caption)
}

func TestAGraphWithoutClassesHasNoChartOfThem(t *testing.T) {
	d := datasets.Describe(Data(filepath.Join("..", "datasets", "testdata", "formats", "bare.pt")))
	assert.Empty(t, classesOf(d).Series)
	assert.NotEmpty(t, degreesOf(d).Series)
	require.NoError(t, degreesOf(d).Check())
}

func TestParquetIsReadByTheCommandAndLinkedByNoCell(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: builds the command")
	}
	g := Data(filepath.Join("..", "datasets", "testdata", "formats", "parquet"))
	require.NoError(t, g.Check())
	assert.Equal(t, "Parquet", g.Format)
	assert.Equal(t, []string{"ant", "cat"}, g.Classes)
	assert.EqualValues(t, 7, g.Report.Edges)
	_, err := byCommand{}.Read(t.Context(), t.TempDir())
	require.ErrorContains(t, err, "no graph in this folder")
}
