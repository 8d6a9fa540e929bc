package explain

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
)

// Sum is a node's representation in one layer, recomputed term by term in float64; Model is the model's result.
type Sum struct {
	Node    int32     `json:"node"`
	Layer   int       `json:"layer"`   // from 1; layers + 1 for a readout
	Formula string    `json:"formula"` // of the layer
	Terms   []Term    `json:"terms"`   // the node's own first
	Steps   []Step    `json:"steps"`   // the last is the result
	Model   []float32 `json:"model"`
}

// Term is a summand.
type Term struct {
	Node int32 `json:"node"`
	// Name of the product, such as "W·h".
	Name string `json:"name"`
	// Kept is δ: 0 for a masked node. The node's own term can be masked only if the formula gives it a δ.
	Kept float64 `json:"kept"`
	// Weights multiply the values: one weight, or one per head.
	Weights []float64 `json:"weights"`
	Values  []float64 `json:"values"` // [width]
}

// Step is an intermediate vector between the sum and the representation.
type Step struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values"` // [width]
}

const normEpsilon = 1e-5

// formulas of the layers that Unfold supports, by type in package nmgnn.
var formulas = map[string]string{
	"gin":   "h' = MLP((1+ε)·h_v + Σ δ(u)·h_u)",
	"gcn":   "h' = Σ δ(u)·W·h_u/√(d_u·d_v) + b, over v too",
	"sage":  "h' = W_root·h_v + W·Σ δ(u)·h_u/|N_v| + b",
	"gat":   "h' = Σ δ(u)·α_vu·W·h_u + b, over v too",
	"sgat":  "h' = Σ δ(u)·W·h_u/|v∪N_v| + b, over v too",
	"gatv2": "h' = Σ δ(u)·α_vu·s_u + b, over v too",
}

// Unfold returns the sum that gives h_v^(layer) of a saved model on a graph. Layers count from 1; layers + 1 is the
// readout. mask marks masked nodes; nil: none. It returns an error for a missing model or graph, an unknown node or
// layer, and anything that [infer.Model.Represent] refuses.
func Unfold(b *backend.Backend, m *cached.Model, g *datasets.Graph, v int32, layer int, mask []bool) (*Sum, error) {
	if m == nil {
		return nil, errors.New("the model is nil: read one with cached.LoadModel")
	}
	if err := checkGraph(g); err != nil {
		return nil, err
	}
	layers := m.Settings.Layers
	if m.Settings.Readout != "" {
		layers++
	}
	switch {
	case m.Own != nil:
		return nil, errors.New("a model of one's own layers, whose sums are not known here")
	case formulas[m.Settings.Model] == "":
		return nil, fmt.Errorf("the sums of the model %s: none of them are written out here: expected one of %q",
			m.Settings.Model, slices.Sorted(maps.Keys(formulas)))
	case v < 0 || int(v) >= g.Edges.NumNodes():
		return nil, fmt.Errorf("node %d: the graph has %d nodes, numbered from 0", v, g.Edges.NumNodes())
	case layer < 1 || layer > layers:
		return nil, fmt.Errorf("layer %d: expected 1 to %d", layer, layers)
	}
	all, err := m.Network().Represent(b, g.Edges, g.Features, infer.Options{Mask: mask})
	if err != nil {
		return nil, err
	}
	u := &unfolder{settings: m.Settings, weights: map[string]infer.Weight{}, graph: g, node: v, layer: layer, mask: mask,
		all: all, s: &Sum{Node: v, Layer: layer, Formula: formulas[m.Settings.Model], Model: all[layer-1].Row(int(v))}}
	for _, w := range m.Weights {
		u.weights[w.Path] = w
	}
	if layer > m.Settings.Layers {
		u.readout()
	} else {
		u.unfold()
	}
	return u.s, nil
}

type unfolder struct {
	settings hyper.Parameters
	weights  map[string]infer.Weight
	graph    *datasets.Graph
	node     int32
	layer    int
	mask     []bool
	all      []infer.Representation
	s        *Sum
}

// h returns h_v^(layer); layer 0 is the features.
func (u *unfolder) h(v int32, layer int) []float64 {
	var row []float32
	if layer > 0 {
		row = u.all[layer-1].Row(int(v))
	} else if x := u.graph.Features.Select([]int32{v}); u.settings.NormalizeFeatures {
		row = x.RowNormalized().Row(0, nil)
	} else {
		row = x.Row(0, nil)
	}
	h := make([]float64, len(row))
	for i := range row {
		h[i] = float64(row[i])
	}
	return h
}

