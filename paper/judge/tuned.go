package judge

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper"
	"nodemask/paper/record"
)

const (
	tunedTries = 3
	tunedFresh = 20
)

// The regularisers ("arms") of the tuned comparisons.
const (
	ArmPlain       = "plain"
	ArmMasked      = "masked, p = 0.5"
	ArmMaskedTuned = "masked, p tuned"
	ArmDropEdge    = "DropEdge, tuned"
	ArmDropout     = "dropout, tuned"
	ArmDropGNN     = "DropGNN, tuned"
)

// Grid maps names of [record.Axis] to the values to try.
type Grid map[string][]string

// With returns a copy of g to which the axes of h are added. If both grids have an axis, its values come from h.
func (g Grid) With(h Grid) Grid {
	g = maps.Clone(g)
	maps.Copy(g, h)
	return g
}

func (g Grid) all() []map[string]string {
	all := []map[string]string{{}}
	for _, name := range slices.Sorted(maps.Keys(g)) {
		var more []map[string]string
		for _, c := range all {
			for _, value := range g[name] {
				next := maps.Clone(c)
				next[name] = value
				more = append(more, next)
			}
		}
		all = more
	}
	return all
}

// Design defines a comparison of regularisers with tuned hyperparameters.
type Design struct {
	Models   []TunedModel
	Data     []string
	Arms     []string // the compared regularisers, the baseline first
	Added    []string // regularisers added after the protocol was fixed; [Tuned].Complete ignores them
	Stop     hyper.StopOn
	Arrivals datasets.Arrivals
	FirstTry uint64 // seed of the first split for tuning
	Fresh    uint64 // seed of the first split for comparing regularisers; tuning uses other splits
	Budget   int    // number of random configurations per regulariser; 0 means all

	// Grids returns the hyperparameter values that an arm (regulariser) tries.
	Grids func(model, arm string) []Grid
	// Base returns the experiment to which a configuration is applied.
	Base func(q TunedQuestion, masked bool) (record.Cell, error)
}

// TunedModel is a model or a variant of a model. The field With says how the layers, features or early stopping of the
// variant differ.
type TunedModel struct {
	Name, With string
	Added      bool         // model added after the protocol was final
	Stop       hyper.StopOn // "" means [Design].Stop
}

// Title returns the model's name and variant, with "(exploratory)" if Added is true.
func (m TunedModel) Title() string {
	title := hyper.Title(m.Name)
	if m.With != "" {
		title += " with " + m.With
	}
	if m.Added {
		title += " (exploratory)"
	}
	return title
}

// DrawnDesign returns PROTOCOL.md's tuned comparison, with twelve random configurations per regulariser.
func DrawnDesign() Design {
	d := Design{Data: []string{"cora", "citeseer", "pubmed"},
		Arms:  []string{ArmPlain, ArmMasked, ArmMaskedTuned, ArmDropEdge, ArmDropout},
		Added: []string{ArmDropGNN},
		Stop:  hyper.StopOnF1, Arrivals: datasets.AllEdges, FirstTry: 200, Fresh: 300, Budget: 12,
		Base: func(q TunedQuestion, _ bool) (record.Cell, error) {
			return record.NewCell(q.Data, q.Model.Name, q.Setting, q.TrainPercent), nil
		}}
	for _, name := range []string{"gin", "gat", "sgat", "gcn", "sage"} {
		d.Models = append(d.Models, TunedModel{Name: name})
	}
	rates := []string{"0.1", "0.3", "0.5", "0.7", "0.9"}
	d.Grids = func(model, arm string) []Grid {
		g := Grid{"lr": {"0.005", "0.01"}, "decay": {"0", "0.0005"}, "hidden": {"32", "64"}, "dropout": {"0", "0.5"},
			"keep": {"1"}}
		switch arm {
		case ArmMasked:
			g["keep"] = []string{fmt.Sprint(paper.MaskedKeepRate)}
		case ArmMaskedTuned:
			g["keep"] = rates
		case ArmDropEdge, ArmDropGNN:
			g["regulariser"] = WithRates(arm, rates)
		case ArmDropout:
			g["dropout"] = []string{"0", "0.2", "0.4", "0.6", "0.8"}
		}
		if model == "gat" || model == "sgat" {
			// Tune attention dropout for every regulariser, not only for masking, which replaces attention dropout.
			// Otherwise masking could win just because omitting attention dropout helps by itself.
			g["attention-dropout"] = []string{"0", "0.6"}
		}
		return []Grid{g}
	}
	return d
}

