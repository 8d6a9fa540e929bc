package notebook

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/plots"
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
	p.Finished("GIN", 3, []float64{1, 2}, []float64{math.NaN(), 4}, 2, 79.5)
	c = p.chart()
	require.Len(t, c.Series, 3, "a finished trial takes the place of its name's others")
	assert.Equal(t, 1, c.Series[2].Ring)
	assert.Equal(t, "Losses of a test, seed 1, 3", c.Title)
	places, err := c.Places()
	require.NoError(t, err)
	require.Len(t, places, 1)
	assert.Equal(t, "GIN, validation, 2: 4.00, the epoch kept of seed 3, macro F1 on test nodes 79.50 %", places[0].Name)
	p.Finished("GCN", 1, []float64{1}, []float64{1}, 1, 80)
	require.Len(t, p.chart().Series, 5, "the losses of what is not run again")
}

func TestTheTimeLeftCountsWhatIsStillToBeCompiled(t *testing.T) {
	p := NewProgress("a test", 4)
	p.Order = []string{"GIN", "GCN"}
	now := time.Now()
	p.begin, p.heard = now.Add(-12*time.Second), now.Add(-10*time.Second)
	p.Epoch("GIN", 1, 1, 1)
	p.Trials(1, 0)
	// One trial took 2 s after 10 s of compiling: three more trials, and GCN's program.
	assert.InDelta(t, 16, time.Until(p.end).Seconds(), 0.5)
}

func TestPointsSayTheirNumbersWithoutAScript(t *testing.T) {
	places := []plots.Place{{Left: 25, Top: 50, Name: "GIN, 0.5: 79.00", Note: "seed 1: <79>\n%%\nrun()"}, {Left: 75, Top: 50, Cell: "{}"}}
	text := Chart([]byte("<svg></svg>"), "a chart", places)
	assert.Contains(t, text, `<details style="position:absolute;left:25%;top:50%"><summary class="nm-point" title="GIN, 0.5: 79.00"`)
	assert.Contains(t, text, "GIN, 0.5: 79.00\nseed 1: &lt;79&gt;</pre>")
	assert.Contains(t, text, `{&#34;text&#34;:&#34;%%\nrun()&#34;}`)
	assert.Contains(t, text, `data-places="[{&#34;left&#34;:75,`, "a page's script gets those that it can run")
	assert.NotContains(t, Chart([]byte("<svg></svg>"), "a chart", nil), "div")
}

func TestWhatBecameOfAPieceOfWorkIsSaidInALine(t *testing.T) {
	assert.Equal(t, "All trials (4) were run before.", summaryOf(0, 4, false, time.Second, ""))
	assert.Equal(t, "3 of 4 trials run in 1.5 s, compiling included.", summaryOf(3, 4, false, 1500*time.Millisecond, ""))
	assert.Equal(t, "3 of 4 trials run in 1.5 s, compiling included. Backend: go, fused kernels.",
		summaryOf(3, 4, false, 1500*time.Millisecond, "go, fused kernels"))
	assert.Equal(t, "Stopped after 2 of 4 trials.", summaryOf(2, 4, true, time.Second, ""))
}
