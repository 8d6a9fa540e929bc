package train

import (
	"errors"
	"fmt"
	"slices"

	"nodemask/datasets"
	"nodemask/internal/kernels"
	"nodemask/nmgnn"
	"nodemask/nmgnn/internal/learn"
)

// errOtherProgram says that a compiled trainer cannot do what is asked of it: another one has to be made.
var errOtherProgram = errors.New("this needs another compiled program")

// Switch turns to another view of the same graph and to other options, without compiling again: to another split of the
// same sizes, keep rate, set of nodes to mask, learning rate, weight decay, stopping, features as they are or divided.
// What the trainer computes then is what one made anew would compute. It returns [errOtherProgram] if the program has
// no room for the split's edges ([Options].Room) or if something else was compiled in: whether there is a mask, a
// regulariser, the setting, the numbers of nodes. After an error the trainer can only be closed.
func (t *Trainer) Switch(view *datasets.View, o Options) error {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return err
	}
	if o.Mask.KeepRate.Active() != t.options.Mask.KeepRate.Active() || o.Regulariser != t.options.Regulariser ||
		o.Plan != t.options.Plan || len(o.Also) != len(t.options.Also) {
		return errOtherProgram
	}
	for i, v := range append([]*datasets.View{view}, o.Also...) {
		was := t.views()[i]
		if v.Setting != was.Setting || v.Arrivals != was.Arrivals || len(v.Train.Nodes) != len(was.Train.Nodes) ||
			len(v.Validation.Nodes) != len(was.Validation.Nodes) || len(v.Test.Nodes) != len(was.Test.Nodes) {
			return errOtherProgram
		}
	}
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
	if errors.Is(err, kernels.ErrNoFit) {
		return fmt.Errorf("%w: %w", errOtherProgram, err)
	}
	return err
}
