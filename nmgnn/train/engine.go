package train

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels"
	"nodemask/nmgnn/internal/safetensors"
)

const graphPath = "/" + gomlx.DataScope + "/graph"

// engine runs a model over one graph, batch by batch.
type engine struct {
	backend  *backend.Backend
	model    nmgnn.Model
	phase    datasets.Phase
	features datasets.Features // of every node of the whole graph
	clusters [][]int32
	shape    shape

	store   *model.Store
	data    *nmgnn.Loaded
	places  *places
	rows    []*model.Variable // rows[i]: input of layer i > 0 [nodes, width]; nil until the width is known
	layers  []*model.Exec
	targets *targets // nodes in the evaluation loss; nil: no loss
	scored  scored
	weights []infer.Weight                // weights to evaluate; nil: the weights in store
	hidden  []*safetensors.Array[float32] // hidden[i]: h^(i) of all nodes, i > 0, from the last evaluation
}

type scored struct {
	nodes  [][]int32 // positions, within each cluster, of the nodes in the loss
	labels [][]int32
	most   int
	all    int
}

func scoredOf(phase datasets.Phase, clusters [][]int32, labels []int32) scored {
	s := scored{nodes: make([][]int32, len(clusters)), labels: make([][]int32, len(clusters)), all: len(phase.Score)}
	is := make([]bool, phase.Edges.NumNodes())
	for _, v := range phase.Score {
		is[v] = true
	}
	for c, own := range clusters {
		for i, v := range own {
			if is[v] {
				s.nodes[c] = append(s.nodes[c], int32(i))
				s.labels[c] = append(s.labels[c], labels[phase.Nodes[v]])
			}
		}
		s.most = max(s.most, len(s.nodes[c]))
	}
	return s
}

func (t *batchTrainer) newEngine(phase datasets.Phase, clusters [][]int32, gradients bool) (_ *engine, err error) {
	b, features, depth := t.backend, t.features, len(t.model.Layers)
	plan := kernels.PlanFor(b.Backend, features.Density())
	plan.Transposed = false // no stored transpose: features change with each batch
	e := &engine{backend: b, model: t.model, phase: phase, features: features, clusters: clusters,
		store: model.NewStore(), places: newPlaces(phase.Edges.NumNodes()), rows: make([]*model.Variable, depth),
		layers: make([]*model.Exec, depth), hidden: make([]*safetensors.Array[float32], depth)}
	e.shape = shapeOf(phase, clusters, features, plan.Kernel != kernels.FusedKernel)
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	load := nmgnn.LoadOptions{Backend: kernels.Planned{Backend: b.Backend, Plan: plan}, Gradients: gradients,
		Directed: true, Room: max(e.shape.edges, 1), FeatureRoom: max(e.shape.values, 1), Share: b.Backend}
	first := e.places.cut(phase.Edges, nil, e.shape, nil)
	x := datasets.Features{Rows: e.shape.nodes, Width: features.Width}
	if features.IsSparse() {
		x = e.gather(first)
	}
	if e.data, err = nmgnn.Load(e.store, graphPath, first.edges, x, load); err != nil {
		return nil, err
	}
	if err := e.data.SetDegrees(make([]float32, e.shape.nodes)); err != nil {
		return nil, err
	}
	return e, e.data.SetOwn(make([]float32, e.shape.nodes))
}

func (e *engine) hasHalo() bool { return e.shape.nodes > e.shape.own }

func (e *engine) gather(b batch) datasets.Features {
	x := datasets.Features{Rows: e.shape.nodes, Width: e.features.Width}
	x.Offsets = make([]int64, 1, x.Rows+1)
	x.Columns, x.Values = make([]int32, 0, e.shape.values), make([]float32, 0, e.shape.values)
	add := func(v int32) {
		begin, end := e.features.Offsets[e.phase.Nodes[v]], e.features.Offsets[e.phase.Nodes[v]+1]
		x.Columns, x.Values = append(x.Columns, e.features.Columns[begin:end]...),
			append(x.Values, e.features.Values[begin:end]...)
		x.Offsets = append(x.Offsets, int64(len(x.Values)))
	}
	for _, v := range b.own {
		add(v)
	}
	for len(x.Offsets) <= e.shape.own {
		x.Offsets = append(x.Offsets, int64(len(x.Values)))
	}
	for _, v := range b.halo {
		add(v)
	}
	for len(x.Offsets) <= x.Rows {
		x.Offsets = append(x.Offsets, int64(len(x.Values)))
	}
	if e.shape.filler {
		for len(x.Values) < e.shape.values {
			x.Columns, x.Values = append(x.Columns, 0), append(x.Values, 0)
		}
		x.Offsets[x.Rows] = int64(len(x.Values))
	}
	return x
}

