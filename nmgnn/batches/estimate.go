package batches

import (
	"fmt"
	"math"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/internal/memory"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/kernels"
	"nodemask/nmgnn/train"
)

// Estimate is what training in batches is expected to take.
type Estimate struct {
	Batches    int   // of the train graph
	Own        int   // nodes of the largest batch
	Nodes      int   // of the largest batch, with those next to it
	Edges      int64 // of the largest batch
	Now, Bytes int64 // memory in use, and at most while training
}

// String says it in a line.
func (e Estimate) String() string {
	if e.Batches == 1 {
		return fmt.Sprintf("1 batch, of %d nodes and %d edges: about %s of memory (%s before)", e.Nodes, e.Edges, memory.Text(e.Bytes), memory.Text(e.Now))
	}
	return fmt.Sprintf("%d batches, of at most %d nodes, %d with those next to them, and %d edges: about %s of memory (%s before)",
		e.Batches, e.Own, e.Nodes, e.Edges, memory.Text(e.Bytes), memory.Text(e.Now))
}

// What a program takes, in bytes; measured with GIN on reddit-like at several scales, and rounded up. docs/PERFORMANCE.md has what was
// estimated beside what was taken.
const (
	perProgram = 100 << 20 // compiling one, and what the allocator keeps of that
	perEdge    = 20        // its column in both directions, on the device and while a batch is cut out
	perEntry   = 40        // the same for a number of sparse features
	perHidden  = 4 * 4     // a number of a layer of a node: forward, backward, and what is gathered
	perFeature = 4         // a dense feature: there once
	perNode    = 96        // all else that a batch has of a node
	perPlace   = 64        // what is kept of a node of the whole graph: its place, its cluster, its mask and so on
)

// estimate returns what batches of a shape take; most is how many bytes dropout makes of dense features at a time.
func estimate(s shape, features int, p hyper.Parameters, most float64) int64 {
	hidden := p.Hidden * max(p.MLPLayers, 1) * max(p.Layers, 1)
	edges := float64(s.edges)
	traits := hyper.TraitsOf(p.Model)
	if traits.WithSelf { // v ∪ N_v is another pattern
		edges *= 2
	}
	perEdge := float64(perEdge)
	if p.Heads > 0 && traits.Attention != hyper.EqualAttention {
		perEdge += 16 * float64(p.Heads) // attention weights, dropout and gradients
	}
	bytes := edges*perEdge + float64(s.values)*perEntry + float64(s.nodes)*(perNode+float64(hidden)*perHidden)
	if s.values == 0 {
		dense := float64(s.nodes) * float64(features) * perFeature
		if bytes += dense; p.Dropout > 0 {
			bytes += min(dense, most)
		}
	}
	return int64(math.Ceil(bytes))
}

// keptOf returns what is kept of a batch of a shape from epoch to epoch, if it is.
func keptOf(s shape, features int, p hyper.Parameters) int64 {
	edges, nodes := 8.0, 28.0 // columns in both directions, offsets, degrees
	if hyper.TraitsOf(p.Model).WithSelf {
		edges = 32
	}
	if s.values == 0 {
		nodes += float64(features) * perFeature
	}
	return int64(float64(s.edges)*edges + float64(s.values)*20 + float64(s.nodes)*nodes)
}

