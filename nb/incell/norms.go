package incell

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"nodemask/datasets"
	"nodemask/nb"
	"nodemask/nb/internal/notebook"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/train"
	"nodemask/paper/judge"
	"nodemask/paper/measure"
	"nodemask/plots"
)

// NormsByLayer trains a model of the cited reading on one split, with and without batch normalisation, each with
// masking, rescaled masking and neither, and shows each layer's norms in training and testing.
func NormsByLayer(data, model string, setting datasets.Setting, trainPercent int) {
	ctx, stop := notebook.UntilStopped()
	defer stop()
	nb.Table(normsByLayer(ctx, data, model, setting, trainPercent))
}

func normsByLayer(ctx context.Context, data, model string, setting datasets.Setting, trainPercent int) plots.Table {
	t := plots.Table{ID: "norms", TextColumns: 2,
		Title: fmt.Sprintf("How large representations are in training and in testing: %s on %s, %s, %d %% to train on",
			hyper.Title(model), data, setting, trainPercent),
		Caption: "Mean Euclidean length of representations, by layer: of train nodes with the mask of training → of test " +
			"nodes without it, and how many times larger the latter are. Batch normalisation uses what training left. One " +
			"split."}
	q := nb.Must1(judge.QuestionOf(judge.Scale, data, model, setting))
	b := Backend()
	runner := train.NewRunner(b)
	defer runner.Close()
	for _, reading := range q.Readings {
		arms := []judge.Arm{judge.Masked}
		name := judge.Departure(q.Axes, reading)
		if !strings.Contains(name, "rescale") { // rescaling does nothing without masking
			arms = []judge.Arm{judge.Plain, judge.Masked}
		}
		for _, arm := range arms {
			c := nb.Must1(reading.Cell(q.Axes, arm, data, model, setting, trainPercent))
			x := measure.Experiment(c, nb.Data(data))
			x.Smoothness = false
			trained, tested := norms(x, nb.Must1(runner.Trial(ctx, x, judge.FirstSplit, nil)))
			if t.Header == nil {
				t.Header = []string{"reading", "masking"}
				for l := range trained[1:] {
					t.Header = append(t.Header, fmt.Sprintf("layer %d", l+1))
				}
				t.Header = append(t.Header, "logits")
			}
			masking := "none"
			if x.Parameters.KeepRate.Active() {
				masking = fmt.Sprintf("p = %v", float64(x.Parameters.KeepRate))
			}
			row := []plots.Field{{Text: name}, {Text: masking}}
			for l := range trained {
				row = append(row, plots.Field{Text: fmt.Sprintf("%.2g → %.2g (× %.1f)", trained[l], tested[l],
					tested[l]/trained[l])})
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// norms returns each layer's mean Euclidean norm: of train nodes under a training mask, and of test nodes in the test
// graph.
func norms(x train.Experiment, r *train.Result) (trained, tested []float64) {
	split := nb.Must1(x.Split(r.Seed))
	view := nb.Must1(datasets.NewView(x.Graph, split, x.Setting, x.Arrivals))
	network := r.Saved(x).Network()
	b := nb.Must1(backend.Open("go")) // XLA takes a second to compile each of two programs that run once
	represent := func(phase datasets.Phase, o infer.Options) []float64 {
		all := nb.Must1(network.Represent(b, phase.Edges, x.Graph.Features.Select(phase.Nodes), o))
		means := make([]float64, len(all))
		for l, h := range all {
			for _, v := range phase.Score {
				sum := 0.0
				for _, value := range h.Row(int(v)) {
					sum += float64(value) * float64(value)
				}
				means[l] += math.Sqrt(sum) / float64(len(phase.Score))
			}
		}
		return means
	}
	var o infer.Options
	if x.Parameters.KeepRate.Active() {
		o.Delta = x.Parameters.DrawDelta(rand.New(rand.NewPCG(r.Seed, 1)), len(view.Train.Nodes), view.Train.Score)
	}
	return represent(view.Train, o), represent(view.Test, infer.Options{})
}
