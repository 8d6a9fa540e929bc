package paper

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/plots"
	"nodemask/record"
)

var update = flag.Bool("update", false, "write what docs/ says of the committed results anew")

func TestDocsSumUpTheCommittedResults(t *testing.T) {
	const claims, begin, end = "../docs/CLAIMS.md", "<!-- nodemask report summary --format markdown -->\n", "<!-- end of summary -->"
	artifacts, err := Find()
	require.NoError(t, err)
	records, err := record.OpenStore("../results").Load()
	require.NoError(t, err)
	summary, err := Summary(artifacts, record.NewResults(records)).Render(plots.FormatMarkdown)
	require.NoError(t, err)
	text, err := os.ReadFile(claims)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), begin)
	require.True(t, found, "docs/CLAIMS.md has no line %s", begin)
	have, after, found := strings.Cut(rest, end)
	require.True(t, found, "docs/CLAIMS.md has no line %s", end)
	if *update {
		require.NoError(t, os.WriteFile(claims, []byte(before+begin+summary+end+after), 0o644))
		return
	}
	require.Equal(t, summary, have, "'go test ./paper -update' writes it anew")
}
