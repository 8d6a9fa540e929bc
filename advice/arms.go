package advice

import (
	"fmt"
	"maps"
	"strings"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

// arm is a regulariser that a model is trained with, beside or instead of the preset's dropout.
type arm struct {
	name string
	// axis and prefix say how a drop rate is written: a value of that axis of record. The keep axis takes what is left.
	axis, prefix string
	// cost is how much longer than the plain model it trains, about: measured on Cora, for budgets to be planned.
	cost float64
}

// plain is the baseline: dropout as validation chose it, and nothing else.
const plain = "plain"

// dropoutArm is the only arm that tunes dropout itself.
const dropoutArm = "dropout"

// maskingArm is what the project is about.
const maskingArm = "node masking"

// arms lists what is compared with the plain model, in the order in which it is tried.
func arms() []arm {
	return []arm{{maskingArm, "keep", "", 1}, {"DropGNN", "regulariser", "dropgnn:", 2},
		{dropoutArm, "dropout", "", 1}, {"DropEdge", "regulariser", "dropedge:", 1}}
}

// kin is how many of the first arms are compared before others are tried: masking, and DropGNN, which masks in testing
// too.
const kin = 2

// Configurations: of the plain model, and at most and at least of each arm.
const (
	plainTried = 8
	mostTried  = 6
	fewTried   = 2
)

// value is how the arm's axis has a drop rate.
func (a arm) value(rate float64) string {
	if a.axis == "keep" {
		return fmt.Sprint((100 - 100*rate) / 100)
	}
	return a.prefix + fmt.Sprint(rate)
}

// configurations lists what an arm may choose from once the plain model has chosen scaling, normalisation and the rest,
// which all arms share: drop rates, each with the plain model's dropout and with the other. What to try first comes
// first.
func (a arm) configurations(of map[string]string) []map[string]string {
	var all []map[string]string
	add := func(with ...string) {
		c := maps.Clone(of)
		for i := 0; i < len(with); i += 2 {
			c[with[i]] = with[i+1]
		}
		all = append(all, c)
	}
	if a.name == dropoutArm {
		for _, rate := range []string{"0.3", "0.5", "0.1", "0.7", "0.2", "0.6"} {
			add(a.axis, rate)
		}
		return all
	}
	other := "0"
	if of[dropoutArm] == other {
		other = "0.5"
	}
	for _, dropout := range []string{of[dropoutArm], other} {
		for _, rate := range []float64{0.3, 0.5, 0.1} {
			add(dropoutArm, dropout, a.axis, a.value(rate))
		}
	}
	return all
}

// plainConfigurations lists what a plain model chooses from: the scaling of features, dropout, and what else decides
// about a model most: GIN's batch normalisation, dropout of attention, weight decay.
func plainConfigurations(model string) []map[string]string {
	third := []map[string]string{{"decay": "0.0005"}, {"decay": "0"}}
	switch traits := hyper.TraitsOf(model); {
	case traits.MLP:
		third = []map[string]string{{"mlp": "1"}, {"mlp": "2", "norm": "both"}}
	case traits.Attention:
		third = []map[string]string{{"attention-dropout": "0.6"}, {"attention-dropout": "0"}}
	}
	var all []map[string]string
	for _, other := range third {
		for _, scaled := range []string{"true", "false"} {
			for _, dropout := range []string{"0.5", "0"} {
				c := maps.Clone(other)
				c["normalize"], c[dropoutArm] = scaled, dropout
				all = append(all, c)
			}
		}
	}
	return all
}

// cell is a configuration of a model in a setting. Stopping follows macro F1, which is what is compared: a loss that is
// validated without a mask stops masked models too early.
func (o *Options) cell(model string, setting datasets.Setting, values map[string]string) (record.Cell, error) {
	c := record.NewCell(o.id, model, setting, o.TrainPercent)
	c.Resplit, c.ValidationPercent = true, o.validationPercent
	c.Parameters.StopOn = hyper.StopOnF1
	return c.Choose(values)
}

// words writes what an arm has chosen of its own: "p = 0.7", "0.3".
func (a arm) words(chosen map[string]string) string {
	value := strings.TrimPrefix(chosen[a.axis], a.prefix)
	if a.axis == "keep" {
		return "p = " + value
	}
	return value
}

// shared lists what all arms of a model share, in the order of axes.
func shared(chosen map[string]string) string {
	var parts []string
	for _, axis := range record.Axes() {
		value, ok := chosen[axis.Name]
		switch {
		case !ok:
		case axis.Name == "normalize" && value == "true":
			parts = append(parts, "features divided by their sums")
		case axis.Name == "normalize":
			parts = append(parts, "features as they are")
		case axis.Name == "norm":
			parts = append(parts, "batch normalisation")
		case axis.Name == "mlp" && value == "1":
			parts = append(parts, "no batch normalisation")
		case axis.Name == "decay" || axis.Name == "attention-dropout":
			parts = append(parts, strings.ReplaceAll(axis.Flag, "-", " ")+" "+value)
		}
	}
	return strings.Join(parts, ", ")
}
