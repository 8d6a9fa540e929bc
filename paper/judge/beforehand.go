package judge

import (
	_ "embed" // for cases.json
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat"

	"nodemask/datasets"
)

// Case is a graph, setting and train set size on which PROTOCOL-3.md tests hypothesis H3: some quantity predicts
// masking's effect.
type Case struct {
	Data         string           `json:"data"`
	Setting      datasets.Setting `json:"setting"`
	TrainPercent int              `json:"train_percent"`
	Quantities
	// Fragility is how many points of macro F1 unmasked GIN gains if early stopping follows macro F1, not loss and
	// accuracy.
	Fragility float64 `json:"fragility"`
	// Masked and Rescaled are the effects of masking without and with rescaling.
	Masked   CaseEffect `json:"masked"`
	Rescaled CaseEffect `json:"rescaled"`
}

// CaseEffect is masking's mean effect in one [Case], in points of macro F1, with its 95 % interval (Low to High).
type CaseEffect struct {
	Mean   float64 `json:"mean"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Splits int     `json:"splits"`
}

// Nothing is the outcome if the 95 % interval of masking's effect contains 0.
const Nothing Verdict = "nothing"

// Outcome returns [Helps] if the interval is above 0, [Hurts] if it is below 0, else [Nothing].
func (e CaseEffect) Outcome() Verdict {
	switch {
	case e.Low > 0:
		return Helps
	case e.High < 0:
		return Hurts
	}
	return Nothing
}

func (c Case) of(rescaled bool) CaseEffect {
	if rescaled {
		return c.Rescaled
	}
	return c.Masked
}

//go:embed cases.json
var casesJSON []byte

// Cases returns the cases (graph, setting, train set size) to which [Fit] fits rules, with masking's measured effects.
var Cases = sync.OnceValue(func() (cases []Case) {
	if err := json.Unmarshal(casesJSON, &cases); err != nil {
		panic(err)
	}
	return cases
})

// Quantity is a property of a [Case] that may predict masking's effect (hypothesis H3 of PROTOCOL-3.md).
type Quantity struct {
	Name  string
	Of    func(Case) float64
	After bool // known only after training, so rules may not use it
}

// CaseQuantities returns the properties of cases that may predict masking's effect.
func CaseQuantities() []Quantity {
	return []Quantity{
		{"fragility", func(c Case) float64 { return c.Fragility }, true},
		{"train neighbours", func(c Case) float64 { return c.TrainNeighbours }, false},
		{"degree", func(c Case) float64 { return c.Degree }, false},
		{"adjusted homophily", func(c Case) float64 { return c.AdjustedHomophily }, false},
		{"train share", func(c Case) float64 { return c.TrainShare }, false},
		{"shift of degrees", func(c Case) float64 { return c.DegreeShift }, false},
	}
}

// Correlation is Spearman's rank correlation, over cases (graph, setting, train set size), between a [Quantity] and
// masking's effect. A bootstrap over graphs gives the 95 % interval.
type Correlation struct {
	Quantity       string
	Rho, Low, High float64
	Cases          int
}

const bootstraps = 2000

// Correlations returns each quantity's correlation with the effect of masking, without or with rescaling.
func Correlations(cases []Case, rescaled bool) (all []Correlation) {
	graphs := byGraph(cases)
	for _, q := range CaseQuantities() {
		rho := func(cases []Case) (float64, bool) {
			var x, y []float64
			for _, c := range cases {
				x, y = append(x, q.Of(c)), append(y, c.of(rescaled).Mean)
			}
			return spearman(x, y)
		}
		c := Correlation{Quantity: q.Name, Cases: len(cases)}
		c.Rho, _ = rho(cases)
		draw := rand.New(rand.NewPCG(1, 0))
		var drawn []float64
		for range bootstraps {
			var some []Case
			for range graphs {
				some = append(some, graphs[draw.IntN(len(graphs))]...)
			}
			if r, ok := rho(some); ok {
				drawn = append(drawn, r)
			}
		}
		slices.Sort(drawn)
		if len(drawn) > 0 {
			c.Low = stat.Quantile(0.025, stat.Empirical, drawn, nil)
			c.High = stat.Quantile(0.975, stat.Empirical, drawn, nil)
		}
		all = append(all, c)
	}
	return all
}

func byGraph(cases []Case) (groups [][]Case) {
	at := map[string]int{}
	for _, c := range cases {
		i, ok := at[c.Data]
		if !ok {
			i = len(groups)
			at[c.Data], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], c)
	}
	return groups
}

func spearman(x, y []float64) (float64, bool) {
	if len(x) < 2 || slices.Min(x) == slices.Max(x) || slices.Min(y) == slices.Max(y) {
		return 0, false
	}
	return stat.Correlation(ranks(x), ranks(y), nil), true
}

func ranks(x []float64) []float64 {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	all := make([]float64, len(x))
	for i, v := range x {
		first, _ := slices.BinarySearch(sorted, v)
		last := first
		for last < len(sorted) && sorted[last] == v {
			last++
		}
		all[i] = float64(first+last+1) / 2
	}
	return all
}

// Rule predicts masking's effect. If the field By is empty, the prediction is the field Says. Otherwise By names a
// quantity: if it is below At, the rule Low makes the prediction, else the rule High.
type Rule struct {
	Says      Verdict
	By        string
	At        float64
	Low, High *Rule
}

// On returns the prediction for a case.
func (r Rule) On(c Case) Verdict {
	if r.By == "" {
		return r.Says
	}
	if ruleQuantity(r.By).Of(c) < r.At {
		return r.Low.On(c)
	}
	return r.High.On(c)
}

// String returns the rule in words.
func (r Rule) String() string {
	if r.By == "" {
		return string(r.Says)
	}
	text := func(side *Rule) string {
		if side.By != "" {
			return "(" + side.String() + ")"
		}
		return side.String()
	}
	return fmt.Sprintf("%s if %s is below %.3g, else %s", text(r.Low), r.By, r.At, text(r.High))
}

func ruleQuantity(name string) Quantity {
	all := CaseQuantities()
	return all[slices.IndexFunc(all, func(q Quantity) bool { return q.Name == name })]
}

// Fitted is a rule with its leave-one-graph-out score: each graph's cases are predicted by a rule fitted to all other
// graphs.
type Fitted struct {
	Rule
	// Right is how many cases the fitted rules predict correctly. The field Nothing is how many are predicted correctly
	// by always predicting no effect. Cases and Graphs are the numbers of all cases and graphs.
	Right, Nothing, Cases, Graphs int
	Fewest                        int  // smallest number of splits that any case has
	Complete                      bool // all of the protocol's cases and splits ran
}

// Beats reports whether the rule is right more often than the constant guess "no effect".
func (f Fitted) Beats() bool { return f.Right > f.Nothing }

// Fit returns the rule with the best leave-one-graph-out score, for masking without or with rescaling.
func Fit(cases []Case, rescaled bool) Fitted {
	graphs := byGraph(cases)
	best := Fitted{Cases: len(cases), Graphs: len(graphs), Right: -1, Complete: len(cases) == 4*12}
	for quantities := range 3 {
		right := 0
		for left := range graphs {
			rule, _ := fit(slices.Concat(slices.Delete(slices.Clone(graphs), left, left+1)...), rescaled, quantities)
			right += rightIn(graphs[left], rescaled, rule.On)
		}
		if quantities == 0 {
			best.Nothing = right
		}
		if right > best.Right {
			best.Right = right
			best.Rule, _ = fit(cases, rescaled, quantities)
		}
	}
	for i, c := range cases {
		splits := c.of(rescaled).Splits
		best.Complete = best.Complete && splits >= Splits
		if i == 0 || splits < best.Fewest {
			best.Fewest = splits
		}
	}
	return best
}

func rightIn(cases []Case, rescaled bool, says func(Case) Verdict) (n int) {
	for _, c := range cases {
		if says(c) == c.of(rescaled).Outcome() {
			n++
		}
	}
	return n
}

func fit(cases []Case, rescaled bool, thresholds int) (Rule, int) {
	if thresholds == 0 {
		r := Rule{Says: Nothing}
		return r, rightIn(cases, rescaled, r.On)
	}
	best, most := Rule{}, -1
	for _, q := range CaseQuantities() {
		if q.After {
			continue
		}
		var values []float64
		for _, c := range cases {
			values = append(values, q.Of(c))
		}
		slices.Sort(values)
		values = slices.Compact(values)
		for i := range len(values) - 1 {
			at := (values[i] + values[i+1]) / 2
			var low, high []Case
			for _, c := range cases {
				if q.Of(c) < at {
					low = append(low, c)
				} else {
					high = append(high, c)
				}
			}
			lowRule, lowRight := commonest(low, rescaled)
			highRule, highRight := commonest(high, rescaled)
			consider := func(l Rule, nl int, h Rule, nh int) {
				if nl+nh > most {
					best, most = Rule{By: q.Name, At: at, Low: &l, High: &h}, nl+nh
				}
			}
			if thresholds == 1 {
				consider(lowRule, lowRight, highRule, highRight)
				continue
			}
			if r, n := fit(low, rescaled, 1); n >= 0 {
				consider(r, n, highRule, highRight)
			}
			if r, n := fit(high, rescaled, 1); n >= 0 {
				consider(lowRule, lowRight, r, n)
			}
		}
	}
	return best, most
}

func commonest(cases []Case, rescaled bool) (best Rule, most int) {
	most = -1
	for _, outcome := range []Verdict{Nothing, Helps, Hurts} {
		r := Rule{Says: outcome}
		if n := rightIn(cases, rescaled, r.On); n > most {
			best, most = r, n
		}
	}
	return best, most
}

// Expects returns the rule's prediction for c, or "needs the graph" if the rule uses a quantity that c lacks.
func (f Fitted) Expects(c Case) string {
	switch r := f.Rule; {
	case !f.Beats():
		return string(Nothing)
	case r.asks(c):
		return "needs the graph"
	}
	return string(f.On(c))
}

func (r Rule) asks(c Case) bool {
	if r.By == "" {
		return false
	}
	x := ruleQuantity(r.By).Of(c)
	return math.IsNaN(x) || x < r.At && r.Low.asks(c) || x >= r.At && r.High.asks(c)
}

// Words describes the rule and its leave-one-graph-out score.
func (f Fitted) Words() string {
	text := fmt.Sprintf("Rule: %s. With each of %d graphs left out in turn, such a rule was right in %d of %d cases, "+
		"“expect nothing” in %d.", f.Rule, f.Graphs, f.Right, f.Cases, f.Nothing)
	if !f.Beats() {
		text = fmt.Sprintf("No rule beats “expect nothing”, which is right in %d of %d cases of %d graphs.", f.Nothing, f.Cases,
			f.Graphs)
	}
	if !f.Complete {
		text += fmt.Sprintf(" Inconclusive: it rests on %d of 48 cases, that with fewest splits on %d of %d.", f.Cases,
			f.Fewest, Splits)
	}
	return text
}

// Quantities are properties of a graph and split that may predict masking's effect before training.
type Quantities struct {
	TrainNeighbours   float64 `json:"train_neighbours"` // mean number per test node
	Degree            float64 `json:"degree"`           // mean degree in the whole graph
	AdjustedHomophily float64 `json:"adjusted_homophily"`
	TrainShare        float64 `json:"train_share"` // share of train nodes
	// DegreeShift is log₂(a/b): a is the mean degree of test nodes in testing, b the mean degree of train nodes in
	// training. It is 0 if a or b is 0.
	DegreeShift float64 `json:"degree_shift"`
}

// QuantitiesOf measures the [Quantities] of the graph g; the view v gives the split.
func QuantitiesOf(g *datasets.Graph, v *datasets.View) Quantities {
	q := Quantities{TrainShare: float64(len(v.Train.Score)) / float64(max(g.NumNodes(), 1)),
		Degree: float64(g.Edges.NumEdges()) / float64(max(g.NumNodes(), 1)), AdjustedHomophily: adjustedHomophily(g)}
	trains := make([]bool, g.NumNodes())
	for _, i := range v.Train.Score {
		trains[v.Train.Nodes[i]] = true
	}
	for _, i := range v.Test.Score {
		for _, u := range g.Edges.Neighbours(v.Test.Nodes[i]) {
			if trains[u] {
				q.TrainNeighbours += 1 / float64(len(v.Test.Score))
			}
		}
	}
	if tested, trained := degreeIn(v.Test), degreeIn(v.Train); tested > 0 && trained > 0 {
		q.DegreeShift = math.Log2(tested / trained)
	}
	return q
}

func degreeIn(p datasets.Phase) (mean float64) {
	for _, v := range p.Score {
		mean += float64(p.Edges.Degree(v)) / float64(len(p.Score))
	}
	return mean
}

// adjustedHomophily returns (h - Σ d_k²) / (1 - Σ d_k²) over edges between labelled nodes (Platonov et al. 2023). h is
// the share of edges within a class; d_k is the share of edge ends in class k.
func adjustedHomophily(g *datasets.Graph) float64 {
	d := datasets.Describe(g)
	chance := 0.0
	for _, c := range d.Classes {
		chance += c.Chance * c.Chance
	}
	if d.EdgeHomophily == nil || chance > 1-1e-12 {
		return 0
	}
	return (*d.EdgeHomophily - chance) / (1 - chance)
}
