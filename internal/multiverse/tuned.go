package multiverse

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/record"
	"nodemask/stats"
)

// The rule of the protocol's tuned comparison. Everything is read where stopping follows macro F1, new nodes with all
// their edges.
const (
	tunedBudget     = 12
	tunedFirstTry   = 200 // splits that configurations are chosen on
	tunedTries      = 3
	tunedFirstFresh = 300 // splits that the chosen ones are compared on
	tunedFresh      = 20
	tunedStop       = hyper.StopOnF1
)

// The arms of the tuned comparison.
const (
	ArmPlain       = "plain"
	ArmMasked      = "masked, p = 0.5"
	ArmMaskedTuned = "masked, p tuned" // chooses its keep rate
	ArmDropEdge    = "DropEdge, tuned"
	ArmDropout     = "dropout, tuned"
)

// TunedArms lists the arms of the tuned comparison, the baseline first.
func TunedArms() []string {
	return []string{ArmPlain, ArmMasked, ArmMaskedTuned, ArmDropEdge, ArmDropout}
}

// TunedModels lists the models of the tuned comparison.
func TunedModels() []string { return []string{"gin", "gat", "sgat", "gcn", "sage"} }

// TunedData lists the data sets of the tuned comparison.
func TunedData() []string { return []string{"cora", "citeseer", "pubmed"} }

// TunedSizes returns the sizes of the train set of the tuned comparison, in percent.
func TunedSizes() []int { return []int{10, 50} }

// TunedQuestion is one cell of the tuned comparison.
type TunedQuestion struct {
	Data, Model  string
	Setting      datasets.Setting
	TrainPercent int
}

// TunedQuestions lists the cells of the tuned comparison of models on data sets, by model, data set, setting and size;
// nil: all.
func TunedQuestions(data, models []string) []TunedQuestion {
	if data == nil {
		data = TunedData()
	}
	if models == nil {
		models = TunedModels()
	}
	var all []TunedQuestion
	for _, model := range models {
		for _, on := range data {
			for _, setting := range datasets.Settings() {
				for _, size := range TunedSizes() {
					all = append(all, TunedQuestion{Data: on, Model: model, Setting: setting, TrainPercent: size})
				}
			}
		}
	}
	return all
}

// configurations draws an arm's configurations without looking: values of record axes, by name.
func configurations(model, arm string) ([]map[string]string, error) {
	grid := map[string][]string{"lr": {"0.005", "0.01"}, "decay": {"0", "0.0005"}, "hidden": {"32", "64"},
		"dropout": {"0", "0.5"}, "keep": {"1"}}
	rates := []string{"0.1", "0.3", "0.5", "0.7", "0.9"}
	switch arm {
	case ArmPlain:
	case ArmMasked:
		grid["keep"] = []string{fmt.Sprint(KeepRate)}
	case ArmMaskedTuned:
		grid["keep"] = rates
	case ArmDropEdge:
		for _, rate := range rates {
			grid["regulariser"] = append(grid["regulariser"], "dropedge:"+rate)
		}
	case ArmDropout:
		grid["dropout"] = []string{"0", "0.2", "0.4", "0.6", "0.8"}
	default:
		return nil, fmt.Errorf("no arm %q: expected one of %q", arm, TunedArms())
	}
	if model == "gat" || model == "sgat" {
		// Leaving attention dropout out may be all that masking does there: every arm may.
		grid["attention-dropout"] = []string{"0", "0.6"}
	}
	all := []map[string]string{{}}
	for _, name := range slices.Sorted(maps.Keys(grid)) {
		var more []map[string]string
		for _, c := range all {
			for _, value := range grid[name] {
				next := maps.Clone(c)
				next[name] = value
				more = append(more, next)
			}
		}
		all = more
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(model + " " + arm))
	r := rand.New(rand.NewPCG(1, h.Sum64()))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(tunedBudget, len(all))], nil
}

func (q TunedQuestion) cell(values map[string]string) (record.Cell, error) {
	c, err := record.NewCell(q.Data, q.Model, q.Setting, q.TrainPercent).Choose(values)
	return c.Trained(), err
}

