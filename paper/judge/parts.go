package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

// Splits is the number of splits that trials use. FirstSplit is the seed of the first split.
const (
	FirstSplit = 500
	Splits     = 20
)

// Models returns the paper's models in the protocol's order.
func Models() []string { return []string{"gin", "gat", "sgat"} }

// Data returns the protocol's data sets.
func Data() []string { return []string{"cora", "citeseer", "pubmed"} }

const (
	axisFeatures  = "features"
	axisDropout   = "dropout"
	axisRates     = "rates"
	axisRescale   = "rescale"
	axisBody      = "body"
	axisMasked    = "masked"
	axisSelf      = "self"
	axisAttention = "attention dropout"
	axisStop      = "stop"
	axisArrivals  = "arrivals"
)

// Axes returns the choices that the paper leaves open for a model, or an error if the paper lacks the model. The first
// option of each axis follows the paper or its cited works. The [Reading] that picks every first option is the main
// interpretation of the paper, called the cited reading. PROTOCOL-2.md in package paper quotes the paper on each axis.
func Axes(model string) ([]Axis, error) {
	common := []Axis{
		{Name: axisRescale, Title: "What is kept is divided by p", Masked: true,
			Options: Options("no", "yes: rescale=true")},
		{Name: axisMasked, Title: "Nodes that can be masked", Setting: datasets.Transductive, Masked: true,
			Options: Options("train nodes: over=train", "all: over=all")},
		{Name: axisStop, Title: "Early stopping follows",
			Options: Options("loss and accuracy: stop=either", "loss: stop=loss", "macro F1: stop=f1",
				"accuracy: stop=accuracy")},
		{Name: axisArrivals, Title: "New nodes arrive with", Setting: datasets.Inductive,
			Options: Options("edges to train nodes: arrivals=train-edges", "all edges: arrivals=all-edges",
				"all but validation nodes: arrivals=no-validation")},
	}
	switch model {
	case "gin":
		return append([]Axis{
			{Name: axisFeatures, Title: "Features",
				Options: Options("divided by their sum: normalize=true", "raw: normalize=false")},
			{Name: axisDropout, Title: "Dropout",
				Options: Options("0.5 on scores: dropout=0.5 dropout-on=scores", "none: dropout=0 dropout-on=inputs")},
			{Name: axisRates, Title: "Learning rate, L2",
				Options: Options("0.01, 0: lr=0.01 decay=0", "0.005, 5e-4: lr=0.005 decay=0.0005")},
			{Name: axisBody, Title: "Body of GIN",
				Options: Options("GIN-0: mlp=2 norm=both readout=all", "no normalisation: mlp=2 norm=none readout=all",
					"one linear layer: mlp=1 norm=none readout=all",
					"logits from the last representation: mlp=2 norm=both readout=last")},
		}, common...), nil
	case "gat", "sgat":
		return append([]Axis{
			{Name: axisSelf, Title: "A masked node to itself", Masked: true,
				Options: Options("kept: self=kept", "masked: self=masked")},
			{Name: axisAttention, Title: "Attention dropout without masking", Plain: true,
				Options: Options("0.6: attention-dropout=0.6", "none: attention-dropout=0")},
		}, common...), nil
	}
	return nil, fmt.Errorf("no cited reading of %q: expected one of %q", model, Models())
}

// Part names a part of a protocol. The part [Graphs] belongs to paper/PROTOCOL-3.md, all others to paper/PROTOCOL-2.md.
type Part string

// The parts of PROTOCOL-2.md and PROTOCOL-3.md, in order.
const (
	// Cited varies the two points on which the paper contradicts itself: which edges new nodes bring after training,
	// and whether a masked node aggregates from itself. Two more points vary: whether the terms that masking keeps are
	// divided by the keep rate, and whether the unmasked GAT and SGAT have attention dropout.
	Cited Part = "cited"
	// Departures changes the main interpretation of the paper on one [Axis] at a time, on Cora.
	Departures Part = "departures"
	// Stated keeps what the paper states, and combines the options for features, dropout, learning rate and rescaling,
	// which the paper leaves open. For GIN on PubMed, only half of the combinations run.
	Stated Part = "stated"
	// Scale tests one explanation of masking's effect. In training only, masking shrinks sums over maskable neighbours,
	// on average by the factor p (keep rate). Scale varies normalisation and rescaling on ten splits of Cora.
	Scale Part = "scale"
	// Tables runs trials at the train set sizes that the paper's tables have but the protocol's other parts lack.
	Tables Part = "tables"
	// Balanced compares regularisers ([BalancedDesign]) tuned over the same sixteen configurations and their own keep
	// or drop rates.
	Balanced Part = "balanced"
	// Graphs runs what PROTOCOL-3.md prescribes: variants of the main interpretation of the paper on [GraphFiles],
	// stopped early on macro F1.
	Graphs Part = "graphs"
)

// Parts returns all parts of PROTOCOL-2.md and PROTOCOL-3.md.
func Parts() []Part { return []Part{Cited, Departures, Stated, Scale, Tables, Balanced, Graphs} }

// Seeds returns the seeds of the splits in this part of the protocol.
func (p Part) Seeds() []uint64 {
	switch p {
	case Scale:
		return hyper.Seeds(FirstSplit, Splits/2)
	case Graphs:
		return hyper.Seeds(FirstGraphSplit, Splits)
	}
	return hyper.Seeds(FirstSplit, Splits)
}

