package nodemask

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"nodemask/datasets"
	"nodemask/internal/ended"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/train"
)

// Model is a trained model. Several goroutines may use a Model at once.
type Model struct {
	// Saved holds weights, settings and class names.
	Saved *cached.Model
	// Trained holds the trial's scores, history and split; nil for a loaded model.
	Trained *train.Result

	cache     *cached.Cache
	graph     *datasets.Graph // training graph; nil for a loaded model
	predicted []cached.Prediction

	opening   sync.Mutex
	backend   *backend.Backend // nil until needed, like the field predictor
	predictor *cached.Predictor
}

// LoadModel reads a model and its cache from a file written by [Model.Save]. Close the model after use.
func LoadModel(path string) (*Model, error) { return loaded(path, cached.LoadModel) }

// LoadOwn is [LoadModel] for a custom model. The file holds only weights, so pass the model that was given to [Own].
func LoadOwn(path string, own nmgnn.Model) (*Model, error) {
	return loaded(path, func(path string) (*cached.Model, error) { return cached.LoadOwn(path, own) })
}

func loaded(path string, load func(path string) (*cached.Model, error)) (*Model, error) {
	saved, err := load(path)
	if err != nil {
		return nil, err
	}
	cache, err := cached.LoadCache(path, saved)
	if err != nil {
		return nil, err
	}
	return &Model{Saved: saved, cache: cache}, nil
}

// Save writes the model and its cache atomically to one safetensors file, about as large as the training graph's
// features and hidden representations.
func (m *Model) Save(path string) error { return m.Saved.SaveWith(path, m.cache) }

// Predict returns the class of a node of the training graph, and the class's probability. For a loaded model use
// [Model.PredictAll].
func (m *Model) Predict(_ context.Context, node int32) (class string, probability float64, err error) {
	switch {
	case m.graph == nil:
		return "", 0, errors.New("the model was loaded, without the graph: expected PredictAll, which takes one")
	case node < 0 || int(node) >= len(m.predicted):
		return "", 0, fmt.Errorf("node %d: expected 0 to %d", node, len(m.predicted)-1)
	}
	return m.predicted[node].Class, m.predicted[node].Probability, nil
}

// PredictAll returns the class of each node of g, in order. g needs the same feature columns as the training graph.
func (m *Model) PredictAll(ctx context.Context, g *datasets.Graph) ([]cached.Prediction, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	if g == m.graph {
		return slices.Clone(m.predicted), nil
	}
	if err := ended.Err(ctx); err != nil {
		return nil, err
	}
	if g.Features.Width != m.Saved.Features {
		return nil, fmt.Errorf("%d features a node: the model was trained with %d", g.Features.Width, m.Saved.Features)
	}
	b, err := m.open()
	if err != nil {
		return nil, err
	}
	all, err := m.Saved.Network().Represent(b, g.Edges, g.Features, infer.Options{})
	if err != nil {
		return nil, err
	}
	return m.predictions(g, all[len(all)-1].Softmax()), nil
}

func (m *Model) predictions(g *datasets.Graph, p infer.Representation) []cached.Prediction {
	all := make([]cached.Prediction, p.Rows)
	for v, class := range p.Classes() {
		id := fmt.Sprint(v)
		if g.NodeIDs != nil {
			id = g.NodeIDs[v]
		}
		all[v] = cached.Prediction{ID: id, Class: m.Saved.Classes[class], Probability: float64(p.Row(v)[class]),
			Neighbours: g.Edges.Degree(int32(v))}
	}
	return all
}

// Node is a node that arrives after training.
type Node struct {
	ID       string
	Features []float32 // as many as a node of the training graph has
	// Neighbours names nodes of the training graph, or other new nodes in the same call of [Model.PredictNew]. The
	// names are ids or, if the graph has no ids, node numbers.
	Neighbours []string
}

// PredictNew returns the classes of new nodes from the cache, without recomputing training nodes (section 4 of the
// paper). Duplicate ids and unknown neighbours are errors.
func (m *Model) PredictNew(ctx context.Context, nodes ...Node) ([]cached.Prediction, error) {
	if _, err := m.open(); err != nil {
		return nil, err
	}
	arrive, err := m.newcomers(nodes)
	if err != nil {
		return nil, err
	}
	var all []cached.Prediction
	err = m.predictor.Predict(ctx, arrive, func(p cached.Prediction) error {
		all = append(all, p)
		return nil
	})
	return all, err
}

func (m *Model) newcomers(nodes []Node) (*datasets.Newcomers, error) {
	n := &datasets.Newcomers{Known: make([][]int32, len(nodes)), Linked: make([][]int32, len(nodes)),
		Features: datasets.Features{Rows: len(nodes), Width: m.Saved.Features, Dense: []float32{}}}
	place := map[string]int32{}
	for i, node := range nodes {
		_, known := m.predictor.Known(node.ID)
		if _, twice := place[node.ID]; twice || known {
			return nil, fmt.Errorf("node %.60q arrives, but there is a node of that id: expected another id", node.ID)
		}
		if len(node.Features) != m.Saved.Features {
			return nil, fmt.Errorf("node %.60q has %d features: the model was trained with %d", node.ID, len(node.Features),
				m.Saved.Features)
		}
		place[node.ID] = int32(i)
		n.IDs, n.Features.Dense = append(n.IDs, node.ID), append(n.Features.Dense, node.Features...)
	}
	for i, node := range nodes {
		for _, id := range node.Neighbours {
			if w, ok := place[id]; ok && w != int32(i) {
				n.Linked[i], n.Linked[w] = append(n.Linked[i], w), append(n.Linked[w], int32(i))
			} else if u, known := m.predictor.Known(id); known {
				n.Known[i] = append(n.Known[i], u)
			} else if !ok {
				return nil, fmt.Errorf("node %.60q is joined to %.60q, which neither the graph nor the arriving nodes have",
					node.ID, id)
			}
		}
	}
	for _, rows := range [][][]int32{n.Known, n.Linked} {
		for i := range rows {
			slices.Sort(rows[i])
			rows[i] = slices.Compact(rows[i])
		}
	}
	return n, nil
}

func (m *Model) open() (*backend.Backend, error) {
	m.opening.Lock()
	defer m.opening.Unlock()
	if m.cache == nil {
		return nil, errors.New("the model is closed: load it again")
	}
	if m.backend == nil {
		b, err := backend.Open("")
		if err != nil {
			return nil, err
		}
		m.backend = b
	}
	if m.predictor == nil {
		p, err := cached.NewPredictor(m.backend, m.Saved, m.cache)
		if err != nil {
			return nil, err
		}
		m.predictor = p
	}
	return m.backend, nil
}

// Close frees the compiled programs, the backend and the cache. Do not predict during or after Close.
func (m *Model) Close() error {
	m.opening.Lock()
	defer m.opening.Unlock()
	if m.predictor != nil {
		m.predictor.Close()
	}
	if m.backend != nil {
		m.backend.Finalize()
	}
	cache := m.cache
	m.predictor, m.backend, m.cache = nil, nil, nil
	if cache == nil {
		return nil
	}
	return cache.Close()
}