func (u *unfolder) weight(name string) infer.Weight {
	if u.layer <= u.settings.Layers {
		name = fmt.Sprintf("layer%d/%s", u.layer-1, name)
	}
	return u.weights["/"+gomlx.ModelScope+"/"+name]
}

func (u *unfolder) times(h []float64, name string) []float64 {
	w := u.weight(name)
	width := w.Dimensions[1]
	out := make([]float64, width)
	for i, x := range h {
		if x == 0 {
			continue
		}
		for j, y := range w.Values[i*width : (i+1)*width] {
			out[j] += x * float64(y)
		}
	}
	return out
}

// term adds u's contribution to v, values times weights; own exempts it from the mask.
func (u *unfolder) term(node int32, name string, own bool, values []float64, weights ...float64) {
	kept := 1.0
	if !own && u.mask != nil && u.mask[node] {
		kept = 0
	}
	u.s.Terms = append(u.s.Terms, Term{Node: node, Name: name, Kept: kept, Weights: weights, Values: values})
}

func (u *unfolder) step(name string, of func(i int, x float64) float64) {
	last := u.s.Steps[len(u.s.Steps)-1].Values
	values := make([]float64, len(last))
	for i, x := range last {
		values[i] = of(i, x)
	}
	u.s.Steps = append(u.s.Steps, Step{name, values})
}

func (u *unfolder) add(name, weight string) {
	b := u.weight(weight).Values
	u.step(name, func(i int, x float64) float64 { return x + float64(b[i]) })
}

func (u *unfolder) sum() {
	values := make([]float64, len(u.s.Terms[0].Values))
	for _, t := range u.s.Terms {
		for i, x := range t.Values {
			values[i] += t.Kept * t.Weights[i*len(t.Weights)/len(values)] * x
		}
	}
	u.s.Steps = append(u.s.Steps, Step{"sum", values})
}

func (u *unfolder) norm(name, scope string) {
	gamma, beta := u.weight(scope+"/gamma").Values, u.weight(scope+"/beta").Values
	mean, variance := u.weight(scope+"/running_mean").Values, u.weight(scope+"/running_variance").Values
	u.step(name, func(i int, x float64) float64 {
		return (x-float64(mean[i]))/math.Sqrt(float64(variance[i])+normEpsilon)*float64(gamma[i]) + float64(beta[i])
	})
}

func relu(_ int, x float64) float64 { return max(x, 0) }

func elu(_ int, x float64) float64 {
	if x > 0 {
		return x
	}
	return math.Expm1(x)
}

func (u *unfolder) unfold() {
	p := u.settings
	own := u.h(u.node, u.layer-1)
	switch p.Model {
	case "gin":
		epsilon := p.Epsilon
		if p.LearnEpsilon {
			epsilon += float64(u.weight("epsilon").Values[0])
		}
		u.term(u.node, "W·h", true, u.times(own, "linear0/weights"), 1+epsilon)
		u.neighbours("linear0/weights", func(int32) float64 { return 1 })
		u.sum()
		u.add("+ b", "linear0/biases")
		for i := 1; i < p.MLPLayers; i++ {
			if p.Norm != "" {
				u.norm("batch norm", fmt.Sprintf("norm%d", i-1))
			}
			u.step("ReLU", relu)
			at := fmt.Sprintf("linear%d", i)
			last := u.s.Steps[len(u.s.Steps)-1].Values
			u.s.Steps = append(u.s.Steps, Step{fmt.Sprintf("· W%d", i+1), u.times(last, at+"/weights")})
			u.add(fmt.Sprintf("+ b%d", i+1), at+"/biases")
		}
	case "sage":
		u.term(u.node, "W_root·h", true, u.times(own, "root_weights"), 1)
		degree := float64(u.graph.Edges.Degree(u.node))
		u.neighbours("weights", func(int32) float64 { return 1 / degree })
	case "gcn":
		d := func(v int32) float64 { return float64(u.graph.Edges.Degree(v) + 1) }
		of := func(v int32) float64 { return 1 / math.Sqrt(d(v)*d(u.node)) }
		u.term(u.node, "W·h", false, u.times(own, "weights"), of(u.node))
		u.neighbours("weights", of)
	case "sgat":
		of := 1 / float64(u.graph.Edges.Degree(u.node)+1)
		u.term(u.node, "W·h", p.SelfTerm == hyper.SelfKept, u.times(own, "weights"), of)
		u.neighbours("weights", func(int32) float64 { return of })
	case "gat", "gatv2":
		u.attend(own)
	}
	if p.Model != "gin" {
		u.sum()
		u.add("+ b", "biases")
	}
	if u.layer < p.Layers || p.Readout != "" {
		if p.Norm == hyper.NormBoth {
			u.norm("batch norm", "norm")
		}
		if hyper.TraitsOf(p.Model).ELU {
			u.step("ELU", elu)
		} else {
			u.step("ReLU", relu)
		}
	}
	if last := u.s.Steps[len(u.s.Steps)-1].Values; p.Residual && len(last) == len(own) {
		u.step("+ h", func(i int, x float64) float64 { return x + own[i] })
	}
}

