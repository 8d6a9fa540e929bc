package batches

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"

	"nodemask/datasets"
	"nodemask/internal/ended"
	"nodemask/nmgnn/internal/gomlx"
)

// sampleShape is room for any sample of so many neighbours a layer around the largest of a number of batches.
func sampleShape(phase datasets.Phase, x datasets.Features, batches int, sample []int) shape {
	seeds := (len(phase.Score) + batches - 1) / batches
	// A node has at most as many sampled neighbours as it has neighbours; a batch, as many as all its nodes may have.
	most := slices.Max(sample)
	all, densest := 0, 0
	for v := range int32(phase.Edges.NumNodes()) {
		all += min(most, phase.Edges.Degree(v))
		if x.IsSparse() {
			row := phase.Nodes[v]
			densest = max(densest, int(x.Offsets[row+1]-x.Offsets[row]))
		}
	}
	nodes, edges, layer := seeds, 0, seeds
	for _, k := range sample {
		if layer *= k; layer > all {
			layer = all
		}
		edges, nodes = edges+layer, nodes+layer
	}
	s := shape{nodes: min(nodes, phase.Edges.NumNodes()), edges: max(min(edges, all), 1)}
	s.own = s.nodes
	if x.IsSparse() {
		s.values = min(s.nodes*densest, len(x.Values))
	}
	return s
}

// sample takes seeds and so many of their neighbours, of the neighbours' neighbours and so on, each without repetition.
// A row holds what was sampled but skipped; scale is how many neighbours each entry stands for. The next call
// overwrites the batch.
func (p *places) sample(phase datasets.Phase, seeds []int32, sizes []int, s shape, r *rand.Rand,
	skip func(u int32) bool) (b batch, scale []float32) {
	g := phase.Edges
	own := slices.Clone(seeds)
	for i, v := range own {
		p.of[v] = int32(i)
	}
	rows := make([][]int32, 0, s.own)
	scale = make([]float32, s.nodes)
	done := 0
	for _, k := range sizes {
		end := len(own)
		for ; done < end; done++ {
			near := p.row(g, own[done])
			var row []int32
			for _, at := range draw(r, len(near), k) {
				u := near[at]
				if skip != nil && skip(u) {
					continue
				}
				if p.of[u] == nowhere {
					p.of[u] = int32(len(own))
					own = append(own, u)
				}
				row = append(row, p.of[u])
			}
			slices.Sort(row)
			rows = append(rows, row)
			scale[done] = float32(len(near)) / float32(max(min(len(near), k), 1))
		}
	}
	l := &p.local
	l.Offsets, l.Indices = append(l.Offsets[:0], 0), l.Indices[:0]
	for _, row := range rows {
		l.Indices = append(l.Indices, row...)
		l.Offsets = append(l.Offsets, int64(len(l.Indices)))
	}
	s.pad(l)
	p.forget(own, nil)
	return batch{own: own, edges: l}, scale
}

// draw returns k different numbers below n, or all of them, ascending if they are all.
func draw(r *rand.Rand, n, k int) []int {
	chosen := make([]int, 0, min(n, k))
	if n <= k {
		for i := range n {
			chosen = append(chosen, i)
		}
		return chosen
	}
	for j := n - k; j < n; j++ { // Floyd's: each set is as likely as any other
		if i := r.IntN(j + 1); slices.Contains(chosen, i) {
			chosen = append(chosen, j)
		} else {
			chosen = append(chosen, i)
		}
	}
	return chosen
}

// sampled trains on samples around all scored nodes, dealt out to batches anew, and returns the mean loss.
func (t *trainer) sampled(ctx context.Context) (loss float64, err error) {
	e, random := t.train, rand.New(t.draws.Order)
	score := t.view.Train.Score
	order := random.Perm(len(score))
	size := (len(score) + t.options.Clusters - 1) / t.options.Clusters
	skip := t.skip()
	for chosen := range slices.Chunk(order, size) {
		if err := ended.Err(ctx); err != nil {
			return 0, err
		}
		seeds, labels, positions := make([]int32, len(chosen)), make([]int32, len(chosen)), make([]int32, len(chosen))
		for i, at := range chosen {
			seeds[i], positions[i] = score[at], int32(i)
			labels[i] = t.graph.Labels[e.phase.Nodes[score[at]]]
		}
		b, scale := e.places.sample(e.phase, seeds, t.options.Sample, e.shape, random, skip)
		e.data.SetSampled(scale)
		if err := e.place(b, true, true); err != nil {
			return 0, err
		}
		if err := t.targets.Replace(positions, labels); err != nil {
			return 0, err
		}
		outputs, err := t.call(t.step, b)
		if err != nil {
			return 0, err
		}
		loss += float64(tensors.ToScalar[float32](outputs[0])) * float64(len(seeds))
		gomlx.Finalize(outputs)
	}
	return loss / float64(len(score)), nil
}
