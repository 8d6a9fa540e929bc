package judge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper"
)

func TestTheThirdProtocolRunsGINAtTenPercentFirst(t *testing.T) {
	var questions []Question
	for _, data := range Graphs.Data() {
		for _, model := range Graphs.Models() {
			for _, setting := range datasets.Settings() {
				q, err := QuestionOf(Graphs, data, model, setting)
				require.NoError(t, err)
				require.Equal(t, hyper.Seeds(700, 20), q.Seeds)
				questions = append(questions, q)
			}
		}
	}
	var counts [][2]int // trainings by stage, and their size
	for _, stage := range Stages(Graphs, questions) {
		cells, err := Cells(stage)
		require.NoError(t, err)
		counts = append(counts, [2]int{len(cells), cells[0].TrainPercent})
		for _, c := range cells {
			require.Equal(t, counts[len(counts)-1][1], c.TrainPercent)
			require.Zero(t, c.Parameters.AttentionDropout)
		}
	}
	require.Equal(t, [][2]int{{9 * 2 * 3, 10}, {9 * 2 * 3, 50}, {9 * 2 * 2, 10}}, counts)
}

func TestGraphsOfTheThirdProtocolAreHeldToItsSums(t *testing.T) {
	text, err := paper.Protocols.ReadFile("PROTOCOL-3.md")
	require.NoError(t, err)
	for _, f := range GraphFiles() {
		require.Contains(t, string(text), "| "+strings.Join([]string{f.Data, f.File, f.SHA256}, " | ")+" |\n")
	}
	dir := t.TempDir()
	file, ok := GraphFileOf("blogcatalog")
	require.True(t, ok)
	_, err = file.Path(dir)
	require.ErrorContains(t, err, "blogcatalog: blogcatalog.npz is not there")
	require.NoError(t, os.WriteFile(filepath.Join(dir, file.File), []byte("another graph"), 0o600))
	_, err = file.Path(dir)
	require.ErrorContains(t, err, "expected 858b9e1c2cc3")
	_, ok = GraphFileOf("cora")
	require.False(t, ok)
}
