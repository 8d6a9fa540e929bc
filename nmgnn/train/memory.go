package train

import (
	"errors"
	"fmt"

	"nodemask/datasets"
	"nodemask/internal/memory"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
)

// What memory goes to, as measured on Cora with hidden layers of 64 to 4096, and on a graph of 15,000 nodes in 5,000 classes: estimates
// were between 0.6 and 1.0 of the peak.
const (
	goBytes, xlaBytes, xlaJobBytes = 60e6, 130e6, 80e6 // of a process, and of each job's client
	numberBytes                    = 4
	weightCopies                   = 5 // weights, their gradients, Adam's two moments and the best ones so far
	outputCopies                   = 5 // what a layer returns, its gradient, and in between
	keptCopies                     = 2 // what a layer returns: on the device, and here
	entryCopies                    = 8
	scoreCopies                    = 4 // of the logits, which a loss is computed from
	fewScoreCopies                 = 2 // the same with XLA where the train graph is but a part
)

// Memory estimates how many bytes the experiment takes on a backend, with so many jobs; 0 where that is not known, as on a GPU. It is
// rather too low than too high.
func (x Experiment) Memory(b *backend.Backend, jobs int) float64 {
	if b.ID == "xla:cuda" || x.Graph == nil {
		return 0
	}
	p, f := x.Parameters, x.Graph.Features
	nodes, entries := float64(x.Graph.NumNodes()), float64(len(x.Graph.Edges.Indices))
	_, outputs := x.numbers(b)
	features := 3 * float64(f.Rows) * float64(f.Width)
	if f.IsSparse() {
		features = 4 * 2 * float64(len(f.Values)) // columns and values, the other way round too, for several graphs
	}
	job := x.WeightMemory(b) + numberBytes*(outputCopies*nodes*outputs+entryCopies*entries*float64(max(p.Heads, 1))+features)
	if b.Plugin == "" {
		return goBytes + float64(jobs)*job
	}
	return xlaBytes + float64(jobs)*(xlaJobBytes+job)
}

// WeightMemory estimates how many bytes the weights take while they are trained.
func (x Experiment) WeightMemory(b *backend.Backend) float64 {
	weights, _ := x.numbers(b)
	return numberBytes * weightCopies * weights
}

// ErrTooLarge is what [Experiment.Within] returns, among other words.
var ErrTooLarge = errors.New("more memory than is allowed")

// Within returns an error if the experiment is estimated to take more than so many bytes, or more than there are left: for one that
// a file asks for, and not the user.
func (x Experiment) Within(b *backend.Backend, most int64) error {
	if need := x.Memory(b, 1); need > float64(most) {
		return fmt.Errorf("train: %d layers of width %d on %d nodes take about %s, %w: expected at most %s", x.Parameters.Layers, x.Parameters.Hidden,
			x.Graph.NumNodes(), memory.Text(int64(min(need, 9e18))), ErrTooLarge, memory.Text(most))
	}
	return x.checkMemory(b, 1)
}

// CheckInference returns an error if there is less memory left than one pass over the graph takes, of which all that layers compute is
// kept. Of the experiment, it reads Graph and Parameters.
func (x Experiment) CheckInference(b *backend.Backend) error {
	left, known := memory.Get()
	if !known {
		return nil
	}
	return x.inferenceFits(b, left)
}

func (x Experiment) inferenceFits(b *backend.Backend, left memory.Left) error {
	if b.ID == "xla:cuda" {
		return nil
	}
	_, outputs := x.numbers(b)
	need := numberBytes * keptCopies * float64(x.Graph.NumNodes()) * outputs
	if need <= float64(left.Bytes) {
		return nil
	}
	return fmt.Errorf("train: what %d layers of width %d compute of %d nodes takes about %s of memory, and %s leaves %s: take a smaller graph, or part of it",
		x.Parameters.Layers, x.Parameters.Hidden, x.Graph.NumNodes(), memory.Text(int64(min(need, 9e18))), left.Of, memory.Text(left.Bytes))
}

// numbers returns how many weights the model has, and how many numbers its layers compute for each node.
func (x Experiment) numbers(b *backend.Backend) (weights, outputs float64) {
	p, in, classes := x.Parameters, float64(x.Graph.Features.Width), float64(x.Graph.NumClasses())
	scores := classes * scoreCopies / outputCopies
	if b.Plugin != "" && x.Setting == datasets.Inductive {
		scores = classes * fewScoreCopies / outputCopies
	}
	traits := hyper.TraitsOf(p.Model)
	for layer := range p.Layers {
		linear := 1
		if traits.MLP {
			linear = max(p.MLPLayers, 1)
		}
		for i := range linear {
			out := float64(p.Hidden)
			if layer == p.Layers-1 && i == linear-1 && p.Readout == "" {
				out = classes
				outputs += scores - classes
			}
			weights, outputs, in = weights+float64(traits.Matrices)*in*out, outputs+out, out
		}
	}
	if p.Readout != "" {
		weights, outputs = weights+in*classes, outputs+scores
	}
	return weights, outputs
}

// checkMemory returns an error if there is less memory left than the experiment takes with so many jobs: the system would end the
// program, or grind to a halt.
func (x Experiment) checkMemory(b *backend.Backend, jobs int) error {
	left, known := memory.Get()
	if !known {
		return nil
	}
	return x.fits(b, jobs, left)
}

func (x Experiment) fits(b *backend.Backend, jobs int, left memory.Left) error {
	need := x.Memory(b, jobs)
	if need <= float64(left.Bytes) {
		return nil
	}
	remedy := "take a smaller hidden width, or fewer layers or features"
	if one := x.Memory(b, 1); jobs > 1 && one <= float64(left.Bytes) {
		remedy = fmt.Sprintf("take fewer jobs: one takes %s", memory.Text(int64(one)))
	}
	many := ""
	if jobs > 1 {
		many = fmt.Sprintf(" in %d jobs", jobs)
	}
	return fmt.Errorf("train: %d layers of width %d on %d nodes with %d features and %d classes take about %s of memory%s, and %s leaves %s: %s",
		x.Parameters.Layers, x.Parameters.Hidden, x.Graph.NumNodes(), x.Graph.Features.Width, x.Graph.NumClasses(), memory.Text(int64(min(need, 9e18))), many,
		left.Of, memory.Text(left.Bytes), remedy)
}
