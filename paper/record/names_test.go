package record

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/datasets"
)

func TestDataOfAnyNameHaveTheirFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-c_./\\:]{0,4}`),
			rapid.StringMatching(`(\.\./){0,3}[\x00-\x1f\x7f]{0,3}[a-z]{0,3}(/\.\.){0,2}`), rapid.StringMatching(`[a-b/]{300}`),
		).Draw(t, "first")
		// Names that differ in details that file names often lose.
		second := rapid.SampledFrom([]string{strings.ToUpper(first), strings.ToLower(first), "." + first,
			strings.TrimLeft(first, "."), strings.ReplaceAll(first, "/", "_"), strings.ReplaceAll(first, "_", "/"),
			"../" + first, first + "/", first + first}).Draw(t, "second")
		for _, name := range []string{first, second} {
			require.Regexp(t, `^[a-z0-9_-][a-z0-9._-]{0,150}$`, fileName(name+"-gin"), "a name that any file system takes")
		}
		if first != second {
			require.NotEqual(t, fileName(first+"-gin"), fileName(second+"-gin"))
		}
	})
	folder := t.TempDir()
	r := testRecord(NewCell("../a/B", "gin", datasets.Inductive, 10), 1, 80)
	require.NoError(t, Open(folder).Add(r))
	require.Equal(t, []Record{r}, recordsOf(t, Open(folder)))
}
