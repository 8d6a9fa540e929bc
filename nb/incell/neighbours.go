package incell

import (
	"context"
	"fmt"

	"nodemask/datasets"
	"nodemask/nb"
	"nodemask/nb/internal/notebook"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/paper/judge"
	"nodemask/paper/measure"
	"nodemask/plots"
	"nodemask/stats"
)

var (
	classNames       = []string{"0", "1", "2", "3 to 4", "5 and more"}
	neighbourClasses = []int{0, 1, 2, 3, 5}
)

// ByTrainNeighbours trains a model with and without masking, and shows masking's effect on the accuracy for test nodes,
// grouped by number of train neighbours. In the inductive setting only train neighbours send messages to a new node.
func ByTrainNeighbours(data, model string, setting datasets.Setting, trainPercent, splits int) {
	ctx, stop := notebook.UntilStopped()
	defer stop()
	nb.Table(nb.Must1(byTrainNeighbours(ctx, data, model, setting, trainPercent, splits)))
}

func byTrainNeighbours(ctx context.Context, data, model string, setting datasets.Setting, trainPercent,
	splits int) (plots.Table, error) {
	t := plots.Table{ID: "by-train-neighbours", Header: []string{"train neighbours", "test nodes", "plain", "masked",
		"change"}, TextColumns: 1,
		Title: fmt.Sprintf("What masking adds by the neighbours that a test node has in the train set: %s on %s, %s, %d "+
			"%% to train on", hyper.Title(model), data, setting, trainPercent),
		Caption: fmt.Sprintf("Accuracy in percent, mean over splits (%d); the change with its 95 %% interval over them.",
			splits)}
	plain, masked, err := judge.Arms(data, model, setting, trainPercent)
	if err != nil {
		return t, err
	}
	g := nb.Data(data)
	b := Backend()
	runner := train.NewRunner(b)
	defer runner.Close()
	accuracy := [2][][]float64{make([][]float64, len(classNames)), make([][]float64, len(classNames))}
	nodes := make([]float64, len(classNames))
	for split := range splits {
		seed := uint64(judge.FirstSplit + split)
		s := nb.Must1(datasets.Stratified(g, datasets.SplitOptions{TrainPercent: trainPercent, Seed: seed}))
		class := classesOf(g, s)
		for arm, c := range []train.Experiment{measure.Experiment(plain, g), measure.Experiment(masked, g)} {
			c.Smoothness = false
			r := nb.Must1(runner.Trial(ctx, c, seed, nil))
			if r.SplitHash != s.Hash() {
				return t, fmt.Errorf("split %d: the trial's is %s: expected %s", seed, r.SplitHash, s.Hash())
			}
			predicted := nb.Must1(runner.Predict())
			right, all := make([]float64, len(classNames)), make([]float64, len(classNames))
			for i, v := range s.Test {
				all[class[i]]++
				if predicted[v] == g.Labels[v] {
					right[class[i]]++
				}
			}
			for k := range classNames {
				if all[k] > 0 {
					accuracy[arm][k] = append(accuracy[arm][k], 100*right[k]/all[k])
				}
				nodes[k] += all[k] / float64(2*splits)
			}
		}
	}
	for k, name := range classNames {
		row := []plots.Field{{Text: name}, {Text: fmt.Sprintf("%.0f", nodes[k])}}
		for arm := range accuracy {
			row = append(row, plots.Field{Text: nb.Mean(accuracy[arm][k])})
		}
		change := "–"
		if test, err := stats.PairedTTest(accuracy[1][k], accuracy[0][k]); err == nil {
			change = fmt.Sprintf("%+.2f [%.2f, %.2f]", test.MeanDifference, test.Low, test.High)
		} else if len(accuracy[0][k]) == 1 {
			change = fmt.Sprintf("%+.2f", accuracy[1][k][0]-accuracy[0][k][0])
		}
		t.Rows = append(t.Rows, append(row, plots.Field{Text: change}))
	}
	return t, nil
}

func classesOf(g *datasets.Graph, s *datasets.Split) []int {
	inTrain := make([]bool, g.NumNodes())
	for _, v := range s.Train {
		inTrain[v] = true
	}
	classes := make([]int, len(s.Test))
	for i, v := range s.Test {
		neighbours := 0
		for _, u := range g.Edges.Neighbours(v) {
			if inTrain[u] {
				neighbours++
			}
		}
		for k, least := range neighbourClasses {
			if neighbours >= least {
				classes[i] = k
			}
		}
	}
	return classes
}