// WithRates returns values of the axis "regulariser", such as "dropedge:0.5": the arm's regulariser with each rate.
func WithRates(arm string, rates []string) []string {
	name := map[string]hyper.RegulariserName{ArmDropEdge: hyper.DropEdgeRegulariser,
		ArmDropGNN: hyper.DropGNNRegulariser}[arm]
	var all []string
	for _, rate := range rates {
		all = append(all, string(name)+":"+rate)
	}
	return all
}

// TunedQuestion is a model, data set, setting and train set size of a tuned comparison.
type TunedQuestion struct {
	Data         string
	Model        TunedModel
	Setting      datasets.Setting
	TrainPercent int
}

// Protocol returns the design as the protocol fixed it: without the models that were added later.
func (d Design) Protocol() Design {
	d.Models = slices.DeleteFunc(slices.Clone(d.Models), func(m TunedModel) bool { return m.Added })
	return d
}

// Questions returns all questions, ordered by model, data set, setting and train set size.
func (d Design) Questions() []TunedQuestion {
	var all []TunedQuestion
	for _, model := range d.Models {
		for _, on := range d.Data {
			for _, setting := range datasets.Settings() {
				for _, size := range []int{10, 50} {
					all = append(all, TunedQuestion{Data: on, Model: model, Setting: setting, TrainPercent: size})
				}
			}
		}
	}
	return all
}

// Of returns the design limited to these data sets and models; nil means all.
func (d Design) Of(data, models []string) Design {
	if data != nil {
		d.Data = data
	}
	d.Models = slices.DeleteFunc(slices.Clone(d.Models), func(m TunedModel) bool {
		return models != nil && !slices.Contains(models, m.Name)
	})
	return d
}

func (d Design) configurations(model, arm string) []map[string]string {
	var all []map[string]string
	for _, g := range d.Grids(model, arm) {
		all = append(all, g.all()...)
	}
	if d.Budget == 0 {
		return all
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(model + " " + arm))
	r := rand.New(rand.NewPCG(1, h.Sum64()))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(d.Budget, len(all))]
}

func (d Design) cell(q TunedQuestion, values map[string]string) (record.Cell, error) {
	c, err := d.Base(q, cmp.Or(values["keep"], "1") != "1")
	if err != nil {
		return c, err
	}
	c, err = c.Choose(values)
	return c.Trained(), err
}

// Begun reports, faster than [Design.Tuned], whether the first configuration has been trained.
func (d Design) Begun(r *record.Results, q TunedQuestion) (bool, error) {
	c, err := d.cell(q, d.configurations(q.Model.Name, d.Arms[0])[0])
	return err == nil && len(r.Trials(c)) > 0, err
}

// TunedArm is the result of one regulariser in a [Tuned] comparison.
type TunedArm struct {
	Name       string
	Chosen     map[string]string // chosen values by name of [record.Axis]; nil if not chosen yet
	Validation float64           // mean validation macro F1 of Chosen, in percent
	// F1 is macro F1, in percent, on each split on which regularisers are compared; nil until trials on all these
	// splits ran.
	F1 []float64
}

// Words describes the chosen configuration.
func (a TunedArm) Words() string {
	var parts []string
	for _, axis := range record.Axes() {
		if value, ok := a.Chosen[axis.Name]; ok {
			parts = append(parts, axis.Name+" "+value)
		}
	}
	return strings.Join(parts, ", ")
}

// Tuned holds the results of a [TunedQuestion] so far.
type Tuned struct {
	TunedQuestion
	Arms []TunedArm
	// Complete means that every regulariser of the protocol ran on every split on which regularisers are compared.
	Complete bool
	// Next is the batch to train; it has no cells if all is done.
	Next Batch
	// Stage is 0 if Next is for choosing configurations, 1 for comparing regularisers.
	Stage int
}

