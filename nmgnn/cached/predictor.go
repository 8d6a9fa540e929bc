package cached

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/internal/ended"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels"
	"nodemask/nmgnn/internal/safetensors"
)

// Predictor predicts new nodes with a model and its cache. For a new node it reads the node's features and, for each
// train neighbour, that neighbour's features and its representation in each hidden layer. The cost does not depend on
// the size of the train graph.
//
// A batch is a small graph of new nodes and their train neighbours. Linked new nodes share a batch, so batching does
// not change predictions. Shapes are rounded up to powers of two, so few programs are compiled.
//
// Concurrent use is safe, but batches run one by one. Close the predictor before the cache.
type Predictor struct {
	backend *backend.Backend
	saved   *Model
	model   nmgnn.Model
	cache   *Cache
	known   map[string]int32

	computing sync.Mutex                   // held while a program's inputs are set and while the program runs
	programs  map[batchShape]*batchProgram // nil when closed
}

// Prediction is the class of a new node.
type Prediction struct {
	ID          string  `json:"id"`
	Class       string  `json:"class"`
	Probability float64 `json:"probability"` // softmax probability of that class
	Neighbours  int     `json:"neighbours"`  // adjacent train nodes
	Arrivals    int     `json:"arrivals"`    // adjacent new nodes
}

// NewPredictor returns a predictor, whose programs are compiled on first use. It returns an error for a model that
// needs several runs (DropGNN), a cache that does not fit the model, or duplicate ids.
func NewPredictor(b *backend.Backend, m *Model, c *Cache) (*Predictor, error) {
	if c == nil {
		return nil, errors.New("the cache is nil: read the model's own with LoadCache")
	}
	if err := cmp.Or(gomlx.CheckOpen(b), m.Check()); err != nil {
		return nil, err
	}
	if err := c.fits(m); err != nil {
		return nil, err
	}
	if err := safetensors.Guard(c.path, c.checkDegrees); err != nil {
		return nil, fmt.Errorf("the cache: %w", err)
	}
	p := &Predictor{backend: b, saved: m, model: m.Network().Model, cache: c,
		known: make(map[string]int32, len(c.IDs)), programs: map[batchShape]*batchProgram{}}
	for i, id := range c.IDs {
		if before, ok := p.known[id]; ok {
			return nil, fmt.Errorf("nodes %d and %d of the cache are both called %.40q: expected different ids", before,
				i, id)
		}
		p.known[id] = int32(i)
	}
	return p, nil
}

// Known returns the number of the cached node with this id, and whether it exists.
func (p *Predictor) Known(id string) (int32, bool) {
	v, ok := p.known[string(id)]
	return v, ok
}

// Predict calls emit for each newcomer, in order. Newcomers read one another along the edges between them;
// [datasets.Newcomers.Apart] removes these edges. Predict stops at the first error of ctx or emit and returns it. It
// also returns an error for an invalid newcomer and for a closed predictor, backend or cache.
func (p *Predictor) Predict(ctx context.Context, n *datasets.Newcomers, emit func(Prediction) error) (err error) {
	defer gomlx.Guard(&err, "predicting")
	return safetensors.Guard(p.cache.path, func() error { return p.predict(ctx, n, emit) })
}

func (p *Predictor) predict(ctx context.Context, n *datasets.Newcomers, emit func(Prediction) error) error {
	if len(p.cache.IDs) != len(p.known) {
		return errors.New("the cache is closed: close it after all that predicts from it")
	}
	linked, err := links(n, len(p.known))
	if err != nil {
		return err
	}
	features := n.Features
	if features.Width != p.saved.Features {
		return fmt.Errorf("%d features a node: the model was trained with %d", features.Width, p.saved.Features)
	}
	if p.saved.Settings.NormalizeFeatures {
		features = features.RowNormalized()
	}
	features = features.Stored(p.cache.Features.IsSparse())
	// Batches do not keep the newcomers' order, so a prediction waits until all earlier ones are emitted.
	predictions := make([]Prediction, len(n.IDs))
	next, done := 0, make([]bool, len(n.IDs))
	for _, members := range batches(linked) {
		if err := ended.Err(ctx); err != nil {
			return err
		}
		probabilities, err := p.batch(features, n.Known, linked, members)
		if err != nil {
			return err
		}
		for i, class := range probabilities.Classes()[:len(members)] {
			v := members[i]
			predictions[v] = Prediction{ID: n.IDs[v], Class: p.saved.Classes[class],
				Probability: float64(probabilities.Row(i)[class]),
				Neighbours:  len(n.Known[v]), Arrivals: len(linked[v])}
			done[v] = true
		}
		for ; next < len(done) && done[next]; next++ {
			if err := emit(predictions[next]); err != nil {
				return err
			}
		}
	}
	return nil
}

