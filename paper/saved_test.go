package paper

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkSavedTable shows a table from saved results, as 'nodemask report' does.
func BenchmarkSavedTable(b *testing.B) {
	for _, id := range []string{"table-gin-cora", "fig-depth", "table-mad", tunedID} {
		b.Run(id, func(b *testing.B) {
			for b.Loop() {
				found, err := Find(id)
				require.NoError(b, err)
				_, err = OpenEvidence("../results").Table(found[0], TableOptions{})
				require.NoError(b, err)
			}
		})
	}
}
