package record

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
)

// Axis is a property of experiments, such as the keep rate, other than data, model, setting and train set size.
type Axis struct {
	Name string // such as "keep"
	Flag string // such as "keep-rate"
	Help string
	// If Switch is not empty, the command-line flag is boolean: true means the value in Switch.
	Switch string
	Get    func(c Cell) string
	// Read parses a value and returns a function that sets it in a cell. [hyper.Parameters.Check] checks combinations
	// of values.
	Read func(text string) (func(c *Cell), error)
	// Rare axes have no flag of their own: --set sets them.
	Rare bool

	// words returns the text in legends; nil means the axis's name and the value.
	words func(value string) string
}

// Set parses a value and sets it in c.
func (a Axis) Set(c *Cell, text string) error {
	set, err := a.Read(text)
	if err == nil {
		set(c)
	}
	return err
}

// Choice is a value of an [Axis] that differs from the preset's value.
type Choice struct {
	Axis  *Axis
	Value string
}

// Arguments returns the choice as arguments of 'nodemask train'.
func (c Choice) Arguments() []string {
	value := c.Value
	if c.Axis.Switch != "" { // raw-features means the opposite of its axis
		value = strconv.FormatBool(value == c.Axis.Switch)
	}
	if c.Axis.Rare {
		return []string{"--set", c.Axis.Flag + "=" + value}
	}
	return []string{"--" + c.Axis.Flag, value}
}

const keepAxis = "keep"

const arrivalsAxis = "arrivals"

// Axes returns all axes, in their order in [Cell.Key].
func Axes() []Axis { return slices.Clone(axes()) }