// choose returns the estimate for a number of clusters, doubled until o.Memory allows it, if that limits anything. The clusters that it found are kept for New.
func choose(b *backend.Backend, x train.Experiment, view *datasets.View, o *Options) (Estimate, error) {
	o.Clusters = max(o.Clusters, 1)
	now, nodes := memory.Resident(), view.Train.Edges.NumNodes()
	fixed := now + int64(nodes)*perPlace
	var last, best Estimate
	for {
		// Finding clusters that cannot be small enough would be for nothing.
		for o.Memory > fixed && len(o.Sample) == 0 && 2*o.Clusters <= nodes && fixed+leastOf(*o, x.Graph.Features, view.Train, x.Parameters, last, fixed) > o.Memory {
			o.Clusters *= 2
		}
		e := estimateFor(b, x.Graph.Features, view, x.Parameters, o)
		e.Now, e.Bytes = now, now+e.Bytes+int64(min(x.WeightMemory(b), 1e18))
		if o.Memory == 0 || e.Bytes <= o.Memory {
			return e, fits(e)
		}
		if last = e; best.Bytes == 0 || e.Bytes < best.Bytes {
			best = e
		}
		// Where every node has neighbours everywhere, smaller batches take hardly less.
		if o.Clusters >= nodes || o.Clusters >= 4*best.Batches || len(o.Sample) > 0 && o.Clusters >= len(view.Train.Score) {
			return best, fmt.Errorf("batches: training takes about %s in %d batches, %s of that for the program and the graph, and more batches take no less: expected at most %s: allow more memory, or sample neighbours instead of taking all",
				memory.Text(best.Bytes), best.Batches, memory.Text(now), memory.Text(o.Memory))
		}
		o.Clusters = min(2*o.Clusters, nodes)
	}
}

// leastOf is what so many clusters take beyond fixed bytes, whatever they are: a batch has its own nodes at least, and its share of what larger
// ones had last time, if there was one.
func leastOf(o Options, x datasets.Features, train datasets.Phase, p hyper.Parameters, last Estimate, fixed int64) int64 {
	own := train.Edges.NumNodes() / o.Clusters
	s := shape{own: own, nodes: own, edges: int(train.Edges.NumEdges()) / o.Clusters, values: len(x.Values) / o.Clusters}
	least := estimate(s, x.Width, p, 0)
	if last.Batches == 0 {
		return least
	}
	return max(least, int64(float64(last.Bytes-fixed)*float64(last.Batches)/float64(o.Clusters)))
}

// fits returns an error if training is expected to take more memory than there is.
func fits(e Estimate) error {
	left, known := memory.Get()
	if !known || e.Bytes-e.Now <= left.Bytes {
		return nil
	}
	return fmt.Errorf("batches: %v, and %s has %s left: ask for more batches, or allow less memory, and their number follows", e, left.Of, memory.Text(left.Bytes))
}

func estimateFor(b *backend.Backend, x datasets.Features, view *datasets.View, p hyper.Parameters, o *Options) Estimate {
	o.clusters = map[*csr.Graph][][]int32{}
	most := math.Inf(1)
	if o.divided() && b.PlanFor(x.Density()).Kernel == kernels.FusedKernel {
		most = kernels.DroppedBytes
	}
	graphs := []datasets.Phase{view.Train, view.Validation, view.Test}
	e := Estimate{Batches: o.Clusters}
	if len(o.Sample) > 0 {
		e.Batches = min(o.Clusters, len(view.Train.Score))
		s := sampleShape(view.Train, x, e.Batches, o.Sample)
		e.Own, e.Nodes, e.Edges = s.nodes, s.nodes, int64(s.edges)
		e.Bytes = estimate(s, x.Width, p, most) + 2*perProgram
	}
	for i, phase := range graphs {
		if o.clusters[phase.Edges] != nil {
			continue
		}
		clusters := clustersOf(phase, view.Train, o.Clusters)
		o.clusters[phase.Edges] = clusters
		sparse := x
		if !x.IsSparse() || b.PlanFor(x.Density()).DenseFeatures {
			sparse = datasets.Features{Width: x.Width}
		}
		s := shapeOf(phase, clusters, sparse, false)
		programs := int64(p.Layers)
		if len(clusters) == 1 {
			programs = 1
		}
		if i == 0 && len(o.Sample) == 0 {
			e.Own, e.Nodes, e.Edges = s.own, s.nodes, int64(s.edges)
			programs++
		}
		if one := keptOf(s, x.Width, p); len(clusters) > 1 && one*int64(len(clusters)) <= o.keepBytes() {
			e.Bytes += one * int64(len(clusters)-1)
		}
		e.Bytes += estimate(s, x.Width, p, most) + programs*perProgram + int64(phase.Edges.NumNodes())*perPlace
	}
	if b.Plugin == "" {
		e.Bytes -= e.Bytes / 8 // nothing is compiled
	}
	return e
}
