package nb

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/aggtree/draw"
	"nodemask/internal/checkout"
)

var update = flag.Bool("update", false, "write the front page's drawing again")

func TestTheFrontPageHasThePapersFigureOfMaskedTrees(t *testing.T) {
	project, err := checkout.Root()
	require.NoError(t, err)
	svg, _, err := draw.PaperFigure("masked")
	require.NoError(t, err)
	file := filepath.Join(project, "docs", "masked.svg")
	if *update {
		require.NoError(t, os.WriteFile(file, svg, 0o644))
	}
	there, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(svg), string(there), "'go test ./nb -run FrontPage -update' writes it again")
}
