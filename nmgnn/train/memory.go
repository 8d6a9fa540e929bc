package train

import (
	"fmt"

	"nodemask/datasets"
	"nodemask/internal/memory"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/learn"
)

// memory estimates bytes, biased low; 0 if unknown, as on a GPU or for a custom model.
func (x Experiment) memory(b *backend.Backend, jobs int, size learn.Size) float64 {
	if b.ID == "xla:cuda" || x.Own != nil {
		return 0
	}
	xla := b.Plugin != ""
	job := size.Whole(x.Parameters, xla && x.Setting == datasets.Inductive)
	if !xla {
		return learn.ProcessBytes + float64(jobs)*job
	}
	return learn.XLAProcessBytes + float64(jobs)*(learn.XLAClientBytes+job)
}

func (x Experiment) size() learn.Size {
	f := x.Graph.Features
	return learn.Size{Nodes: x.Graph.NumNodes(), Edges: len(x.Graph.Edges.Indices), Classes: x.Graph.NumClasses(),
		Features: f.Width, Sparse: f.IsSparse(), Values: len(f.Values)}
}

// WeightMemory returns the estimated bytes of the weights in training.
func (x Experiment) WeightMemory() float64 { return x.size().Weights(x.Parameters) }

// Within returns an error that wraps memory.ErrTooLarge if the estimated bytes exceed most or what is free. It guards
// against settings from a file.
func (x Experiment) Within(b *backend.Backend, most int64) error {
	if need := x.memory(b, 1, x.size()); need > float64(most) {
		return fmt.Errorf("%d layers of width %d on %d nodes take about %s, %w: expected at most %s",
			x.Parameters.Layers, x.Parameters.Hidden,
			x.Graph.NumNodes(), memory.About(need), memory.ErrTooLarge, memory.Text(most))
	}
	return x.checkMemory(b, 1)
}

// CheckInference returns an error if one pass over the graph that keeps all layers' outputs exceeds free memory. It
// reads only Graph and Parameters.
func (x Experiment) CheckInference(b *backend.Backend) error {
	left, _ := memory.Get()
	return x.inferenceFits(b, left)
}

func (x Experiment) inferenceFits(b *backend.Backend, left memory.Left) error {
	if b.ID == "xla:cuda" || x.Own != nil {
		return nil
	}
	need := x.size().Pass(x.Parameters)
	if need <= float64(left.Bytes) {
		return nil
	}
	return fmt.Errorf("what %d layers of width %d compute of %d nodes takes about %s of memory, and %v: "+
		"take a smaller graph, or part of it",
		x.Parameters.Layers, x.Parameters.Hidden, x.Graph.NumNodes(), memory.About(need), left)
}

// checkMemory prevents the system from killing the program or swapping.
func (x Experiment) checkMemory(b *backend.Backend, jobs int) error {
	left, _ := memory.Get()
	return x.fits(b, jobs, left, x.size())
}

// CheckSize returns an error if one trial on a graph of these sizes exceeds free memory. It reads only Parameters and
// Setting.
func (x Experiment) CheckSize(b *backend.Backend, of datasets.Info) error {
	left, _ := memory.Get()
	return x.fits(b, 1, left, learn.Size{Nodes: of.Nodes, Edges: int(2 * of.Edges), Features: of.Features,
		Classes: of.Classes})
}

func (x Experiment) fits(b *backend.Backend, jobs int, left memory.Left, size learn.Size) error {
	need := x.memory(b, jobs, size)
	if need <= float64(left.Bytes) {
		return nil
	}
	remedy := "take a smaller hidden width, or fewer layers or features"
	if one := x.memory(b, 1, size); jobs > 1 && one <= float64(left.Bytes) {
		remedy = fmt.Sprintf("take fewer trials side by side: one takes %s", memory.About(one))
	}
	many := ""
	if jobs > 1 {
		many = fmt.Sprintf(" with %d trials side by side", jobs)
	}
	return fmt.Errorf("%d layers of width %d on %d nodes with %d features and %d classes take about %s of "+
		"memory%s, and %v: %s", x.Parameters.Layers, x.Parameters.Hidden, size.Nodes, size.Features, size.Classes,
		memory.About(need), many, left, remedy)
}
