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

// Network is a kind of model, as [GIN] and its siblings return it.
type Network struct {
	name string
	own  *nmgnn.Model
}

// GIN is the Graph Isomorphism Network, with two layers of width 64 unless [Settings] says otherwise.
func GIN() Network { return Network{name: "gin"} }

// GAT is the Graph Attention Network.
func GAT() Network { return Network{name: "gat"} }

// GATv2 is GAT whose attention is any function of both ends.
func GATv2() Network { return Network{name: "gatv2"} }

// SGAT is GAT with the same attention for all neighbours: their mean.
func SGAT() Network { return Network{name: "sgat"} }

// GCN is the Graph Convolutional Network.
func GCN() Network { return Network{name: "gcn"} }

// SAGE is GraphSAGE with the mean of neighbours.
func SAGE() Network { return Network{name: "sage"} }

// Own is a model of one's own layers, the last of them as wide as there are classes. Its dropout is its own; how it is
// trained is as of GIN.
func Own(m nmgnn.Model) Network { return Network{name: "gin", own: &m} }

// Option changes how [Train] trains.
type Option func(*training)

type training struct {
	experiment train.Experiment
	keepRate   float64
	seed       uint64
	backend    string
	each       func(epoch int, e train.Epoch)
	settings   []func(p *hyper.Parameters)
}

// KeepRate masks nodes: each is kept with this probability, the paper's p, drawn anew in each epoch. 1, the default,
// masks none.
func KeepRate(p float64) Option { return func(t *training) { t.keepRate = p } }

// TrainPercent is how much of the labelled nodes is trained on: 10 unless it is given. A tenth of the others validates,
// the rest tests.
func TrainPercent(percent int) Option {
	return func(t *training) { t.experiment.TrainPercent = percent }
}

// OwnSplit trains on the graph's own train, validation and test nodes ([datasets.Graph].OwnSplit).
func OwnSplit() Option { return func(t *training) { t.experiment.OwnSplit = true } }

// Transductive trains on the whole graph, of which only labels are held back. Without it, training is inductive: it
// sees the train nodes and the edges among them.
func Transductive() Option {
	return func(t *training) { t.experiment.Setting = datasets.Transductive }
}

// Seed draws the split, first weights, masks and dropout; 1 unless it is given. The same seed gives the same model on
// one backend.
func Seed(seed uint64) Option {
	return func(t *training) { t.seed, t.experiment.SplitSeed = seed, seed }
}

// Backend computes on one of [backend.IDs], as on "go" or "xla:cpu". Without it, GOMLX_BACKEND says which, or else it
// is the best one that starts.
func Backend(id string) Option { return func(t *training) { t.backend = id } }

// Settings changes the hyperparameters: those that the network starts from, with the keep rate.
func Settings(change func(p *hyper.Parameters)) Option {
	return func(t *training) { t.settings = append(t.settings, change) }
}

// EachEpoch calls a function after each epoch, with its number from 1 and what was measured.
func EachEpoch(report func(epoch int, e train.Epoch)) Option {
	return func(t *training) { t.each = report }
}

// Train trains a network on a graph: it opens a backend, splits the nodes by class, trains until the validation loss
// does not fall any more, keeps the best epoch's weights, tests them, and computes all nodes by them, for
// [Model.Predict] and [Model.PredictNew]. Settings are those that the command 'nodemask train' starts from. It returns
// an error for a graph or options that nothing can be trained with, and the context's cause once that is cancelled.
// Close the model when it is not needed any more.
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
	for _, change := range t.settings { // they may bring back the attention dropout that masking takes away
		change(&t.experiment.Parameters)
	}
	return t, nil
}

// run trains and returns the model.
func (t *training) run(ctx context.Context, b *backend.Backend) (*Model, error) {
	x := t.experiment
	results, err := x.Run(ctx, b, []uint64{t.seed}, train.RunOptions{Progress: func(p train.Progress) {
		if t.each != nil {
			t.each(p.Epoch, p.Last)
		}
	}})
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
