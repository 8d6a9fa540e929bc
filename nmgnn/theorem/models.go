package theorem

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"nodemask/aggtree"
	"nodemask/datasets"
	"nodemask/internal/memory"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/learn"
)

// CheckModels checks theorem 1 at a root for an untrained network of each model, with as many layers as hops, on the
// pure-Go backend, and calls each with the result. Graphs without features get random ones; 0 hops check nothing. Too
// little memory is an error.
func CheckModels(ctx context.Context, g *datasets.Graph, root int32, hops int, seed uint64, o Options,
	each func(model string, r Result) error) error {
	if hops == 0 {
		return nil
	}
	if g.Features.Width == 0 {
		g = &datasets.Graph{Name: g.Name, Edges: g.Edges, Features: randomFeatures(g.Edges.NumNodes(), 16, seed)}
	}
	left, _ := memory.Get()
	if err := checkFits(ctx, g, root, hops, left); err != nil {
		return err
	}
	b, err := backend.Open("go") // one run each: compiling does not pay
	if err != nil {
		return err
	}
	for _, name := range hyper.Models() {
		p, err := hyper.For(name)
		if err != nil {
			return err
		}
		p.Layers = hops
		m, err := infer.Untrained(b, nmgnn.Build(p, 2), g.Features.Width, seed)
		if err != nil {
			return err
		}
		r, err := Check(ctx, b, m, g, root, o)
		if err != nil {
			return fmt.Errorf("theorem 1 for %s: %w", hyper.Title(name), err)
		}
		if err := each(name, r); err != nil {
			return err
		}
	}
	return nil
}

func checkFits(ctx context.Context, g *datasets.Graph, root int32, hops int, left memory.Left) error {
	counts, err := aggtree.Count(ctx, g.Edges, root, hops, nil)
	if err != nil {
		return err
	}
	p, err := hyper.For(hyper.Models()[0])
	if err != nil {
		return err
	}
	p.Layers = hops
	need := learn.Theorem(float64(g.Edges.NumNodes())+float64(counts.Total), g.Features.Width, p)
	if need > float64(left.Bytes) {
		tree := strconv.FormatUint(counts.Total, 10)
		if counts.Total == math.MaxUint64 {
			tree = "at least " + tree
		}
		return fmt.Errorf("theorem 1 takes about %s of memory on %d nodes and a tree of %s, and %v: "+
			"ask for fewer hops or a smaller graph", memory.About(need), g.Edges.NumNodes(), tree, left)
	}
	return nil
}

func randomFeatures(nodes, width int, seed uint64) datasets.Features {
	r := rand.New(rand.NewPCG(seed, 0))
	x := datasets.Features{Rows: nodes, Width: width, Dense: make([]float32, nodes*width)}
	for i := range x.Dense {
		x.Dense[i] = r.Float32()
	}
	return x
}
