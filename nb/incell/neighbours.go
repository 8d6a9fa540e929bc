package incell

import (
	"context"
	"fmt"

	"nodemask/datasets"
	"nodemask/internal/cited"
	"nodemask/internal/measure"
	"nodemask/internal/notebook"
	"nodemask/nb"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/plots"
	"nodemask/stats"
)

// neighbourClasses are the classes of test nodes by their neighbours in the train set: the least of each.
func neighbourClasses() []int { return []int{0, 1, 2, 3, 5} }

// classNames name them.
func classNames() []string { return []string{"0", "1", "2", "3 to 4", "5 and more"} }

// ByTrainNeighbours trains a model of the cited reading on splits of the protocol, without masking and with it, and
// shows what masking adds to the accuracy of test nodes by how many of their neighbours are train nodes. In the
// inductive setting these are all that a new node hears from.
func ByTrainNeighbours(data, model string, setting datasets.Setting, trainPercent, splits int) {
	ctx, stop := notebook.UntilStopped()
	defer stop()
	nb.Table(nb.Must1(byTrainNeighbours(ctx, data, model, setting, trainPercent, splits)))
}

func byTrainNeighbours(ctx context.Context, data, model string, setting datasets.Setting, trainPercent,
	splits int) (plots.Table, error) {
	names := classNames()
	t := plots.Table{ID: "by-train-neighbours", Header: []string{"train neighbours", "test nodes", "plain", "masked",
		"change"}, TextColumns: 1,
		Title: fmt.Sprintf("What masking adds by the neighbours that a test node has in the train set: %s on %s, %s, %d "+
			"%% to train on", hyper.Title(model), data, setting, trainPercent),
		Caption: fmt.Sprintf("Accuracy in percent, mean over splits (%d); the change with its 95 %% interval over them.",
			splits)}
	plain, masked, err := cited.Arms(data, model, setting, trainPercent)
	if err != nil {
		return t, err
	}
	g := nb.Data(data)
	b := Backend()
	runner := train.NewRunner(b)
	defer runner.Close()
	// accuracy [arm][class][split], and the mean number of nodes.
	accuracy := [2][][]float64{make([][]float64, len(names)), make([][]float64, len(names))}
	nodes := make([]float64, len(names))
	for split := range splits {
		seed := uint64(cited.FirstSplit + split)
		s, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: trainPercent, Seed: seed})
		if err != nil {
			return t, err
		}
		class := classesOf(g, s)
		for arm, c := range []train.Experiment{measure.Experiment(plain, g), measure.Experiment(masked, g)} {
			c.Smoothness = false
			r, err := runner.Trial(ctx, c, seed, nil)
			if err != nil {
				return t, err
			}
			if r.SplitHash != s.Hash() {
				return t, fmt.Errorf("split %d: the trial's is %s: expected %s", seed, r.SplitHash, s.Hash())
			}
			predicted, err := runner.Predict()
			if err != nil {
				return t, err
			}
			right, all := make([]float64, len(names)), make([]float64, len(names))
			for i, v := range s.Test {
				all[class[i]]++
				if predicted[v] == g.Labels[v] {
					right[class[i]]++
				}
			}
			for k := range names {
				if all[k] > 0 {
					accuracy[arm][k] = append(accuracy[arm][k], 100*right[k]/all[k])
				}
				nodes[k] += all[k] / float64(2*splits)
			}
		}
	}
	for k, name := range names {
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

// classesOf returns the class of each test node by its neighbours in the train set.
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
		for k, least := range neighbourClasses() {
			if neighbours >= least {
				classes[i] = k
			}
		}
	}
	return classes
}
