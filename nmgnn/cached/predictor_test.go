package cached_test

import (
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/internal/gnntest"
)

func one(all *datasets.Newcomers, i int) *datasets.Newcomers {
	return &datasets.Newcomers{IDs: all.IDs[i : i+1], Known: all.Known[i : i+1],
		Features: all.Features.Select([]int32{int32(i)})}
}

func TestGoroutinesThatShareAPredictorGetWhatEachGetsAlone(t *testing.T) {
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		p, arriving := campsPredictor(t, b)
		arriving = arriving.Apart()
		const rounds, goroutines = 20, 4
		predict := func(i int) (got cached.Prediction, err error) {
			err = p.Predict(t.Context(), one(arriving, i), func(one cached.Prediction) error { got = one; return nil })
			return got, err
		}
		want := make([]cached.Prediction, len(arriving.IDs))
		for i := range want {
			var err error
			want[i], err = predict(i)
			require.NoError(t, err)
		}
		got := make([][]cached.Prediction, goroutines)
		errs := make([]error, goroutines)
		var all sync.WaitGroup
		for k := range goroutines {
			all.Go(func() {
				for i := range rounds * len(want) {
					one, err := predict((i + k*7) % len(want))
					if err != nil {
						errs[k] = err
						return
					}
					got[k] = append(got[k], one)
				}
			})
		}
		all.Wait()
		for k := range goroutines {
			require.NoError(t, errs[k])
			for i, one := range got[k] {
				require.Equal(t, want[(i+k*7)%len(want)], one)
			}
		}
	})
}

func TestAPredictorMayBeClosedWhileItPredicts(t *testing.T) {
	p, arriving := campsPredictor(t, gnntest.Go(t))
	arriving = arriving.Apart()
	began, ended := make(chan bool, 4), make(chan error, 4)
	for k := range cap(ended) {
		go func() {
			for i := k; ; i++ {
				err := p.Predict(t.Context(), one(arriving, i%len(arriving.IDs)), func(cached.Prediction) error { return nil })
				if i == k {
					began <- true
				}
				if err != nil {
					ended <- err
					return
				}
			}
		}()
	}
	for range cap(began) {
		<-began
	}
	p.Close()
	for range cap(ended) {
		require.EqualError(t, <-ended, "the predictor is closed: make another with NewPredictor")
	}
	p.Close()
	require.ErrorContains(t, p.Predict(t.Context(), arriving, nothing(t)), "the predictor is closed")
}

func TestEmitMayPredictToo(t *testing.T) {
	p, arriving := campsPredictor(t, gnntest.Go(t))
	var first, inside cached.Prediction
	require.NoError(t, p.Predict(t.Context(), one(arriving, 0), func(got cached.Prediction) error {
		first = got
		return p.Predict(t.Context(), one(arriving, 0), func(got cached.Prediction) error { inside = got; return nil })
	}))
	require.Equal(t, first, inside)
}

func TestNewcomersThatAreNotWhatTheirTypePromisesAreRefused(t *testing.T) {
	p, _ := campsPredictor(t, gnntest.Go(t))
	three := func() *datasets.Newcomers {
		return &datasets.Newcomers{IDs: []string{"x", "y", "z"}, Known: [][]int32{{0, 2}, nil, {29}},
			Linked:   [][]int32{{1, 2}, {0}, {0}},
			Features: datasets.Features{Rows: 3, Width: 4, Dense: make([]float32, 12)}}
	}
	require.NoError(t, p.Predict(t.Context(), three(), func(cached.Prediction) error { return nil }))
	nan, infinite := float32(math.NaN()), float32(math.Inf(-1))
	for says, spoil := range map[string]func(n *datasets.Newcomers){
		"newcomer 0 is linked to known nodes [0 30] and newcomers [1 2]: expected some of 30 and 3": func(
			n *datasets.Newcomers) {
			n.Known[0][1] = 30
		},
		"newcomer 2 is linked to known nodes [-1] and newcomers [0]: expected some of 30 and 3": func(n *datasets.Newcomers) {
			n.Known[2][0] = -1
		},
		"newcomer 1 is linked to known nodes [] and newcomers [3]: expected some of 30 and 3": func(n *datasets.Newcomers) {
			n.Linked[1][0] = 3
		},
		"3 newcomers with known nodes of 0, links of 3 and features of 3: expected as many of each": func(
			n *datasets.Newcomers) {
			n.Known = nil
		},
		"3 newcomers with known nodes of 3, links of 3 and features of 2: expected as many of each": func(
			n *datasets.Newcomers) {
			n.Features = n.Features.Select([]int32{0, 1})
		},
		"features: row 0, column 0 is NaN: expected a finite number": func(n *datasets.Newcomers) {
			n.Features.Dense[0] = nan
		},
		"features: row 2, column 3 is -Inf: expected a finite number": func(n *datasets.Newcomers) {
			n.Features.Dense[11] = infinite
		},
		"5 features a node: the model was trained with 4": func(n *datasets.Newcomers) {
			n.Features = datasets.Features{Rows: 3, Width: 5, Dense: make([]float32, 15)}
		},
	} {
		n := three()
		spoil(n)
		require.EqualError(t, p.Predict(t.Context(), n, nothing(t)), says)
	}
	require.EqualError(t, p.Predict(t.Context(), nil, nothing(t)),
		"the newcomers are nil: read them with datasets.ReadNewcomers")
}

func TestAPredictorOfNothingIsRefused(t *testing.T) {
	b := gnntest.Go(t)
	g := gnntest.TwoCamps(t)
	m := anyModel(t, b, "gin", g, 2)
	c := cacheOf(t, b, m, g, gnntest.View(t, g, 50, datasets.Inductive))
	_, err := cached.NewPredictor(b, nil, c)
	require.EqualError(t, err, "the model is nil: read one with LoadModel")
	_, err = cached.NewPredictor(b, m, nil)
	require.EqualError(t, err, "the cache is nil: read the model's own with LoadCache")
	_, err = cached.NewPredictor(nil, m, c)
	require.EqualError(t, err, "the backend is closed, or was never opened: open one with backend.Open")
	_, err = cached.NewPredictor(b, &cached.Model{Settings: m.Settings, Classes: m.Classes, Features: 4}, c)
	require.ErrorContains(t, err, "a model without weights")
}

func TestPredictingOnAClosedBackendSaysThatItIsClosed(t *testing.T) {
	g := gnntest.TwoCamps(t)
	view := gnntest.View(t, g, 50, datasets.Inductive)
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		m := anyModel(t, b, "gin", g, 2)
		p, err := cached.NewPredictor(b, m, cacheOf(t, b, m, g, view))
		require.NoError(t, err)
		arriving := arrivalsOf(g, view)
		require.NoError(t, p.Predict(t.Context(), arriving, func(cached.Prediction) error { return nil }))
		b.Finalize()
		require.EqualError(t, p.Predict(t.Context(), arriving, nothing(t)),
			"the backend is closed, or was never opened: open one with backend.Open")
		p.Close()
	})
}