// Tuned returns each regulariser's chosen configuration and scores, and what to train next.
func (d Design) Tuned(r *record.Results, q TunedQuestion) (Tuned, error) {
	t := Tuned{TunedQuestion: q, Complete: true}
	readings := func(c record.Cell) map[uint64]record.Reading {
		c.Parameters.StopOn, c.Arrivals = cmp.Or(q.Model.Stop, d.Stop), d.Arrivals
		return r.Readings(c)
	}
	tries, fresh := hyper.Seeds(d.FirstTry, tunedTries), hyper.Seeds(d.Fresh, tunedFresh)
	var left [2][]record.Cell
	for i, name := range slices.Concat(d.Arms, d.Added) {
		arm, added := TunedArm{Name: name}, i >= len(d.Arms)
		var best record.Cell
		complete := true
		for _, values := range d.configurations(q.Model.Name, name) {
			c, err := d.cell(q, values)
			if err != nil {
				return t, err
			}
			total, n, there := 0.0, 0, readings(c)
			for _, seed := range tries {
				if one, ok := there[seed]; ok {
					total += one.ValidationF1 / tunedTries
					n++
				}
			}
			if n < tunedTries {
				complete = false
				left[0] = append(left[0], c)
			} else if arm.Chosen == nil || total > arm.Validation {
				arm.Chosen, arm.Validation, best = values, total, c
			}
		}
		if !complete {
			arm.Chosen, arm.Validation = nil, 0
			t.Arms, t.Complete = append(t.Arms, arm), t.Complete && added
			continue
		}
		there := readings(best)
		for _, seed := range fresh {
			if one, ok := there[seed]; ok {
				arm.F1 = append(arm.F1, one.F1)
			}
		}
		if len(arm.F1) < tunedFresh {
			arm.F1 = nil
			left[1] = append(left[1], best)
			t.Complete = t.Complete && added
		}
		t.Arms = append(t.Arms, arm)
	}
	for stage, cells := range left {
		if len(cells) > 0 {
			t.Stage, t.Next = stage, Batch{Cells: record.Merged(cells), Seeds: [][]uint64{tries, fresh}[stage]}
			break
		}
	}
	return t, r.Err()
}

// Differences returns, for each split on which regularisers are compared, arm's macro F1 minus baseline's, in points.
// The result is nil if t, arm or baseline is incomplete.
func (t Tuned) Differences(arm, baseline string) []float64 {
	f1 := map[string][]float64{}
	for _, a := range t.Arms {
		f1[a.Name] = a.F1
	}
	if !t.Complete || f1[arm] == nil || f1[baseline] == nil {
		return nil
	}
	differences := slices.Clone(f1[arm])
	for i := range differences {
		differences[i] -= f1[baseline][i]
	}
	return differences
}

// Variants of GIN in the balanced comparison.
const (
	OneLayer    = "one linear layer"
	StoppedOnF1 = "early stopping on validation F1"
	RawFeatures = "raw features"
)

// BalancedDesign returns the design of the comparison [Balanced] in PROTOCOL-2.md. Where PROTOCOL-2.md states
// nothing, the design follows the main interpretation of the paper. No variant has attention dropout, so variants
// differ only in their regulariser.
func BalancedDesign() Design {
	return Design{
		Models: []TunedModel{{Name: "gin"}, {Name: "gin", With: OneLayer},
			{Name: "gin", With: StoppedOnF1, Added: true, Stop: hyper.StopOnF1},
			{Name: "gin", With: RawFeatures, Added: true}, {Name: "gat"}, {Name: "sgat"}},
		Data:  Data(),
		Arms:  []string{ArmPlain, ArmMaskedTuned, ArmDropEdge, ArmDropout},
		Added: []string{ArmDropGNN},
		Stop:  hyper.StopOnEither, Arrivals: datasets.TrainEdges, FirstTry: 600, Fresh: 610,
		Grids: func(_, arm string) []Grid {
			plain := Grid{"lr": {"0.005", "0.01"}, "decay": {"0", "0.0005"}, "hidden": {"32", "64"},
				"dropout": {"0", "0.5"}}
			own := Grid{}
			switch arm {
			case ArmPlain:
				return []Grid{plain}
			case ArmMaskedTuned:
				own["keep"], own["rescale"] = []string{"0.3", "0.5", "0.7", "0.9"}, []string{"false", "true"}
			case ArmDropout:
				own["dropout"] = []string{"0.2", "0.4", "0.6", "0.8"}
			default:
				own["regulariser"] = WithRates(arm, []string{"0.1", "0.3", "0.5", "0.7"})
			}
			return []Grid{plain, plain.With(own)}
		},
		Base: func(q TunedQuestion, masked bool) (record.Cell, error) {
			axes, err := Axes(q.Model.Name)
			if err != nil {
				return record.Cell{}, err
			}
			reading := Choice{Fair: true, RawFeatures: q.Model.With == RawFeatures}.reading(axes, q.Setting)
			if q.Model.With == OneLayer {
				reading[index(axes, axisBody)] = 2
			}
			arm := Plain
			if masked {
				arm = Masked
			}
			return reading.Cell(axes, arm, q.Data, q.Model.Name, q.Setting, q.TrainPercent)
		},
	}
}
