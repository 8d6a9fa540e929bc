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

var update = flag.Bool("update", false, "write the summary into README.md anew")

func TestTheReadmeSumsUpTheCommittedResults(t *testing.T) {
	const readme, begin, end = "../README.md", "<!-- nodemask report summary --format markdown -->\n", "<!-- end of summary -->"
	artifacts, err := Find()
	require.NoError(t, err)
	records, err := record.OpenStore("../results").Load()
	require.NoError(t, err)
	summary, err := Summary(artifacts, record.NewResults(records)).Render(plots.FormatMarkdown)
	require.NoError(t, err)
	text, err := os.ReadFile(readme)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), begin)
	require.True(t, found, "README.md has no line %s", begin)
	have, after, found := strings.Cut(rest, end)
	require.True(t, found, "README.md has no line %s", end)
	if *update {
		require.NoError(t, os.WriteFile(readme, []byte(before+begin+summary+end+after), 0o644))
		return
	}
	require.Equal(t, summary, have, "'go test ./paper -run Readme -update' writes it anew")
}
