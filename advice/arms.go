package advice

import (
	"fmt"
	"maps"
	"strings"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

type arm struct {
	name string
	// axis names the hyperparameter to set. Its value is prefix followed by a number: 1 − drop rate if axis is "keep",
	// else the drop rate.
	axis, prefix string
	// cost is the training time on Cora divided by the plain model's.
	cost float64
}

const plain = "plain"

const dropoutArm = "dropout"

const maskingArm = "node masking"

func arms() []arm {
	return []arm{{maskingArm, "keep", "", 1}, {"DropGNN", "regulariser", "dropgnn:", 2},
		{dropoutArm, "dropout", "", 1}, {"DropEdge", "regulariser", "dropedge:", 1}}
}

var plainArm = arm{cost: 1}

// Numbers of configurations to try, by falling time budget: plainTried for the plain model, armTried for each
// regulariser.
var (
	plainTried = []int{8, 4, 1}
	armTried   = []int{6, 3, 1}
)

func (a arm) value(rate float64) string {
	if a.axis == "keep" {
		return fmt.Sprint((100 - 100*rate) / 100)
	}
	return a.prefix + fmt.Sprint(rate)
}

// configurations lists the configurations to try for a regulariser, most promising first.
func (a arm) configurations(plainChosen map[string]string) []map[string]string {
	var all []map[string]string
	add := func(with ...string) {
		c := maps.Clone(plainChosen)
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
	if plainChosen[dropoutArm] == other {
		other = "0.5"
	}
	for _, dropout := range []string{plainChosen[dropoutArm], other} {
		for _, rate := range []float64{0.3, 0.5, 0.1} {
			add(dropoutArm, dropout, a.axis, a.value(rate))
		}
	}
	return all
}

// plainConfigurations lists the plain model's configurations, most promising first. Batch normalisation is tried only
// in the transductive setting. In the inductive setting, test nodes have more neighbours than validation nodes, and a
// normalised model scores well in validation but badly in the test.
func plainConfigurations(model string, setting datasets.Setting) []map[string]string {
	third := []map[string]string{{"decay": "0.0005"}, {"decay": "0"}}
	switch traits := hyper.TraitsOf(model); {
	case traits.MLP && setting == datasets.Transductive:
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

// cell returns an experiment whose trials stop early by macro F1 on validation nodes. Validation loss would stop masked
// models too early, because the loss is computed without a mask.
func (o *Options) cell(model string, setting datasets.Setting, values map[string]string) (record.Cell, error) {
	c := record.NewCell(o.id, model, setting, o.TrainPercent)
	c.Resplit, c.ValidationPercent = true, o.validationPercent
	c.Parameters.StopOn = hyper.StopOnF1
	return c.Choose(values)
}

func (a arm) words(chosen map[string]string) string {
	value := strings.TrimPrefix(chosen[a.axis], a.prefix)
	if a.axis == "keep" {
		return "p = " + value
	}
	return value
}

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
