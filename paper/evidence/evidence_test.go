package evidence

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/cited"
	"nodemask/paper/multiverse"
	"nodemask/paper/record"
	"nodemask/paper/recordstore"
	"nodemask/paper/recordtest"
)

// readingsOf makes the trajectories of all readings of a model on Cora: gain is what masking adds to the published
// plain F1 on a split, by its number from 0, and plain what the plain arm has beyond it. Caching costs a point.
func readingsOf(t *testing.T, model string, splits int, gain func(c record.Cell, split int) float64,
	plain func(c record.Cell) float64) []record.Record {
	t.Helper()
	var questions []multiverse.Question
	for _, setting := range datasets.Settings() {
		q, err := multiverse.Ask("cora", model, setting)
		require.NoError(t, err)
		questions = append(questions, q)
	}
	cells, err := multiverse.Cells(questions)
	require.NoError(t, err)
	var all []record.Record
	for _, c := range cells {
		base := *Published("cora", model, c.Setting, c.TrainPercent, false)
		for split := range splits {
			f1 := base + plain(c)
			if c.Parameters.KeepRate != 1 {
				f1 += gain(c, split)
			}
			all = append(all, readAlike(multiverse.ProtocolHash(), c, multiverse.FirstSplit+uint64(split), f1))
		}
	}
	return all
}

// newEvidence collects trials: those without readings are of tables, the others of the protocols.
func newEvidence(t *testing.T, records []record.Record) *Evidence {
	t.Helper()
	of := map[string][]record.Record{}
	for _, r := range records {
		of[r.Protocol] = append(of[r.Protocol], r)
	}
	e := &Evidence{cited: record.NewResults(of[cited.ProtocolHash()]),
		all: record.NewResults(of[multiverse.ProtocolHash()]),
		load: func(pairs ...recordstore.Pair) ([]record.Record, error) {
			return slices.DeleteFunc(slices.Clone(of[""]), func(r record.Record) bool {
				return len(pairs) > 0 && !slices.Contains(pairs, recordstore.PairOf(r.CellOf()))
			}), nil
		}}
	e.prepare()
	require.NoError(t, e.cited.Err())
	require.NoError(t, e.all.Err())
	return e
}

// readAlike is a trial of a protocol that reads one score in every way, and a point less from the cache.
func readAlike(protocol string, c record.Cell, seed uint64, f1 float64) record.Record {
	r := recordtest.Read(c, seed, func(hyper.StopOn, datasets.Arrivals) (float64, float64) { return f1, f1 - 1 })
	r.Protocol = protocol
	return r
}

// wobble is noise without a trend over ten splits.
func wobble(split int) float64 {
	return []float64{0.1, -0.1, 0.2, -0.2, 0, 0.1, -0.1, 0.2, -0.2, 0}[split]
}

func none(record.Cell) float64 { return 0 }

func TestCurvesHaveEveryReading(t *testing.T) {
	// Kept, the self term gains; masked, it loses.
	gain := func(c record.Cell, split int) float64 {
		if c.Parameters.SelfTerm == hyper.SelfKept {
			return 2 + wobble(split)
		}
		return -1 + wobble(split)
	}
	e := newEvidence(t, readingsOf(t, "gat", multiverse.Splits, gain, none))
	v := claim(t, "table-gat/gat-inductive").Judge(e)
	assert.Equal(t, multiverse.NotRun, v.Grade, "exploratory readings decide nothing")
	assert.Equal(t, "0 of 20 splits", v.Figures)
	assert.Equal(t, "nodemask multiverse --part cited --data cora --model gat", v.command)
	curves := e.Specifications()
	require.Len(t, curves, 2)
	assert.Equal(t, "readings-gat-cora-inductive", curves[0].ID)
	require.NoError(t, curves[0].Check())
	assert.Len(t, curves[0].Readings, 48)
	assert.Equal(t, "F1 at 10 %: 40.7 without, 39.7 with; 25 %: 74.1 without, 73.1 with; 50 %: 84.8 without, 83.8 with; 90 %: 86.9 without, 85.9 with", curves[0].Readings[0].Text)
	var page strings.Builder
	require.NoError(t, WriteReport(&page, Artifacts()[:2], e, TableOptions{}))
	assert.Equal(t, 2, strings.Count(page.String(), `class="nodemask-specification"`))
}

func TestReadingsThatLackASplitDoNotCount(t *testing.T) {
	e := newEvidence(t, readingsOf(t, "gat", multiverse.Splits-1, func(record.Cell, int) float64 { return 2 },
		none))
	_, ok := e.Readings("cora", "gat", datasets.Inductive)
	assert.False(t, ok)
}

func TestTrialsOfOtherPartsOfTheProtocolAreNoReadings(t *testing.T) {
	all := readingsOf(t, "gat", multiverse.Splits, func(record.Cell, int) float64 { return 2 }, none)
	gcn := record.NewCell("cora", "gcn", datasets.Inductive, 10)
	all = append(all, readAlike(multiverse.ProtocolHash(), gcn, 300, 60))
	for _, one := range all[:len(all)-1] {
		if one.Seed == multiverse.FirstSplit {
			one.Seed = 200
			all = append(all, one)
		}
	}
	e := newEvidence(t, all)
	readings, ok := e.Readings("cora", "gat", datasets.Inductive)
	require.True(t, ok)
	assert.Equal(t, uint64(109), readings.All.Splits[len(readings.All.Splits)-1])
}
