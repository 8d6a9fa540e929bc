package notebook

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLiveLossesAreThoseOfTheLastTrialOfEachName(t *testing.T) {
	p := NewProgress("a test", 4)
	p.Epoch("GIN", 1, 3, 6)
	p.Epoch("GIN", 2, 2, 4)
	p.Epoch("GIN", 2, 1, 2)
	c := p.chart()
	require.Len(t, c.Series, 2)
	assert.Equal(t, []string{"train", "validation"}, []string{c.Series[0].Name, c.Series[1].Name})
	assert.Equal(t, []float64{2, 1}, c.Series[0].Y)
	assert.Equal(t, []float64{4, 2}, c.Series[1].Y)
	assert.Equal(t, "train", c.Series[1].Of, "one colour for a model, one dash for validation")
	p.Epoch("GIN + NM", 1, 5, math.NaN())
	c = p.chart()
	require.Len(t, c.Series, 3, "a loss that is not a number has no point, and a line without any none")
	assert.Equal(t, "GIN + NM, train", c.Series[2].Name)
	require.NoError(t, c.Check())
	p.Order = []string{"GIN + NM", "GIN"}
	assert.Equal(t, "GIN + NM, train", p.chart().Series[0].Name, "colours go by the order of the cells, not of the trials")
	p.Remember("GIN", 3, []float64{1}, []float64{1})
	p.Remember("GCN", 1, []float64{1}, []float64{1})
	require.Len(t, p.chart().Series, 5, "the losses of what is not run again")
}

func TestWhatBecameOfAPieceOfWorkIsSaidInALine(t *testing.T) {
	assert.Equal(t, "Showing 4 saved trials: none was left to run.", summaryOf(0, 4, false, time.Second, ""))
	assert.Equal(t, "3 of 4 trials run in 1.5 s, compiling included.", summaryOf(3, 4, false, 1500*time.Millisecond, ""))
	assert.Equal(t, "3 of 4 trials run in 1.5 s, compiling included. Backend: go, fused kernels.",
		summaryOf(3, 4, false, 1500*time.Millisecond, "go, fused kernels"))
	assert.Equal(t, "Stopped: 2 trials were finished.", summaryOf(2, 4, true, time.Second, ""))
	assert.Equal(t, "Showing 1 saved trial: none was left to run.", summaryOf(0, 1, false, time.Second, ""))
	assert.Equal(t, "Stopped: 1 trial was finished.", summaryOf(1, 4, true, time.Second, ""))
}
