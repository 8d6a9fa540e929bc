package report

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/paper/recordtest"
)

// newEvidence takes trials of tables (without readings) and of protocols.
func newEvidence(t *testing.T, records []record.Record) *Evidence {
	t.Helper()
	of := map[string][]record.Record{}
	for _, r := range records {
		of[r.Protocol] = append(of[r.Protocol], r)
	}
	e := &Evidence{cited: record.NewResults(of[judge.SecondProtocol()]),
		all: record.NewResults(of[judge.FirstProtocol()]),
		load: func(pairs ...record.Pair) ([]record.Record, error) {
			return slices.DeleteFunc(slices.Clone(of[""]), func(r record.Record) bool {
				return len(pairs) > 0 && !slices.Contains(pairs, record.PairOf(r.CellOf()))
			}), nil
		}}
	e.prepare()
	require.NoError(t, e.cited.Err())
	require.NoError(t, e.all.Err())
	return e
}

// readAlike has equal readings, a point lower from the cache.
func readAlike(protocol string, c record.Cell, seed uint64, f1 float64) record.Record {
	r := recordtest.Read(c, seed, func(hyper.StopOn, datasets.Arrivals) (float64, float64) { return f1, f1 - 1 })
	r.Protocol = protocol
	return r
}

// wobble is noise without a trend over ten splits.
func wobble(split int) float64 {
	return []float64{0.1, -0.1, 0.2, -0.2, 0, 0.1, -0.1, 0.2, -0.2, 0}[split]
}
