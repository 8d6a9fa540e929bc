package train

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/internal/kernels"
	"nodemask/nmgnn/internal/learn"
)

// errOtherProgram means that the trainer must be compiled anew.
var errOtherProgram = errors.New("this needs another compiled program")

// switchTo changes view and options without compiling: another split of the same sizes, keep rate, nodes to mask,
// nonzero drop rates, learning rate, weight decay, stopping, feature normalization. Results equal a new trainer's. It
// returns [errOtherProgram] if the split's edges do not fit ([options].Room), or for another regulariser, setting,
// number of nodes, presence of a mask, or equality of two rates. After an error only call Close.
func (t *trainer) switchTo(view *datasets.View, o options) error {
	if err := learn.CheckTrainable(t.graph, append([]*datasets.View{view}, o.Also...)...); err != nil {
		return err
	}
	if o.KeepRate.Active() != t.options.KeepRate.Active() || o.Plan != t.options.Plan ||
		reflect.TypeOf(o.regulariser()) != reflect.TypeOf(t.options.regulariser()) || len(o.Also) != len(t.options.Also) {
		return errOtherProgram
	}
	for i, v := range append([]*datasets.View{view}, o.Also...) {
		was := t.views()[i]
		if v.Setting != was.Setting || v.Arrivals != was.Arrivals || len(v.Train.Nodes) != len(was.Train.Nodes) ||
			len(v.Validation.Nodes) != len(was.Validation.Nodes) || len(v.Test.Nodes) != len(was.Test.Nodes) {
			return errOtherProgram
		}
	}
	if err := t.rates.Replace(o.rates()); err != nil {
		return switched(err)
	}
	o.Rates = t.options.Rates // rates keep their compiled names
	o.Regulariser, o.RegulariserRate = t.options.Regulariser, t.options.RegulariserRate
	otherFeatures := o.NormalizeFeatures != t.options.NormalizeFeatures
	t.view, t.options = view, o
	if otherFeatures {
		t.features = t.normalized()
	}
	replaced := map[*nmgnn.Loaded]bool{}
	replace := func(data *nmgnn.Loaded, was, now datasets.Phase) error {
		if replaced[data] || was.Edges == now.Edges && slices.Equal(was.Nodes, now.Nodes) && !otherFeatures {
			return nil
		}
		replaced[data] = true
		return data.Replace(now.Edges, t.rows(now))
	}
	scored := func(p *phaseData, now datasets.Phase) error {
		if err := replace(p.data, p.phase, now); err != nil {
			return err
		}
		p.phase, p.labels = now, learn.Labels(t.graph, now)
		return p.targets.Replace(now.Score, p.labels)
	}
	err := scored(&t.train, view.Train)
	validations, _ := validationsOf(view, o.Also)
	for i := range t.validations {
		if err == nil {
			err = scored(&t.validations[i], validations[i])
		}
	}
	if err == nil {
		err = replace(t.test.data, t.test.phase, view.Test)
		t.test.phase, t.test.labels = view.Test, learn.Labels(t.graph, view.Test)
	}
	return switched(err)
}

func switched(err error) error {
	if errors.Is(err, kernels.ErrNoFit) {
		return fmt.Errorf("%w: %w", errOtherProgram, err)
	}
	return err
}
