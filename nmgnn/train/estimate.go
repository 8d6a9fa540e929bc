package train

import (
	"fmt"
	"math"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/internal/memory"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/kernels"
	"nodemask/nmgnn/internal/learn"
)

// Estimate is the expected memory and batch sizes.
type Estimate struct {
	Batches    int   // of the train graph
	Own        int   // nodes of the largest batch
	Nodes      int   // of the largest batch, with neighbours
	Edges      int64 // of the largest batch
	Now, Bytes int64 // bytes in use now, and the most expected in training
}

// String returns the estimate in one line.
func (e Estimate) String() string {
	if e.Batches == 1 {
		return fmt.Sprintf("1 batch, of %d nodes and %d edges: about %s of memory (%s before)", e.Nodes, e.Edges,
			memory.Text(e.Bytes), memory.Text(e.Now))
	}
	return fmt.Sprintf("%d batches, of at most %d nodes, %d with those next to them, and %d edges: about %s of memory "+
		"(%s before)",
		e.Batches, e.Own, e.Nodes, e.Edges, memory.Text(e.Bytes), memory.Text(e.Now))
}

func (s shape) size(features int) learn.Size {
	return learn.Size{Nodes: s.nodes, Edges: s.edges, Features: features, Sparse: s.values > 0, Values: s.values}
}

// choose doubles o.Clusters until the estimate is within o.Memory.
func choose(b *backend.Backend, x Experiment, view *datasets.View, o *Batches) (Estimate, error) {
	o.Clusters = max(o.Clusters, 1)
	now, nodes := memory.Resident(), view.Train.Edges.NumNodes()
	if o.Clusters > nodes {
		return Estimate{}, fmt.Errorf("%d batches of a graph of %d nodes to train on: expected at most one a node: take "+
			"fewer", o.Clusters, nodes)
	}
	fixed := now + int64(nodes)*learn.PlaceBytes
	var last, best Estimate
	for {
		// Skip partitions that cannot be small enough.
		for o.Memory > fixed && 2*o.Clusters <= nodes && fixed+leastOf(*o, x.Graph.Features, view.Train,
			x.Parameters, last, fixed) > o.Memory {
			o.Clusters *= 2
		}
		e := estimateFor(b, x.Graph.Features, view, x.Parameters, o)
		e.Now, e.Bytes = now, now+e.Bytes+int64(min(x.WeightMemory(), 1e18))
		if o.Memory == 0 || e.Bytes <= o.Memory {
			return e, fits(e)
		}
		if last = e; best.Bytes == 0 || e.Bytes < best.Bytes {
			best = e
		}
		// In dense graphs smaller batches need hardly less.
		if o.Clusters >= nodes || o.Clusters >= 4*best.Batches {
			return best, fmt.Errorf("training takes about %s in %d batches, %s of that for the program and the graph, "+
				"and more batches take no less: expected at most %s: allow more memory",
				memory.Text(best.Bytes), best.Batches, memory.Text(now), memory.Text(o.Memory))
		}
		o.Clusters = min(2*o.Clusters, nodes)
	}
}

// leastOf is a lower bound on the bytes beyond fixed: a batch has at least its own nodes, and its share of the last
// estimate, if any.
func leastOf(o Batches, x datasets.Features, train datasets.Phase, p hyper.Parameters, last Estimate,
	fixed int64) int64 {
	own := train.Edges.NumNodes() / o.Clusters
	s := shape{own: own, nodes: own, edges: int(train.Edges.NumEdges()) / o.Clusters, values: len(x.Values) / o.Clusters}
	least := s.size(x.Width).Batch(p, 0)
	if last.Batches == 0 {
		return least
	}
	return max(least, int64(float64(last.Bytes-fixed)*float64(last.Batches)/float64(o.Clusters)))
}

func fits(e Estimate) error {
	left, _ := memory.Get()
	if e.Bytes-e.Now <= left.Bytes {
		return nil
	}
	return fmt.Errorf("%v, and %s has %s left: ask for more batches, or allow less memory, and their number "+
		"follows", e, left.Of, memory.Text(left.Bytes))
}

func estimateFor(b *backend.Backend, x datasets.Features, view *datasets.View, p hyper.Parameters,
	o *Batches) Estimate {
	o.clusters = map[*csr.Graph][][]int32{}
	most := math.Inf(1)
	plan := kernels.PlanFor(b.Backend, x.Density())
	if o.divided() && plan.Kernel == kernels.FusedKernel {
		most = kernels.DroppedBytes
	}
	graphs := []datasets.Phase{view.Train, view.Validation, view.Test}
	e := Estimate{Batches: o.Clusters}
	for i, phase := range graphs {
		if o.clusters[phase.Edges] != nil {
			continue
		}
		clusters := clustersOf(phase, view.Train, o.Clusters)
		o.clusters[phase.Edges] = clusters
		sparse := x
		if !x.IsSparse() || plan.DenseFeatures {
			sparse = datasets.Features{Width: x.Width}
		}
		s := shapeOf(phase, clusters, sparse, false)
		programs := int64(p.Layers)
		if len(clusters) == 1 {
			programs = 1
		}
		if i == 0 {
			e.Own, e.Nodes, e.Edges = s.own, s.nodes, int64(s.edges)
			programs++
		}
		e.Bytes += s.size(x.Width).Batch(p, most) + programs*learn.ProgramBytes +
			int64(phase.Edges.NumNodes())*learn.PlaceBytes
	}
	if b.Plugin == "" {
		e.Bytes -= e.Bytes / 8 // nothing is compiled
	}
	return e
}

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