type batchShape struct{ newcomers, nodes, edges, features int }

type batchProgram struct {
	store  *model.Store
	data   *nmgnn.Loaded
	hidden []*model.Variable // cached nodes' representations, one variable per hidden layer
	exec   *model.Exec
}

// batch returns class probabilities: a row per newcomer in members, then padding rows. Newcomers that are linked to a
// member must be members.
func (p *Predictor) batch(features datasets.Features, known, linked [][]int32,
	members []int32) (infer.Representation, error) {
	own := make(map[int32]int32, len(members))
	place := map[int32]int32{}
	var cached []int32
	entries := 0
	for i, v := range members {
		own[v] = int32(i)
		entries += len(known[v]) + len(linked[v])
		for _, u := range known[v] {
			if _, ok := place[u]; !ok {
				place[u] = int32(len(cached))
				cached = append(cached, u)
			}
		}
	}
	shape := batchShape{newcomers: atLeast(len(members)), edges: atLeast(entries + 1)}
	shape.nodes = shape.newcomers + atLeast(len(cached)+1)
	filler := shape.nodes - 1

	// Padding edges are in the last row, a padding node that no other node reads.
	edges := &csr.Graph{Offsets: make([]int64, 1, shape.nodes+1), Indices: make([]int32, 0, shape.edges)}
	degrees := make([]float32, shape.nodes)
	for row := range shape.nodes {
		switch at := row - shape.newcomers; {
		case row < len(members):
			v := members[row]
			for _, w := range linked[v] {
				edges.Indices = append(edges.Indices, own[w])
			}
			for _, u := range known[v] {
				edges.Indices = append(edges.Indices, int32(shape.newcomers)+place[u])
			}
			degrees[row] = float32(len(known[v]) + len(linked[v]))
		case at >= 0 && at < len(cached):
			degrees[row] = float32(p.cache.Degrees[cached[at]])
		case row == filler:
			padding := slices.Repeat([]int32{int32(filler)}, shape.edges-len(edges.Indices))
			edges.Indices = append(edges.Indices, padding...)
		}
		edges.Offsets = append(edges.Offsets, int64(len(edges.Indices)))
	}
	x := features.Select(members)
	addRows(&x, shape.newcomers-x.Rows)
	x.Append(p.cache.Features.Select(cached))
	if err := x.Check(); err != nil {
		return infer.Representation{}, fmt.Errorf("%s: the file was changed while it was in use: %w", p.cache.path, err)
	}
	addRows(&x, shape.nodes-x.Rows)
	shape.features = fill(&x)
	p.computing.Lock()
	defer p.computing.Unlock()
	if p.programs == nil {
		return infer.Representation{}, errors.New("the predictor is closed: make another with NewPredictor")
	}
	if err := gomlx.CheckOpen(p.backend); err != nil {
		return infer.Representation{}, err
	}
	program, err := p.program(shape, edges, x)
	if err != nil {
		return infer.Representation{}, err
	}
	if err := program.data.SetDegrees(degrees); err != nil {
		return infer.Representation{}, err
	}
	for i, h := range p.cache.Hidden {
		rows := make([]float32, (shape.nodes-shape.newcomers)*h.Width)
		for at, u := range cached {
			copy(rows[at*h.Width:], h.Row(int(u)))
		}
		if err := program.hidden[i].SetValue(tensors.FromFlatDataAndDimensions(rows, shape.nodes-shape.newcomers,
			h.Width)); err != nil {
			return infer.Representation{}, gomlx.Error(err)
		}
	}
	output, err := program.exec.Call1()
	if err != nil {
		return infer.Representation{}, fmt.Errorf("predicting: %w", gomlx.Error(err))
	}
	defer output.MustFinalizeAll()
	values, err := tensors.CopyFlatData[float32](output)
	return infer.Representation{Rows: shape.newcomers, Width: len(p.saved.Classes), Values: values}, gomlx.Error(err)
}

