package nodemask

import (
	"context"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/train"
)

// Network is a kind of model: [GIN], [GAT] and so on.
type Network struct {
	name string
	own  *nmgnn.Model
}

// GIN is the Graph Isomorphism Network: two layers of width 64, unless [Settings] changes them.
func GIN() Network { return Network{name: "gin"} }

// GAT is the Graph Attention Network.
func GAT() Network { return Network{name: "gat"} }

// GATv2 is GAT with attention that may be any function of both ends of an edge.
func GATv2() Network { return Network{name: "gatv2"} }

// SGAT is GAT with equal weights: the mean over a node and its neighbours.
func SGAT() Network { return Network{name: "sgat"} }

// GCN is the Graph Convolutional Network.
func GCN() Network { return Network{name: "gcn"} }

// SAGE is GraphSAGE with the mean of neighbours.
func SAGE() Network { return Network{name: "sage"} }

// Own is a custom model, trained like GIN but with its own dropout. Its last layer needs one output per class.
func Own(m nmgnn.Model) Network { return Network{name: "gin", own: &m} }

// Option changes how [Train] trains.
type Option func(*training)

type training struct {
	experiment train.Experiment
	keepRate   float64
	seed       uint64
	backend    string
	settings   []func(p *hyper.Parameters)
}

// KeepRate masks nodes: in every epoch each node is kept with probability p (the paper's p). The default is 1: no
// masking.
func KeepRate(p float64) Option { return func(t *training) { t.keepRate = p } }

// TrainPercent sets the percentage of labelled nodes that are train nodes, by default 10. Of the remaining labelled
// nodes a tenth are validation nodes, the rest test nodes.
func TrainPercent(percent int) Option {
	return func(t *training) { t.experiment.TrainPercent = percent }
}

// OwnSplit uses the graph's own split ([datasets.Graph].OwnSplit).
func OwnSplit() Option { return func(t *training) { t.experiment.OwnSplit = true } }

// Transductive trains on the whole graph and hides only labels. By default training is inductive: it sees only train
// nodes and the edges among them.
func Transductive() Option {
	return func(t *training) { t.experiment.Setting = datasets.Transductive }
}

// Seed determines the split, initial weights, masks and dropout; default 1. The same seed gives the same model on the
// same backend.
func Seed(seed uint64) Option {
	return func(t *training) { t.seed, t.experiment.SplitSeed = seed, seed }
}

// Backend selects one of [backend.IDs], such as "go" or "xla:cpu". Default: $GOMLX_BACKEND, else the fastest that
// starts.
func Backend(id string) Option { return func(t *training) { t.backend = id } }

// Settings changes hyperparameters. change receives the defaults, in which the keep rate is already set.
func Settings(change func(p *hyper.Parameters)) Option {
	return func(t *training) { t.settings = append(t.settings, change) }
}

// Train returns a model trained on g. It splits the nodes stratified by class, trains until the validation loss stops
// falling, tests the best epoch's weights, and prepares [Model.Predict] and [Model.PredictNew]. Defaults are those of
// 'nodemask train'. It returns an error if g or the options do not allow training, or the context's cause if cancelled.
// Close the model after use.
func Train(ctx context.Context, g *datasets.Graph, n Network, options ...Option) (*Model, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	if err := g.CheckTrainable(); err != nil {
		return nil, err
	}
	t, err := trainingOf(n, options)
	if err != nil {
		return nil, err
	}
	t.experiment.Graph = g
	if err := t.experiment.Check(); err != nil {
		return nil, err
	}
	b, err := backend.Open(t.backend)
	if err != nil {
		return nil, err
	}
	m, err := t.run(ctx, b)
	if err != nil {
		b.Finalize()
	}
	return m, err
}

func trainingOf(n Network, options []Option) (*training, error) {
	p, err := hyper.For(n.name)
	if err != nil {
		return nil, err
	}
	t := &training{keepRate: 1, seed: 1, experiment: train.Experiment{Parameters: p, Own: n.own,
		Setting: datasets.Inductive, TrainPercent: 10, SplitSeed: 1}}
	for _, option := range options {
		option(t)
	}
	if _, err := hyper.NewKeepRate(t.keepRate); err != nil {
		return nil, err
	}
	t.experiment.Parameters = p.WithMasking(t.keepRate)
	// Settings are applied last, because masking removes attention dropout and a setting may restore it.
	for _, change := range t.settings {
		change(&t.experiment.Parameters)
	}
	return t, nil
}

func (t *training) run(ctx context.Context, b *backend.Backend) (*Model, error) {
	x := t.experiment
	results, err := x.Run(ctx, b, []uint64{t.seed}, train.RunOptions{})
	if err != nil {
		return nil, err
	}
	m := &Model{Trained: results[0], Saved: results[0].Saved(x), backend: b, graph: x.Graph}
	if err := x.CheckInference(b); err != nil {
		return nil, err
	}
	network := m.Saved.Network()
	all, err := network.Represent(b, x.Graph.Edges, x.Graph.Features, infer.Options{})
	if err != nil {
		return nil, err
	}
	features := x.Graph.Features
	if network.NormalizeFeatures {
		features = features.RowNormalized()
	}
	nodes := make([]int32, x.Graph.NumNodes())
	for v := range nodes {
		nodes[v] = int32(v)
	}
	m.predicted = m.predictions(x.Graph, all[len(all)-1].Softmax())
	m.cache = cached.New(x.Graph, datasets.Phase{Edges: x.Graph.Edges, Nodes: nodes}, features,
		all[:len(network.Layers)-1])
	return m, nil
}
