package nb

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
)

func TestAPredictionIsExplainedInOneLine(t *testing.T) {
	p, err := hyper.For("gcn")
	require.NoError(t, err)
	b, err := backend.Open("go")
	require.NoError(t, err)
	network, err := infer.Untrained(b, nmgnn.Build(p, 3), 16, 1)
	require.NoError(t, err)
	model := filepath.Join(t.TempDir(), "untrained.model")
	m := &cached.Model{Settings: p, Classes: []string{"0", "1", "2"}, Features: 16, Data: "sbm", Weights: network.Weights}
	require.NoError(t, m.Save(model))
	text := printed(t, func() { Explain(model, "sbm:nodes=90,classes=3", 7) })
	assert.Contains(t, text, "GCN says that node 7 is ")
	assert.Contains(t, text, "The branches that decide")
}

func TestASavedModelIsExportedInOneLine(t *testing.T) {
	p, err := hyper.For("sage")
	require.NoError(t, err)
	b, err := backend.Open("go")
	require.NoError(t, err)
	network, err := infer.Untrained(b, nmgnn.Build(p, 3), 5, 1)
	require.NoError(t, err)
	model := filepath.Join(t.TempDir(), "pets.model")
	m := &cached.Model{Settings: p, Classes: []string{"cat", "dog", "fox"}, Features: 5, Data: "pets",
		Weights: network.Weights}
	require.NoError(t, m.Save(model))
	output := filepath.Join(filepath.Dir(model), "pets.onnx")
	assert.Contains(t, printed(t, func() { Export(model, "") }), "Wrote `"+output+": GraphSAGE, 5 features, 3 classes, ")
	assert.FileExists(t, output)
}