var axes = sync.OnceValue(func() []Axis {
	all := []Axis{
		{Name: arrivalsAxis, Flag: "arrivals", Help: "inductive: nodes arrive with all their edges (all-edges), only those " +
			"to train nodes (train-edges), or all but those to validation nodes (no-validation)",
			Get: func(c Cell) string { return string(c.arrivals()) },
			Read: func(text string) (func(*Cell), error) {
				arrivals := cmp.Or(datasets.Arrivals(text), datasets.AllEdges)
				return func(c *Cell) { c.Arrivals = arrivals }, arrivals.Check()
			}},
		{Name: "split", Flag: "split", Help: "how the nodes are divided: stratified (drawn, each class with its share of " +
			"each set), or own (as the data come with train, validation and test nodes; without --train)",
			Get: func(c Cell) string {
				if c.OwnSplit {
					return "own"
				}
				return "stratified"
			},
			Read: func(text string) (func(*Cell), error) {
				if text != "own" && text != "stratified" {
					return nil, fmt.Errorf("%q: expected \"stratified\" or \"own\"", text)
				}
				return func(c *Cell) { c.OwnSplit = text == "own" }, nil
			}},
		{Name: "resplit", Flag: "resplit", Switch: "true", Help: "draw a split for each trial, from the trial's seed",
			Get: func(c Cell) string { return fmt.Sprint(c.Resplit) },
			Read: func(text string) (func(*Cell), error) {
				on, err := parseBool(text)
				return func(c *Cell) { c.Resplit = on }, err
			}},
		{Name: "validation", Flag: "validation", Help: "validation nodes, in percent of the nodes left after the train set",
			Get: func(c Cell) string { return strconv.Itoa(c.validationPercent()) },
			Read: func(text string) (func(*Cell), error) {
				percent, err := strconv.Atoi(text)
				if err != nil || percent < 1 || percent > 99 {
					return nil, fmt.Errorf("%q: expected a whole number from 1 to 99", text)
				}
				return func(c *Cell) { c.ValidationPercent = percent }, nil
			}},
		{Name: keepAxis, Flag: "keep-rate", Help: "node masking: probability that a node is kept in an epoch; 1 is off",
			Get: func(c Cell) string { return fmt.Sprint(c.Parameters.KeepRate.Probability()) },
			Read: func(text string) (func(*Cell), error) {
				p, err := parseFloat(text)
				if err != nil {
					return nil, err
				}
				rate, err := hyper.NewKeepRate(p)
				return func(c *Cell) { *c = c.Masked(float64(rate)) }, err
			},
			words: func(value string) string { return "p = " + value }},
		text("over", "mask-over", "nodes that can be masked: all, or only the train nodes (train)",
			func(p *hyper.Parameters) *hyper.MaskOver { return &p.MaskOver }),
		boolean("rescale", "rescale", "true", "divide what is kept by the keep rate; not in the paper",
			func(p *hyper.Parameters) *bool { return &p.Rescale }),
		oneOf("self", "self-term", "a masked node's own term (gat, sgat, gatv2): kept, as eq. 6 can be read; eqs. 7 and 9 "+
			"mask it", "masked", []hyper.SelfTerm{hyper.SelfKept},
			func(p *hyper.Parameters) *hyper.SelfTerm { return &p.SelfTerm }),
		{Name: "regulariser", Flag: "regulariser", Help: "beside or instead of node masking: dropedge, " +
			"dropout or dropgnn (nodes masked in testing too, averaged), with its drop probability after a colon " +
			"(dropedge:0.5)",
			Get:  func(c Cell) string { return regulariser(c.Parameters) },
			Read: readRegulariser},
		count("layers", "layers", "number of layers", func(p *hyper.Parameters) *int { return &p.Layers }),
		count("hidden", "hidden", "width of hidden layers", func(p *hyper.Parameters) *int { return &p.Hidden }),
		count("mlp", "mlp-layers", "linear layers in each GIN layer's MLP",
			func(p *hyper.Parameters) *int { return &p.MLPLayers }),
		float("epsilon", "epsilon", "GIN's epsilon; 0 is GIN-0", func(p *hyper.Parameters) *float64 { return &p.Epsilon }),
		boolean("learn-epsilon", "learn-epsilon", "true", "train GIN's epsilon, from --epsilon on",
			func(p *hyper.Parameters) *bool { return &p.LearnEpsilon }),
		oneOf("norm", "norm", "batch normalisation (gin): between the linear layers of each MLP (inside), or after each "+
			"hidden layer too (both)", "none", hyper.Norms(), func(p *hyper.Parameters) *hyper.Norm { return &p.Norm }),
		oneOf("readout", "readout", "logits by linear layers: on the last representation (last), or on all of them and the "+
			"features, added up (all), instead of the last layer's outputs", "none", hyper.Readouts(),
			func(p *hyper.Parameters) *hyper.Readout { return &p.Readout }),
		boolean("residual", "residual", "true", "add a layer's input to its output, where they are of one width",
			func(p *hyper.Parameters) *bool { return &p.Residual }),
		count("heads", "heads", "attention heads that share the hidden width (gat, gatv2; sgat's attention dropout)",
			func(p *hyper.Parameters) *int { return &p.Heads }),
		float("dropout", "dropout", "probability that an entry of a layer's input is dropped",
			func(p *hyper.Parameters) *float64 { return &p.Dropout }),
		oneOf("dropout-on", "dropout-on", "where dropout is: on the scores of each representation that is read out, alone "+
			"(scores)", "inputs", []hyper.DropoutOn{hyper.DropoutOnScores},
			func(p *hyper.Parameters) *hyper.DropoutOn { return &p.DropoutOn }),
		float("attention-dropout", "attention-dropout", "probability that an attention weight is dropped (gat, sgat, "+
			"gatv2; 0 with node masking unless given)", func(p *hyper.Parameters) *float64 { return &p.AttentionDropout }),
		float("lr", "learning-rate", "learning rate of Adam", func(p *hyper.Parameters) *float64 { return &p.LearningRate }),
		float("decay", "weight-decay", "L2, added to the gradient",
			func(p *hyper.Parameters) *float64 { return &p.WeightDecay }),
		boolean("normalize", "raw-features", "false", "do not divide each node's features by the sum of their absolute "+
			"values", func(p *hyper.Parameters) *bool { return &p.NormalizeFeatures }),
		count("epochs", "max-epochs", "most epochs of a trial", func(p *hyper.Parameters) *int { return &p.MaxEpochs }),
		count("patience", "patience", "epochs without a better validation score before a trial stops",
			func(p *hyper.Parameters) *int { return &p.Patience }),
		text("stop", "stop-on", "validation score that stopping follows: loss, f1, accuracy, or either of loss and accuracy",
			func(p *hyper.Parameters) *hyper.StopOn { return &p.StopOn }),
	}
	for i := range all {
		all[i].Rare = !slices.Contains(usualFlags, all[i].Flag)
	}
	return all
})

var usualFlags = []string{"arrivals", "split", "keep-rate", "regulariser", "dropout", "layers", "hidden", "learning-rate",
	"max-epochs", "stop-on"}

