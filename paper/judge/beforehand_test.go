package judge

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/paper/record"
)

var update = flag.Bool("update", false, "write cases.json anew from the records and graphs")

// testData returns the folder of data sets for tests, which is outside the project, as package datasets finds it.
func testData() string {
	return cmp.Or(os.Getenv("NODEMASK_TEST_DATA"), filepath.Join("..", "..", "..", "shared", "datasets"))
}

// invented returns two cases per graph, of degrees 1, 2, …; masking helps below helpsBelow, else does nothing.
func invented(graphs int, helpsBelow float64) (cases []Case) {
	for i := range graphs {
		for _, setting := range datasets.Settings() {
			c := Case{Data: fmt.Sprint("graph", i), Setting: setting, TrainPercent: 10}
			c.Degree, c.TrainNeighbours = float64(i+1), float64(i%2)
			c.Masked = CaseEffect{Mean: 10 - float64(i), Low: -1, High: 1, Splits: 20}
			if c.Degree < helpsBelow {
				c.Masked.Low = 0.5
			}
			c.Rescaled = CaseEffect{Mean: 1, Low: -1, High: 1, Splits: 7}
			cases = append(cases, c)
		}
	}
	return cases
}

func TestARuleIsFoundWhereThereIsOne(t *testing.T) {
	f := Fit(invented(12, 5), false)
	require.Equal(t, Fitted{Rule: Rule{By: "degree", At: 4.5, Low: &Rule{Says: Helps}, High: &Rule{Says: Nothing}},
		Right: 22, Nothing: 16, Cases: 24, Graphs: 12, Fewest: 20}, f, "the graph at the threshold is not foreseen")
	require.True(t, f.Beats())
	require.Equal(t, "helps if degree is below 4.5, else nothing", f.String())
	require.Equal(t, Helps, f.On(Case{Quantities: Quantities{Degree: 4}}))
	require.Equal(t, Nothing, f.On(Case{Quantities: Quantities{Degree: 5}}))
}

func TestWithoutARuleNothingIsExpected(t *testing.T) {
	f := Fit(invented(12, 5), true)
	require.Equal(t, Fitted{Rule: Rule{Says: Nothing}, Right: 24, Nothing: 24, Cases: 24, Graphs: 12, Fewest: 7}, f)
	require.False(t, f.Beats())
	require.Equal(t, "nothing", f.String())

	cases := invented(3, 2) // one graph alone helps: without it, rules cannot predict it
	f = Fit(cases, false)
	require.Equal(t, []any{4, 4, false}, []any{f.Right, f.Nothing, f.Beats()})
}

func TestTwoQuantitiesAreTakenWhereOneDoesNotDo(t *testing.T) {
	cases := invented(12, 0)
	for i := range cases { // helps where the degree is low and a test node has train neighbours
		if cases[i].Degree < 7 && cases[i].TrainNeighbours > 0 {
			cases[i].Masked.Low = 0.5
		}
	}
	f := Fit(cases, false)
	require.Equal(t, 22, f.Right)
	require.Equal(t, "nothing if train neighbours is below 0.5, else (helps if degree is below 7, else nothing)", f.String())
}

func TestRankCorrelationsCountGraphsOnce(t *testing.T) {
	c := Correlations(invented(12, 5), false)
	require.Equal(t, Correlation{Quantity: "degree", Rho: -1, Low: -1, High: -1, Cases: 24}, c[2])
	require.Equal(t, Correlation{Quantity: "train share", Cases: 24}, c[4], "it does not vary")
	rho, ok := spearman([]float64{1, 2, 2, 9}, []float64{1, 3, 2, 4})
	require.True(t, ok)
	require.InDelta(t, 4.5/math.Sqrt(4.5*5), rho, 1e-12) // ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4
}

func TestOneSignNeedsAllNine(t *testing.T) {
	of := func(verdicts ...Verdict) string {
		var all []GraphAnswer
		for _, v := range verdicts {
			all = append(all, GraphAnswer{Answer: Answer{Verdict: v}})
		}
		word, _, _ := OneSign(all)
		return word
	}
	require.Equal(t, "one sign", of(Hurts, Hurts))
	require.Equal(t, "both signs", of(Hurts, Inconclusive, Helps))
	require.Equal(t, "not settled", of(Hurts, Unclear, Under))
	require.Equal(t, "inconclusive", of(Hurts, Inconclusive))
}

const fewestSplits = 5

// caseOf pairs a graph's quantities with the measured effects of masking on GIN, trained with early stopping on macro
// F1. ok is false if fewer than five splits ran.
func caseOf(r *record.Results, data string, setting datasets.Setting, trainPercent int, of Quantities) (c Case,
	ok bool, err error) {
	c = Case{Data: data, Setting: setting, TrainPercent: trainPercent, Quantities: of}
	part := Cited
	if _, ok := GraphFileOf(data); ok {
		part = Graphs
	}
	q, err := QuestionOf(part, data, "gin", setting)
	if err != nil {
		return c, false, err
	}
	q.Sizes = []int{trainPercent}
	_, q.Readings = graphReadings(q.Axes, q.Model, setting)
	splits, effects, err := q.Effects(r)
	if err != nil || len(splits) < fewestSplits {
		return c, false, err
	}
	for i, to := range []*CaseEffect{&c.Masked, &c.Rescaled} {
		pooled := effects[i].Pooled
		*to = CaseEffect{pooled.MeanDifference, pooled.Low, pooled.High, len(splits)}
	}
	onF1, err := q.F1(r, q.Readings[0], Plain, trainPercent)
	if err != nil {
		return c, false, err
	}
	either, err := q.F1(r, make(Reading, len(q.Axes)), Plain, trainPercent)
	for _, split := range splits {
		c.Fragility += (onF1[split] - either[split]) / float64(len(splits))
	}
	return c, true, err
}