func (u *unfolder) neighbours(weights string, of func(v int32) float64) {
	for _, v := range u.graph.Edges.Neighbours(u.node) {
		u.term(v, "W·h", false, u.times(u.h(v, u.layer-1), weights), of(v))
	}
}

// attend adds attention terms of GAT or GATv2; the softmax includes masked nodes.
func (u *unfolder) attend(own []float64) {
	nodes := append([]int32{u.node}, u.graph.Edges.Neighbours(u.node)...)
	values, scores := make([][]float64, len(nodes)), make([][]float64, len(nodes))
	name, score := "W·h", u.scoreGAT
	if u.settings.Model == "gatv2" {
		name, score = "s", u.scoreGATv2
	}
	for k, v := range nodes {
		values[k], scores[k] = score(u.h(v, u.layer-1), own)
	}
	for head := range scores[0] {
		highest, sum := math.Inf(-1), 0.0
		for k := range scores {
			highest = max(highest, scores[k][head])
		}
		for k := range scores {
			scores[k][head] = math.Exp(scores[k][head] - highest)
			sum += scores[k][head]
		}
		for k := range scores {
			scores[k][head] /= sum
		}
	}
	for k, v := range nodes {
		u.term(v, name, k == 0 && u.settings.SelfTerm == hyper.SelfKept, values[k], scores[k]...)
	}
}

func leaky(x float64) float64 { return max(x, 0.2*x) }

func (u *unfolder) scoreGAT(h, own []float64) (values, scores []float64) {
	source, target := u.weight("source"), u.weight("target").Values
	values, ofOwn := u.times(h, "weights"), u.times(own, "weights")
	heads := source.Dimensions[0]
	scores = make([]float64, heads)
	for i, x := range values {
		scores[i*heads/len(values)] += x*float64(source.Values[i]) + ofOwn[i]*float64(target[i])
	}
	for head := range scores {
		scores[head] = leaky(scores[head])
	}
	return values, scores
}

func (u *unfolder) scoreGATv2(h, own []float64) (values, scores []float64) {
	a := u.weight("attention")
	sourceBiases, targetBiases := u.weight("source_biases").Values, u.weight("target_biases").Values
	values, target := u.times(h, "source_weights"), u.times(own, "target_weights")
	scores = make([]float64, a.Dimensions[0])
	for i := range values {
		values[i] += float64(sourceBiases[i])
		scores[i*len(scores)/len(values)] += float64(a.Values[i]) * leaky(values[i]+target[i]+float64(targetBiases[i]))
	}
	return values, scores
}

func (u *unfolder) readout() {
	first, name := u.settings.Layers, func(int) string { return "readout" }
	u.s.Formula = "logits = W·h + b"
	if u.settings.Readout == hyper.ReadoutAll {
		u.s.Formula = "logits = Σ_j (W_j·h^(j) + b_j), from the features j = 0 on"
		first, name = 0, func(j int) string { return fmt.Sprintf("readout%d", j) }
	}
	for j := first; j <= u.settings.Layers; j++ {
		values := u.times(u.h(u.node, j), name(j)+"/weights")
		for i, b := range u.weight(name(j) + "/biases").Values {
			values[i] += float64(b)
		}
		u.term(u.node, fmt.Sprintf("W·h^(%d) + b", j), true, values, 1)
	}
	u.sum()
}