// TunedArm is what an arm's budget has found.
type TunedArm struct {
	Name       string
	Chosen     map[string]string // values of record axes; nil: not known yet
	Validation float64           // mean macro F1 of the chosen one on the tuning splits, in percent
	F1         []float64         // macro F1 of the chosen one on fresh splits, in percent, by split; complete or nil
}

// Words lists what was chosen, in the order of axes: "keep 0.9, hidden 64, …".
func (a TunedArm) Words() string {
	var parts []string
	for _, axis := range record.Axes() {
		if value, is := a.Chosen[axis.Name]; is {
			parts = append(parts, axis.Name+" "+value)
		}
	}
	return strings.Join(parts, ", ")
}

// Tuned is a cell of the tuned comparison, as far as it is known.
type Tuned struct {
	TunedQuestion
	Arms []TunedArm
	// Next is what is to be trained; the fresh splits come when every arm has chosen. Without cells everything is there.
	Next Batch
}

// Tuned says what every arm has chosen and how it does, and what is to be trained next.
func (r *Results) Tuned(q TunedQuestion) (Tuned, error) {
	t := Tuned{TunedQuestion: q}
	stop := slices.Index(hyper.StopOns(), tunedStop)
	tries, fresh := Seeds(tunedFirstTry, tunedTries), Seeds(tunedFirstFresh, tunedFresh)
	var tuning, comparing []record.Cell
	there, err := r.part(record.Pair{Data: q.Data, Model: q.Model})
	if err != nil {
		return t, err
	}
	for _, name := range TunedArms() {
		arm := TunedArm{Name: name}
		all, err := configurations(q.Model, name)
		if err != nil {
			return t, err
		}
		var best record.Cell
		complete := true
		for _, values := range all {
			c, err := q.cell(values)
			if err != nil {
				return t, err
			}
			total, n := 0.0, 0
			for _, seed := range tries {
				if one, is := there[c.Key()][seed]; is {
					total += one.ValidationF1[stop][0] / tunedTries
					n++
				}
			}
			if n < tunedTries {
				complete = false
				tuning = append(tuning, c)
			} else if arm.Chosen == nil || total > arm.Validation {
				arm.Chosen, arm.Validation, best = values, total, c
			}
		}
		if !complete {
			arm.Chosen, arm.Validation = nil, 0
			t.Arms = append(t.Arms, arm)
			continue
		}
		for _, seed := range fresh {
			if one, is := there[best.Key()][seed]; is {
				arm.F1 = append(arm.F1, one.F1[stop][0])
			}
		}
		if len(arm.F1) < tunedFresh {
			arm.F1 = nil
			comparing = append(comparing, best)
		}
		t.Arms = append(t.Arms, arm)
	}
	switch {
	case len(tuning) > 0:
		t.Next = Batch{Cells: record.Merge(tuning), Seeds: tries}
	case len(comparing) > 0:
		t.Next = Batch{Cells: record.Merge(comparing), Seeds: fresh}
	}
	return t, nil
}

// Differences subtracts one arm's macro F1 from another's, in points, by fresh split; nil if an arm of the cell has not
// run.
func (t Tuned) Differences(arm, against string) []float64 {
	f1 := map[string][]float64{}
	for _, a := range t.Arms {
		if a.F1 == nil {
			return nil
		}
		f1[a.Name] = a.F1
	}
	differences := slices.Clone(f1[arm])
	for i := range differences {
		differences[i] -= f1[against][i]
	}
	return differences
}

// Pooled compares two arms of models over those cells of the tuned comparison in which every arm has run: the mean over
// the cells of their differences in macro F1, in points, with its interval over fresh splits, and how many cells there
// are. Without one the effect is the zero value.
func Pooled(all []Tuned, models []string, arm, against string) (effect stats.TTest, cells int, err error) {
	var differences [][]float64
	for _, t := range all {
		if d := t.Differences(arm, against); d != nil && slices.Contains(models, t.Model) {
			differences = append(differences, d)
		}
	}
	if len(differences) == 0 {
		return effect, 0, nil
	}
	effect, err = stats.Pooled(differences)
	return effect, len(differences), err
}
