package train

import (
	"context"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/internal/ended"
	"nodemask/nmgnn"
	"nodemask/nmgnn/internal/gomlx"
)

// reads returns each j > 0 for which the program of layer i reads h^(j).
func (e *engine) reads(i int) (layers []int) {
	if e.last(i) && e.model.Readout.All {
		for below := 1; below < i; below++ {
			layers = append(layers, below)
		}
	}
	if i > 0 {
		layers = append(layers, i)
	}
	return layers
}

func (e *engine) last(i int) bool { return i == len(e.model.Layers)-1 }

func (e *engine) readsFeatures(i int) bool { return i == 0 || e.last(i) && e.model.Readout.All }

// layer compiles the program of layer i, which returns the layer's output for a batch's own nodes. The last layer's
// program instead returns these nodes' predicted classes, of shape [own nodes], and, if there are targets, the loss.
func (e *engine) layer(i int) (*model.Exec, error) {
	if e.layers[i] != nil {
		return e.layers[i], nil
	}
	last := e.last(i)
	exec, err := gomlx.Compile(e.backend.Backend, e.backend.ID, e.store, func(scope *model.Scope, g *Graph) []*Node {
		p := nmgnn.Pass{Scope: scope.At(gomlx.ModelScope), Near: e.data.Neighbours(false, nil),
			Features: e.data.Features(g, false)}
		var all []*Node
		h := p.Features
		for _, below := range e.reads(i) {
			all = append(all, e.rows[below].NodeValue(g))
			h = nmgnn.Dense(all[len(all)-1])
		}
		all = append(all, e.model.Step(p, i, h))
		if last && e.model.Readout.Classes > 0 {
			all = append(all, e.model.ReadOut(p, all))
		}
		out := firstRows(all[len(all)-1], e.shape.own)
		if !last {
			return []*Node{out}
		}
		classes := ArgMax(out, 1, dtypes.Int32)
		if e.targets == nil {
			return []*Node{classes}
		}
		return []*Node{classes, e.targets.Loss(out)}
	})
	e.layers[i] = exec
	return exec, err
}

func (e *engine) sweep(ctx context.Context, i int, take func(cluster int, b batch,
	outputs []*tensors.Tensor) error) error {
	reads := e.reads(i)
	for _, below := range reads {
		if _, err := e.room(below, len(e.hidden[below].Values)/max(e.phase.Edges.NumNodes(), 1)); err != nil {
			return err
		}
	}
	exec, err := e.layer(i)
	if err != nil {
		return err
	}
	if e.weights != nil {
		if err := gomlx.SetWeights(e.store, e.weights); err != nil {
			return err
		}
	}
	for c := range e.clusters {
		if err := ended.Err(ctx); err != nil {
			return err
		}
		b, err := e.put(c, e.readsFeatures(i), false, nil)
		if err != nil {
			return err
		}
		for _, below := range reads {
			if err := e.fill(below, b, true, e.hidden[below], nil); err != nil {
				return err
			}
		}
		if e.last(i) && e.targets != nil {
			if err := e.targets.Replace(e.scored.nodes[c], e.scored.labels[c]); err != nil {
				return err
			}
		}
		outputs, err := exec.Call()
		if err != nil {
			return gomlx.Error(err)
		}
		err = take(c, b, outputs)
		gomlx.Finalize(outputs)
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *engine) represent(ctx context.Context) error {
	for i := range len(e.model.Layers) - 1 {
		err := e.sweep(ctx, i, func(_ int, b batch, outputs []*tensors.Tensor) error {
			return e.spread(outputs[0], b, &e.hidden[i+1])
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// evaluate returns every node's class, without mask or dropout, and the mean loss if there are targets.
func (e *engine) evaluate(ctx context.Context) (classes []int32, loss float64, err error) {
	if err := e.represent(ctx); err != nil {
		return nil, 0, err
	}
	classes = make([]int32, e.phase.Edges.NumNodes())
	err = e.sweep(ctx, len(e.model.Layers)-1, func(c int, b batch, outputs []*tensors.Tensor) error {
		if e.targets != nil && len(e.scored.nodes[c]) > 0 {
			loss += float64(tensors.ToScalar[float32](outputs[1])) * float64(len(e.scored.nodes[c]))
		}
		return gomlx.Error(tensors.ConstFlatData(outputs[0], func(of []int32) {
			for i, v := range b.own {
				classes[v] = of[i]
			}
		}))
	})
	return classes, loss / float64(max(e.scored.all, 1)), err
}
