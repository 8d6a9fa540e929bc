package train

import (
	"slices"
	"strings"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/nmgnn/internal/gomlx"
)

const graphPath = "/" + gomlx.DataScope + "/graph"

// mostKept limits the bytes of kept batches unless [Batches].Memory is set; then a quarter of Memory does.
const mostKept = 256 << 20

// kept holds a batch's variables with all its neighbours, masked ones too, for reuse without copying.
type kept struct {
	batch  batch
	values []*tensors.Tensor // in the order of engine.variables
}

// keepBytes must be the same in each run: results depend on whether masked nodes are omitted.
func (o Batches) keepBytes() int64 {
	if o.Memory > 0 {
		return o.Memory / 4
	}
	return mostKept
}

func (e *engine) variables() (all []*model.Variable) {
	for v := range e.store.IterVariables() {
		if strings.HasPrefix(v.Path(), graphPath+"/") {
			all = append(all, v)
		}
	}
	return all
}

func (e *engine) keepWithin(most int64) {
	bytes := 0.0
	for _, v := range e.variables() {
		bytes += float64(v.Shape().ByteSize())
	}
	if bytes*float64(len(e.clusters)) <= float64(most) {
		e.kept = make([]*kept, len(e.clusters))
	}
}

func (e *engine) take(cluster int) (batch, error) {
	all, old := e.variables(), e.kept[cluster]
	if old != nil && len(old.values) == len(all) { // programs built since may have added variables
		for i, v := range all {
			if err := v.SetValuePreservingOld(old.values[i]); err != nil {
				return batch{}, gomlx.Error(err)
			}
		}
		return old.batch, nil
	}
	if err := e.renew(all); err != nil {
		return batch{}, err
	}
	b := e.cut(cluster, nil)
	if err := e.place(b, true, e.gradients); err != nil {
		return batch{}, err
	}
	b.halo, b.edges = slices.Clone(b.halo), nil
	k := &kept{batch: b}
	for _, v := range all {
		value, err := v.Value()
		if err != nil {
			return batch{}, gomlx.Error(err)
		}
		k.values = append(k.values, value)
	}
	e.kept[cluster] = k
	if old != nil {
		for _, value := range old.values {
			if err := value.FinalizeAll(); err != nil {
				return batch{}, gomlx.Error(err)
			}
		}
	}
	return b, nil
}

// renew does not free kept values.
func (e *engine) renew(all []*model.Variable) error {
	for _, v := range all {
		value, err := v.Value()
		if err != nil {
			return gomlx.Error(err)
		}
		fresh := tensors.FromShape(v.Shape())
		if value.IsShared() {
			if fresh, err = tensors.FromShapeForBackend(e.backend.Backend, 0, v.Shape()); err != nil {
				return gomlx.Error(err)
			}
		}
		set := v.SetValue
		if e.keeps(value) {
			set = v.SetValuePreservingOld
		}
		if err := set(fresh); err != nil {
			return gomlx.Error(err)
		}
	}
	return nil
}

func (e *engine) keeps(value *tensors.Tensor) bool {
	return slices.ContainsFunc(e.kept, func(k *kept) bool { return k != nil && slices.Contains(k.values, value) })
}

// drop frees kept values that the variables do not hold.
func (e *engine) drop() {
	if e.kept == nil {
		return
	}
	held := map[*tensors.Tensor]bool{}
	for _, v := range e.variables() {
		if value, err := v.Value(); err == nil {
			held[value] = true
		}
	}
	for _, k := range e.kept {
		if k == nil {
			continue
		}
		for _, value := range k.values {
			if !held[value] {
				_ = value.FinalizeAll() // gone either way
			}
		}
	}
	e.kept = nil
}
