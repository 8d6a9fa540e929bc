// A user's program in fifteen lines.
package main

import (
	"context"
	"fmt"
	"os"

	"nodemask"
	"nodemask/datasets"
)

func main() {
	ctx := context.Background()
	g := must(datasets.SBM(ctx, datasets.SBMOptions{Nodes: 200, Classes: 3, FeatureSignal: 2, Seed: 1}))
	m := must(nodemask.Train(ctx, g, nodemask.GIN(), nodemask.KeepRate(0.5), nodemask.TrainPercent(30)))
	defer m.Close()
	fmt.Println("macro F1 above 0.9:", m.Trained.Test.MacroF1 > 0.9)
	if err := m.Save(os.Args[1]); err != nil {
		panic(err)
	}
	again := must(nodemask.LoadModel(os.Args[1]))
	defer again.Close()
	whole, back := must(m.PredictAll(ctx, g)), must(again.PredictAll(ctx, g))
	fmt.Println("as it was saved:", whole[7].Class == back[7].Class, whole[7].Probability == back[7].Probability)
	twin := nodemask.Node{ID: "twin", Features: g.Features.Stored(false).Dense[:g.Features.Width]}
	for _, u := range g.Edges.Neighbours(0) {
		twin.Neighbours = append(twin.Neighbours, fmt.Sprint(u))
	}
	fresh := must(again.PredictNew(ctx, twin))[0]
	fmt.Println("a twin of node 0:", fresh.Class == whole[0].Class, fresh.Neighbours == g.Edges.Degree(0))
	t := must(nodemask.Tree(g, 0, 2, g.Edges.Neighbours(0)[0]))
	if err := t.SVG(must(os.Create(os.Args[1] + ".svg"))); err != nil {
		panic(err)
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