// Choices returns how the cell differs from the model's preset.
func (c Cell) Choices() []Choice {
	preset, ok := presets()[c.Parameters.Model]
	if !ok {
		preset = c.Parameters
	}
	return c.Differences(Cell{Data: c.Data, Setting: c.Setting, TrainPercent: c.TrainPercent, Parameters: preset})
}

// Differences returns how c differs from usual, an experiment with the same model. Attention dropout is compared as if
// usual had c's keep rate, so the attention dropout that masking removes is no difference.
func (c Cell) Differences(usual Cell) []Choice {
	masked := usual.Masked(float64(c.Parameters.KeepRate))
	var choices []Choice
	all := axes()
	for i := range all {
		axis, from := &all[i], &usual
		if axis.Name == "attention-dropout" {
			from = &masked
		}
		if value := axis.Get(c); value != axis.Get(*from) {
			choices = append(choices, Choice{axis, value})
		}
	}
	return choices
}

var presets = sync.OnceValue(func() map[string]hyper.Parameters {
	all := map[string]hyper.Parameters{}
	for _, model := range hyper.Models() {
		p, err := hyper.For(model)
		if err != nil {
			panic(err)
		}
		all[model] = p
	}
	return all
})

func (c Cell) validationPercent() int { return cmp.Or(c.ValidationPercent, 10) }

func (c Cell) arrivals() datasets.Arrivals { return cmp.Or(c.Arrivals, datasets.AllEdges) }

// Words returns the choice in words.
func (c Choice) Words() string { return c.Axis.label(c.Value) }

func (a Axis) label(value string) string {
	if a.words != nil {
		return a.words(value)
	}
	return strings.ReplaceAll(a.Name, "-", " ") + " " + value
}

func parameter[T comparable](name, flag, help string, field func(*hyper.Parameters) *T,
	read func(text string) (T, error)) Axis {
	return Axis{Name: name, Flag: flag, Help: help,
		Get: func(c Cell) string { return fmt.Sprint(*field(&c.Parameters)) },
		Read: func(text string) (func(*Cell), error) {
			value, err := read(text)
			return func(c *Cell) { *field(&c.Parameters) = value }, err
		}}
}

func text[T ~string](name, flag, help string, field func(*hyper.Parameters) *T) Axis {
	return parameter(name, flag, help, field, func(text string) (T, error) { return T(text), nil })
}

func oneOf[T ~string](name, flag, help, none string, names []T, field func(*hyper.Parameters) *T) Axis {
	a := parameter(name, flag, help+"; "+none+" otherwise", field, func(text string) (T, error) {
		if text == none {
			return "", nil
		}
		if !slices.Contains(names, T(text)) {
			return "", fmt.Errorf("%q: expected one of %q", text, append([]T{T(none)}, names...))
		}
		return T(text), nil
	})
	a.Get = func(c Cell) string { return cmp.Or(string(*field(&c.Parameters)), none) }
	return a
}

func count(name, flag, help string, field func(*hyper.Parameters) *int) Axis {
	return parameter(name, flag, help, field, func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil {
			return 0, fmt.Errorf("%q: expected a whole number", text)
		}
		return n, nil
	})
}

func float(name, flag, help string, field func(*hyper.Parameters) *float64) Axis {
	return parameter(name, flag, help, field, parseFloat)
}

func boolean(name, flag, on, help string, field func(*hyper.Parameters) *bool) Axis {
	a := parameter(name, flag, help, field, parseBool)
	a.Switch = on
	return a
}

func parseFloat(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("%q: expected a number", text)
	}
	return x, nil
}

func parseBool(text string) (bool, error) {
	if text != "true" && text != "false" {
		return false, fmt.Errorf("%q: expected true or false", text)
	}
	return text == "true", nil
}

const usualRate = 0.5

func regulariser(p hyper.Parameters) string {
	if p.Regulariser == "" {
		return ""
	}
	return fmt.Sprintf("%s:%v", p.Regulariser, p.RegulariserRate)
}

func readRegulariser(text string) (func(*Cell), error) {
	name, rateText, given := strings.Cut(text, ":")
	is := hyper.RegulariserName(name)
	if !is.IsRetired() && !slices.Contains(hyper.Regularisers(), is) {
		return nil, fmt.Errorf("%q: expected one of %v, with its rate after a colon", text, hyper.Regularisers())
	}
	rate := usualRate
	if given {
		var err error
		if rate, err = parseFloat(rateText); err != nil {
			return nil, err
		}
	}
	return func(c *Cell) {
		c.Parameters.Regulariser, c.Parameters.RegulariserRate = is, rate
	}, nil
}