func atLeast(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }

func (p *Predictor) program(shape batchShape, edges *csr.Graph, x datasets.Features) (_ *batchProgram, err error) {
	if program := p.programs[shape]; program != nil {
		return program, program.data.Replace(edges, x)
	}
	program := &batchProgram{store: model.NewStore()}
	defer func() {
		if err != nil {
			program.free()
		}
	}()
	// Given no backend, Load uses scatter operations. Their shapes depend only on the numbers of nodes and edges, so
	// the program fits other graphs of these sizes.
	if program.data, err = nmgnn.Load(program.store, "/"+gomlx.DataScope, edges, x,
		nmgnn.LoadOptions{}); err != nil {
		return nil, err
	}
	into := kernels.NewConstants(program.store, "/"+gomlx.DataScope+"/hidden")
	for i, h := range p.cache.Hidden {
		rows := shape.nodes - shape.newcomers
		program.hidden = append(program.hidden, into.Floats(fmt.Sprint(i), make([]float32, rows*h.Width), rows, h.Width))
	}
	if into.Err() != nil {
		return nil, into.Err()
	}
	if err := program.data.SetDegrees(make([]float32, shape.nodes)); err != nil {
		return nil, err
	}
	build := func(scope *model.Scope, graph *Graph) *Node {
		all := p.model.Forward(nmgnn.Pass{Scope: scope.At(gomlx.ModelScope), Near: program.data.Neighbours(false, nil),
			Features: program.data.Features(graph, false),
			After: func(layer int, h *Node) *Node {
				if layer == len(p.cache.Hidden) {
					return h
				}
				return Concatenate([]*Node{firstRows(h, shape.newcomers), program.hidden[layer].NodeValue(graph)}, 0)
			}})
		return Softmax(firstRows(all[len(all)-1], shape.newcomers), 1)
	}
	if program.exec, err = gomlx.Compile(p.backend.Backend, p.backend.ID, program.store, build); err != nil {
		return nil, err
	}
	if err := gomlx.SetWeights(program.store, p.saved.Weights); err != nil {
		return nil, err
	}
	p.programs[shape] = program
	return program, nil
}

func firstRows(x *Node, rows int) *Node {
	if x.Shape().Dimensions[0] == rows {
		return x
	}
	return SliceAxis(x, 0, AxisRangeFromStart(rows))
}

// Close frees the compiled programs after the current batch.
func (p *Predictor) Close() {
	p.computing.Lock()
	defer p.computing.Unlock()
	for _, program := range p.programs {
		program.free()
	}
	p.programs = nil
}

func (p *batchProgram) free() {
	if p.exec != nil {
		p.exec.Finalize()
	}
	p.store.Finalize()
}

func addRows(x *datasets.Features, rows int) {
	zeros := datasets.Features{Rows: rows}
	if x.IsSparse() {
		zeros.Offsets = make([]int64, rows+1)
	} else {
		zeros.Dense = make([]float32, rows*x.Width)
	}
	x.Append(zeros)
}

// fill adds zeros to the last row of sparse features until the number of entries is a power of two, and returns the
// number of entries.
func fill(x *datasets.Features) int {
	if x.IsSparse() {
		padding := atLeast(len(x.Columns)+1) - len(x.Columns)
		x.Columns = append(x.Columns, make([]int32, padding)...)
		x.Values = append(x.Values, make([]float32, padding)...)
		x.Offsets[x.Rows] = int64(len(x.Columns))
	}
	return len(x.Columns)
}
