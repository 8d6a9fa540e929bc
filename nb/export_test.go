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

func untrained(t *testing.T, kind string, features int, classes ...string) (file string) {
	t.Helper()
	p, err := hyper.For(kind)
	require.NoError(t, err)
	b, err := backend.Open("go")
	require.NoError(t, err)
	network, err := infer.Untrained(b, nmgnn.Build(p, len(classes)), features, 1)
	require.NoError(t, err)
	file = filepath.Join(t.TempDir(), "pets.model")
	m := &cached.Model{Settings: p, Classes: classes, Features: features, Data: "pets", Weights: network.Weights}
	require.NoError(t, m.Save(file))
	return file
}

func TestAPredictionIsExplainedInOneLine(t *testing.T) {
	model := untrained(t, "gcn", 16, "0", "1", "2")
	text := printed(t, func() { Explain(model, "sbm:nodes=90,classes=3", 7) })
	assert.Contains(t, text, "GCN says that node 7 is ")
	assert.Contains(t, text, "The branches that decide")
}

func TestASavedModelIsExportedInOneLine(t *testing.T) {
	model := untrained(t, "sage", 5, "cat", "dog", "fox")
	output := filepath.Join(filepath.Dir(model), "pets.onnx")
	assert.Contains(t, printed(t, func() { Export(model, "") }), "Wrote `"+output+"`.")
	assert.FileExists(t, output)
}

func TestAPageOpensByAButtonWhereJupyterLabServesIt(t *testing.T) {
	assert.Contains(t, opening("/lab/a b/page.html", "/lab"), `data-commandlinker-command="docmanager:open-browser-tab" `+
		`data-commandlinker-args="{&#34;path&#34;:&#34;a b/page.html&#34;}"`)
	for file, root := range map[string]string{"/a b/page.html": "/lab", "/lab/page.html": "", "/lab/.a/page.html": "/lab"} {
		assert.Regexp(t, `href="file:///(a%20b|lab|lab/\.a)/page.html">file:///`, opening(file, root))
	}
}