func (e *engine) gatherInto(b batch, rows []float32) {
	w := e.features.Width
	e.eachRow(b, true, rows, w, func(v int32) []float32 { return e.features.Dense[int(e.phase.Nodes[v])*w:][:w] })
}

func (e *engine) eachRow(b batch, own bool, rows []float32, width int, row func(v int32) []float32) {
	at := 0
	put := func(v int32) {
		copy(rows[at:], row(v))
		at += width
	}
	if own {
		for _, v := range b.own {
			put(v)
		}
	}
	clear(rows[at : e.shape.own*width])
	at = e.shape.own * width
	for _, v := range b.halo {
		put(v)
	}
	clear(rows[at:])
}

func (e *engine) put(cluster int, features, gradients bool, skip func(u int32) bool) (batch, error) {
	b := e.places.cut(e.phase.Edges, e.clusters[cluster], e.shape, skip)
	return b, e.place(b, features, gradients)
}

func (e *engine) place(b batch, features, gradients bool) error {
	if err := e.data.ReplaceEdges(b.edges, gradients); err != nil {
		return err
	}
	degrees, own := make([]float32, e.shape.nodes), make([]float32, e.shape.nodes)
	for i, v := range b.own {
		degrees[i], own[i] = float32(e.phase.Edges.Degree(v)), 1
	}
	for i, v := range b.halo {
		degrees[e.shape.own+i] = float32(e.phase.Edges.Degree(v))
	}
	if err := e.data.SetDegrees(degrees); err != nil {
		return err
	}
	if err := e.data.SetOwn(own); err != nil {
		return err
	}
	switch {
	case !features:
		return nil
	case e.features.IsSparse():
		return e.data.ReplaceFeatures(e.gather(b), gradients)
	}
	return e.data.FillFeatures(func(rows []float32) { e.gatherInto(b, rows) })
}

func (e *engine) room(i, width int) (*model.Variable, error) {
	if e.rows[i] == nil {
		into := kernels.NewConstants(e.store, "/"+gomlx.DataScope+"/rows").Share(e.backend.Backend)
		e.rows[i] = into.Zeros(fmt.Sprint(i), e.shape.nodes, width)
		return e.rows[i], into.Err()
	}
	return e.rows[i], nil
}

// fill copies rows from source, an array over all nodes, to the input of layer i: always for halo nodes, for own nodes
// only if own is true. Rows of nodes for which skip returns true become zero. skip may be nil.
func (e *engine) fill(i int, b batch, own bool, source *safetensors.Array[float32], skip func(u int32) bool) error {
	width := e.rows[i].Shape().Dimensions[1]
	nothing := make([]float32, width)
	return kernels.Fill(e.rows[i], func(rows []float32) {
		e.eachRow(b, own, rows, width, func(v int32) []float32 {
			if skip != nil && skip(v) {
				return nothing
			}
			return source.Values[int(v)*width:][:width]
		})
	})
}

// spread copies output [own, width], the rows of a batch's own nodes, to *destination, an array over all nodes. If
// *destination is nil, spread makes the array.
func (e *engine) spread(output *tensors.Tensor, b batch, destination **safetensors.Array[float32]) error {
	width := output.Shape().Dimensions[1]
	if *destination == nil {
		var err error
		if *destination, err = safetensors.NewArray[float32](e.phase.Edges.NumNodes() * width); err != nil {
			return err
		}
	}
	return gomlx.Error(tensors.ConstFlatData(output, func(flat []float32) {
		for i, v := range b.own {
			copy((*destination).Values[int(v)*width:][:width], flat[i*width:])
		}
	}))
}

func firstRows(x *Node, rows int) *Node {
	if x.Shape().Dimensions[0] == rows {
		return x
	}
	return SliceAxis(x, 0, AxisRangeFromStart(rows))
}

func (e *engine) close() {
	for _, exec := range e.layers {
		if exec != nil {
			exec.Finalize()
		}
	}
	for _, h := range e.hidden {
		_ = h.Close() // the file is temporary
	}
	e.store.Finalize()
}