// Data returns the data sets in this part of the protocol.
func (p Part) Data() []string {
	if p != Graphs {
		return Data()
	}
	var names []string
	for _, f := range GraphFiles() {
		names = append(names, f.Data)
	}
	return names
}

// Models returns the models in this part of the protocol.
func (p Part) Models() []string {
	if p == Graphs {
		return []string{"gin", "gat"}
	}
	return Models()
}

// QuestionOf returns the question of this part of the protocol, or an error for an unknown part or model.
func QuestionOf(part Part, data, model string, setting datasets.Setting) (Question, error) {
	axes, err := Axes(model)
	q := Question{Axes: axes, Data: data, Model: model, Setting: setting, Sizes: Sizes(),
		Seeds: part.Seeds()}
	if err != nil {
		return q, err
	}
	switch part {
	case Tables:
		q.Sizes, q.Readings = []int{20, 33, 75}, vary(axes, setting, axisAttention)
	case Cited:
		q.Readings = vary(axes, setting, axisArrivals, axisSelf, axisRescale, axisAttention)
	case Departures:
		q.Readings = departures(axes, setting)
		if data == "pubmed" && model == "gin" {
			q.Readings = append(q.Readings, Choice{RawFeatures: true}.reading(axes, setting))
		}
	case Stated:
		q.Readings = vary(axes, setting, axisFeatures, axisDropout, axisRates, axisRescale)
		if data == "pubmed" && model == "gin" {
			q.Readings = slices.DeleteFunc(q.Readings, func(r Reading) bool {
				return (r[index(axes, axisFeatures)]+r[index(axes, axisDropout)]+r[index(axes, axisRates)])%2 == 1
			})
		}
	case Graphs:
		q.Sizes, q.Readings = graphReadings(axes, model, setting)
	case Scale:
		q.Readings = slices.DeleteFunc(vary(axes, setting, axisBody, axisRescale), func(r Reading) bool {
			body := index(axes, axisBody)
			return body >= 0 && r[body] > 1 || setting == datasets.Inductive && r[index(axes, axisArrivals)] > 0
		})
	default:
		return q, fmt.Errorf("no part %q of the protocol: expected one of %q", part, Parts())
	}
	return q, nil
}

// Stages groups a part's questions in the order to run them.
func Stages(part Part, questions []Question) (stages [][]Question) {
	if part != Graphs {
		return [][]Question{questions}
	}
	for _, model := range part.Models() {
		for _, size := range graphSizes(model) {
			var some []Question
			for _, q := range questions {
				if q.Model == model {
					q.Sizes = []int{size}
					some = append(some, q)
				}
			}
			stages = append(stages, some)
		}
	}
	return stages
}

func index(axes []Axis, name string) int {
	return slices.IndexFunc(axes, func(a Axis) bool { return a.Name == name })
}

// vary returns the interpretations of the paper that differ from the main interpretation only on the named axes. It
// omits the third option of axisArrivals: validation nodes are absent at test time.
func vary(axes []Axis, setting datasets.Setting, names ...string) []Reading {
	return slices.DeleteFunc(AllReadings(axes, setting), func(r Reading) bool {
		for i, axis := range axes {
			if r[i] > 0 && !slices.Contains(names, axis.Name) || axis.Name == axisArrivals && r[i] > 1 {
				return true
			}
		}
		return false
	})
}

// departures returns the main interpretation of the paper and each interpretation that differs from it on exactly one
// axis. Axes that the part [Stated] varies keep their first option.
func departures(axes []Axis, setting datasets.Setting) []Reading {
	all := []Reading{make(Reading, len(axes))}
	for i, axis := range axes {
		if !axis.Matters(setting) || slices.Contains([]string{axisFeatures, axisDropout, axisRates, axisRescale}, axis.Name) {
			continue
		}
		for option := range axis.Options[1:] {
			r := make(Reading, len(axes))
			r[i] = option + 1
			all = append(all, r)
		}
	}
	return all
}

// Departure returns how r differs from the main interpretation of the paper, such as "rescale: yes". Without a
// difference it returns "the cited reading".
func Departure(axes []Axis, r Reading) string {
	var steps []string
	for i, axis := range axes {
		if r[i] > 0 {
			steps = append(steps, axis.Name+": "+axis.Options[r[i]].Name)
		}
	}
	return cmp.Or(strings.Join(steps, "; "), Choice{}.String())
}

// Batch is what to train next: each cell with each seed.
type Batch struct {
	Cells []record.Cell
	Seeds []uint64
}

// DepthSplits is the number of splits that trials on depth use. FirstDepthSplit is the seed of the first split.
const (
	DepthSplits     = 10
	FirstDepthSplit = 100
)

// Depths returns the compared numbers of layers.
func Depths() []int { return []int{2, 4, 8, 16} }

// DepthCell returns an unmasked experiment on depth: GIN's preset, with the MLP and readout that validated best at 16
// layers on three splits.
func DepthCell(data string, setting datasets.Setting, layers int) record.Cell {
	c := record.NewCell(data, "gin", setting, 10)
	c.Resplit = true
	return c.With(func(p *hyper.Parameters) {
		p.Layers, p.MLPLayers, p.Norm, p.Readout, p.StopOn = layers, 2, hyper.NormInside, hyper.ReadoutAll, hyper.StopOnF1
	})
}

// IsDepthCell reports whether c is a [DepthCell] at any keep rate.
func IsDepthCell(c record.Cell) bool {
	keep := c.Parameters.KeepRate
	return c == DepthCell(c.Data, c.Setting, c.Parameters.Layers).Masked(float64(keep))
}
