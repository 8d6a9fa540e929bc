package train

import (
	"errors"
	"slices"

	"github.com/gomlx/gomlx/ml/model"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels"
)

// predictor is an inference program shared by trainers that differ only in training settings.
type predictor struct {
	of      program
	trainer *trainer // for inference only
	rate    float64  // of DropGNN; 0: no regulariser when predicting
}

func (r *Runner) predictorOf(x Experiment) (p *predictor, err error) {
	defer gomlx.Guard(&err, "building what predicts")
	of, d := x, nmgnn.DropGNN{}
	if x.Parameters.Regulariser != hyper.DropGNNRegulariser {
		of.Parameters.Regulariser, of.Parameters.RegulariserRate = "", 0
	} else {
		d.Rate = x.Parameters.RegulariserRate
	}
	of.Parameters.KeepRate, of.Parameters.Dropout, of.Parameters.AttentionDropout = 0, 0, 0
	key := programOf(of, false)
	if i := slices.IndexFunc(r.predictors, func(p *predictor) bool { return p.of == key }); i >= 0 {
		p = r.predictors[i]
		p.rate = d.Rate
		return p, nil
	}
	was := r.trainer
	t := &trainer{backend: was.backend, model: was.model, view: was.view, graph: was.graph, plan: was.plan,
		features: was.features, store: model.NewStore(), represents: map[*nmgnn.Loaded]*model.Exec{},
		trained: true} // uses weights from trained trainers
	r.predictors = append(r.predictors, &predictor{key, t, d.Rate})
	t.options.NormalizeFeatures, t.options.Room = was.options.NormalizeFeatures, was.options.Room
	if d.Rate > 0 {
		t.options.Regulariser, t.options.RegulariserRate = hyper.DropGNNRegulariser, d.Rate
	}
	if t.rates, err = kernels.NewRates(t.store, "/"+gomlx.DataScope+"/rates", t.options.rates()); err != nil {
		return nil, err
	}
	t.test.phase = t.view.Test
	if t.test.data, err = t.loadPhase("test", t.test.phase, false); err != nil {
		return nil, err
	}
	_, err = t.representer(t.test.data)
	return last(r.predictors), err
}

// predict equals of.Predict with these weights.
func (p *predictor) predict(of *trainer, weights []infer.Weight) ([]int32, error) {
	t := p.trainer
	if p.rate > 0 {
		if err := t.rates.Replace([]float64{p.rate}); err != nil {
			return nil, err
		}
	}
	now, otherFeatures := of.view.Test, of.options.NormalizeFeatures != t.options.NormalizeFeatures
	if otherFeatures || now.Edges != t.test.phase.Edges || !slices.Equal(now.Nodes, t.test.phase.Nodes) {
		t.options.NormalizeFeatures, t.features, t.test.phase = of.options.NormalizeFeatures, of.features, datasets.Phase{}
		if err := t.test.data.Replace(now.Edges, t.rows(now)); errors.Is(err, kernels.ErrNoFit) {
			return of.Predict()
		} else if err != nil {
			return nil, err
		}
		t.test.phase = now
	}
	if err := gomlx.SetWeights(t.store, weights); err != nil {
		return nil, err
	}
	return t.Predict()
}