// TestCasesAreThoseOfTheRecords recomputes effects, and quantities if the graph's file exists.
func TestCasesAreThoseOfTheRecords(t *testing.T) {
	second := record.OpenUnder("../../results/protocol-2", SecondProtocol()).Results(nil)
	third := record.OpenUnder("../../results/protocol-3", ThirdProtocol()).Results(nil)
	known := map[string]Case{}
	key := func(c Case) string { return fmt.Sprint(c.Data, c.Setting, c.TrainPercent) }
	for _, c := range Cases() {
		known[key(c)] = c
	}
	var all []Case
	for _, data := range append(Graphs.Data(), Data()...) {
		g, results, seed := (*datasets.Graph)(nil), second, uint64(FirstSplit)
		name := data
		if file, ok := GraphFileOf(data); ok {
			results, seed = third, FirstGraphSplit
			name, _ = file.Path(filepath.Join(testData(), "graphs"))
		}
		dir := testData()
		if data == "cora" || data == "pubmed" {
			dir = "" // records are of the embedded graph, whose nodes have another order than the file's
		}
		g, err := datasets.Open(t.Context(), name, datasets.OpenOptions{Dir: dir})
		if err != nil || name == "" {
			t.Logf("quantities of %s are taken as they are: its file is not at hand", data)
			g = nil
		} else if file, ok := GraphFileOf(data); ok {
			largest, nodes := 0, 0
			for _, class := range datasets.Describe(g).Classes {
				largest, nodes = max(largest, class.Nodes), nodes+class.Nodes
			}
			require.Equal(t, [3]int{largest, nodes, len(g.Classes)}, [3]int{file.Largest, file.Nodes, file.Classes}, data)
		}
		for _, setting := range datasets.Settings() {
			for _, size := range graphSizes("gin") {
				of := known[key(Case{Data: data, Setting: setting, TrainPercent: size})].Quantities
				if g != nil {
					of = quantities(t, g, setting, size, seed)
				}
				c, ok, err := caseOf(results, data, setting, size, of)
				require.NoError(t, err)
				if ok {
					all = append(all, c)
				}
			}
		}
	}
	if *update {
		text := "["
		for i, c := range all {
			line, err := json.Marshal(c)
			require.NoError(t, err)
			if i > 0 {
				text += ","
			}
			text += "\n" + string(line)
		}
		require.NoError(t, os.WriteFile("cases.json", []byte(text+"\n]\n"), 0o644))
		return
	}
	require.Len(t, Cases(), len(all), "'go test ./paper/judge -run Cases -update' writes them anew")
	for i, c := range all {
		want, err := json.Marshal(c)
		require.NoError(t, err)
		is, err := json.Marshal(Cases()[i])
		require.NoError(t, err)
		assert.JSONEq(t, string(want), string(is))
	}
}

func quantities(t *testing.T, g *datasets.Graph, setting datasets.Setting, size int, seed uint64) Quantities {
	t.Helper()
	split, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: size, Seed: seed})
	require.NoError(t, err)
	arrivals := datasets.AllEdges
	if setting == datasets.Inductive {
		arrivals = datasets.TrainEdges
	}
	view, err := datasets.NewView(g, split, setting, arrivals)
	require.NoError(t, err)
	return QuantitiesOf(g, view)
}

func TestQuantitiesByHand(t *testing.T) {
	// 0-1, 1-2, 2-3, 3-4, 1-3; classes a a b b b; 0 and 1 train, 2 validates, 3 and 4 test.
	edges, _, err := csr.FromEdges(5, []csr.Edge{{Node: 0, Neighbour: 1}, {Node: 1, Neighbour: 2}, {Node: 2, Neighbour: 3},
		{Node: 3, Neighbour: 4}, {Node: 1, Neighbour: 3}}, csr.Options{})
	require.NoError(t, err)
	g := &datasets.Graph{Edges: edges, Labels: []int32{0, 0, 1, 1, 1}, Classes: []string{"a", "b"},
		Features: datasets.Features{Rows: 5, Width: 1, Dense: make([]float32, 5)}}
	s := &datasets.Split{Train: []int32{0, 1}, Validation: []int32{2}, Test: []int32{3, 4}}

	// 3 of 5 edges stay within a class; a has 4 of 10 ends: (0.6 - 0.52) / 0.48.
	homophily := (0.6 - 0.52) / 0.48
	v, err := datasets.NewView(g, s, datasets.Transductive, "")
	require.NoError(t, err)
	q := QuantitiesOf(g, v)
	require.InDelta(t, homophily, q.AdjustedHomophily, 1e-12)
	// 3 has degree 3 and the train neighbour 1, 4 degree 1; train nodes have degrees 1 and 3.
	q.AdjustedHomophily = 0
	require.Equal(t, Quantities{TrainNeighbours: 0.5, Degree: 2, TrainShare: 0.4}, q)

	v, err = datasets.NewView(g, s, datasets.Inductive, datasets.TrainEdges)
	require.NoError(t, err)
	q = QuantitiesOf(g, v)
	require.InDelta(t, 0.5, q.TrainNeighbours, 1e-12)
	// Trained on 0-1, so both have degree 1; tested with 1-3 alone: 1 and 0.
	require.InDelta(t, math.Log2(0.5), q.DegreeShift, 1e-12)
}
