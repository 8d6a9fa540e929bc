package cached_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/safetensors"
)

func savedPair(t *testing.T, b *backend.Backend, kind string, sparse bool) (m *cached.Model, c *cached.Cache,
	path string) {
	t.Helper()
	g := gnntest.TwoCamps(t)
	m = anyModel(t, b, kind, g, 2)
	m.Data, m.Seed = "two-camps", 7
	c = cacheOf(t, b, m, g, gnntest.View(t, g, 50, datasets.Inductive))
	c.Features = c.Features.Stored(sparse)
	path = filepath.Join(t.TempDir(), "model.safetensors")
	require.NoError(t, m.SaveWith(path, c))
	return m, c, path
}

func TestAModelAndItsCacheAreReadAsTheyWereSaved(t *testing.T) {
	b := gnntest.Go(t)
	for _, kind := range hyper.Models() {
		for _, sparse := range []bool{false, true} {
			m, c, path := savedPair(t, b, kind, sparse)
			back, err := cached.LoadModel(path)
			require.NoError(t, err)
			require.Equal(t, m, back)
			kept, err := cached.LoadCache(path, back)
			require.NoError(t, err)
			require.Equal(t, []any{c.IDs, c.Features, c.Hidden, c.Degrees},
				[]any{kept.IDs, kept.Features, kept.Hidden, kept.Degrees})
			require.NoError(t, kept.Close())
			require.Empty(t, kept.IDs)
			require.NoError(t, kept.Close(), "once more")
		}
	}
}

func TestSavingNothingIsAnError(t *testing.T) {
	m, c, path := savedPair(t, gnntest.Go(t), "gin", false)
	require.ErrorContains(t, m.SaveWith(path, nil), "the cache is nil: an experiment keeps one if its Keep is set")
	require.ErrorContains(t, (*cached.Model)(nil).SaveWith(path, c), "the model is nil")
	_, err := cached.LoadCache(path, nil)
	require.ErrorContains(t, err, "the model is nil")
	back, err := cached.LoadModel(path)
	require.NoError(t, err)
	require.Equal(t, m, back, "what was saved stays")
	require.NoError(t, m.Save(path))
	_, err = cached.LoadCache(path, m)
	require.ErrorContains(t, err, path+": a model without its cache: save both from one training run")
}

// halves is a custom layer: W·(h_v + Σ_{u∈N_v} δ(u)·h_u/2).
type halves struct{ width int }

func (l halves) Forward(scope *model.Scope, near nmgnn.Neighbours, h nmgnn.Input, mask *Node) *Node {
	z := h.Times(nmgnn.GlorotWeights(scope, h.Graph(), "w", h.Width(), l.width))
	return Add(z, MulScalar(near.Sum(z, mask), 0.5))
}

func TestAModelOfOnesOwnLayersIsSavedAndPredictsNewcomers(t *testing.T) {
	b, g := gnntest.Go(t), gnntest.TwoCamps(t)
	view := gnntest.View(t, g, 50, datasets.Inductive)
	own := nmgnn.Model{Layers: []nmgnn.Layer{halves{5}, halves{2}}}
	network, err := infer.Untrained(b, own, g.Features.Width, 3)
	require.NoError(t, err)
	m := &cached.Model{Own: &own, Classes: g.Classes, Features: g.Features.Width, Weights: network.Weights}
	train := g.Features.Select(view.Train.Nodes)
	hidden, err := m.Network().Represent(b, view.Train.Edges, train, infer.Options{})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "m.safetensors")
	require.NoError(t, m.SaveWith(path, cached.New(g, view.Train, train, hidden[:1])))

	_, err = cached.LoadModel(path)
	require.EqualError(t, err, path+": a model of layers that are not in the file, which has their weights alone: give "+
		"the layers to LoadOwn, in Go")
	_, err = cached.LoadOwn(path, nmgnn.Model{Layers: own.Layers[:1]})
	require.ErrorContains(t, err, "weights of 2 layers of somebody's own, for 1")
	back, err := cached.LoadOwn(path, own)
	require.NoError(t, err)
	require.Equal(t, m, back)
	cache, err := cached.LoadCache(path, back)
	require.NoError(t, err)
	defer cache.Close()
	edges, err := view.CachedEdges(true)
	require.NoError(t, err)
	want, err := back.Network().Represent(b, edges, g.Features, infer.Options{})
	require.NoError(t, err)
	arrive := arrivalsOf(g, view)
	predictsWhatTheModelSays(t, predictorOf(t, b, back, cache), arrive, g.Classes, want[1].Softmax())

	_, _, settings := savedPair(t, b, "gin", false)
	_, err = cached.LoadOwn(settings, own)
	require.ErrorContains(t, err, "a model that its settings describe, not one of one's own layers")
}

func TestAMappedCachePredictsAsTheOneInMemory(t *testing.T) {
	g := gnntest.TwoCamps(t)
	newcomers := arrivalsOf(g, gnntest.View(t, g, 50, datasets.Inductive))
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		m, c, path := savedPair(t, b, "gcn", true)
		mapped, err := cached.LoadCache(path, m)
		require.NoError(t, err)
		defer mapped.Close()
		var all [2][]cached.Prediction
		for i, from := range []*cached.Cache{c, mapped} {
			p := predictorOf(t, b, m, from)
			require.NoError(t, p.Predict(t.Context(), newcomers, func(one cached.Prediction) error {
				all[i] = append(all[i], one)
				return nil
			}))
		}
		require.Equal(t, all[0], all[1])
		require.Len(t, all[0], len(newcomers.IDs))
	})
}

func TestPredictingFromACacheThatWasCutOrClosedIsAnError(t *testing.T) {
	b := gnntest.Go(t)
	g := gnntest.TwoCamps(t)
	view := gnntest.View(t, g, 50, datasets.Inductive)
	m, c, path := savedPair(t, b, "gin", false)
	for says, spoil := range map[string]func(*cached.Cache) error{
		path + ": the file was cut or its disk failed while it was read": func(*cached.Cache) error {
			return os.Truncate(path, 0)
		},
		"the cache is closed: close it after all that predicts from it": (*cached.Cache).Close,
	} {
		require.NoError(t, m.SaveWith(path, c))
		kept, err := cached.LoadCache(path, m)
		require.NoError(t, err)
		p := predictorOf(t, b, m, kept)
		require.NoError(t, spoil(kept))
		require.ErrorContains(t, p.Predict(t.Context(), arrivalsOf(g, view), nothing(t)), says)
		_ = kept.Close()
	}
}

func TestColumnsThatAFileChangesWhileItIsInUseAreAnError(t *testing.T) {
	b := gnntest.Go(t)
	g := gnntest.TwoCamps(t)
	m, c, _ := savedPair(t, b, "gin", true)
	p := predictorOf(t, b, m, c)
	for i := range c.Features.Columns {
		c.Features.Columns[i] = 1 << 30
	}
	err := p.Predict(t.Context(), arrivalsOf(g, gnntest.View(t, g, 50, datasets.Inductive)), nil)
	require.ErrorContains(t, err, "the file was changed while it was in use: features: row ")
}

func TestACacheOfManyNodesIsNotReadIntoMemory(t *testing.T) {
	m, _, path := savedPair(t, gnntest.Go(t), "gin", false)
	const nodes, width = 20_000, 500
	m.Features = width
	c := &cached.Cache{IDs: slices.Repeat([]string{"x"}, nodes), Degrees: make([]int32, nodes),
		Features: datasets.Features{Rows: nodes, Width: width, Dense: make([]float32, nodes*width)},
		Hidden:   []infer.Representation{{Rows: nodes, Width: 6, Values: make([]float32, nodes*6)}}}
	require.NoError(t, m.SaveWith(path, c))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(40e6))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	kept, err := cached.LoadCache(path, m)
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), "40 MB are on the disk, the ids are in memory")
	require.NoError(t, kept.Close())
}

func writtenFile(t *testing.T, metadata map[string]string, add func(*safetensors.Builder)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.safetensors")
	file := safetensors.New("model", metadata)
	add(file)
	require.NoError(t, file.WriteFile(path))
	return path
}

func cacheFile(t *testing.T, m *cached.Model, add func(*safetensors.Builder)) string {
	t.Helper()
	return writtenFile(t, map[string]string{"fingerprint": m.Fingerprint()}, add)
}

func TestACacheThatWouldLeadPredictionsAstrayIsRefused(t *testing.T) {
	b := gnntest.Go(t)
	m, c, path := savedPair(t, b, "gcn", true)
	refused := func(path, says string) {
		_, err := cached.LoadCache(path, m)
		require.ErrorContains(t, err, path+": ")
		require.ErrorContains(t, err, says)
	}
	for says, change := range map[string]func(*cached.Cache){
		"node 3 has degree -1: expected 0 or more": func(c *cached.Cache) { c.Degrees[3] = -1 },
		"row 0 names column 1000: expected 0 to 3": func(c *cached.Cache) {
			c.Features.Columns[c.Features.Offsets[1]-1] = 1000
		},
		"a cache of 4 features and 2 hidden layers for a model with 4 and 1": func(c *cached.Cache) {
			c.Hidden = []infer.Representation{c.Hidden[0], c.Hidden[0]}
		},
		"hidden layer 1 of the cache is of shape [30, 3]: expected [30, 6]": func(c *cached.Cache) {
			c.Hidden = []infer.Representation{{Rows: 30, Width: 3, Values: c.Hidden[0].Values[:90]}}
		},
	} {
		spoilt := *c
		spoilt.Degrees, spoilt.Features.Columns = slices.Clone(c.Degrees), slices.Clone(c.Features.Columns)
		change(&spoilt)
		path := filepath.Join(t.TempDir(), "m.safetensors")
		require.NoError(t, m.SaveWith(path, &spoilt))
		refused(path, says)
	}
	refused(cacheFile(t, m, func(file *safetensors.Builder) {
		safetensors.Add(file, "cache.ids.offsets", make([]int64, 31), 31)
		safetensors.Add(file, "cache.ids.text", []byte{}, 0)
		safetensors.Add(file, "cache.degrees", make([]int32, 31), 31)
	}), `tensor "cache.degrees" is I32 of shape [31]: expected I32 of shape [30]`)
	c.Degrees[3] = -1
	_, err := cached.NewPredictor(b, m, c)
	require.ErrorContains(t, err, "node 3 has degree -1: expected 0 or more", "one in memory, too")
	c.Degrees[3], c.IDs[5] = 0, c.IDs[4]
	_, err = cached.NewPredictor(b, m, c)
	require.ErrorContains(t, err, "nodes 4 and 5 of the cache are both called "+`"`+c.IDs[4]+`"`)

	other := *m
	other.Seed++
	_, err = cached.LoadCache(path, &other)
	require.EqualError(t, err, path+": the cache of model "+m.Fingerprint()+", not of this one ("+other.Fingerprint()+
		"): save both from one training run")
}

func TestIDsThatAreNoTextsAreErrors(t *testing.T) {
	m, _, _ := savedPair(t, gnntest.Go(t), "gin", false)
	for says, c := range map[string]struct {
		offsets []int64
		text    string
	}{
		`"cache.ids.offsets" has 0 numbers for 2 bytes of ids`:                {nil, "ab"},
		`"cache.ids.offsets" has 2 numbers for 2 bytes of ids`:                {[]int64{0, 1}, "ab"},
		`the id of node 1 runs from 2 to 1: expected 2 to 2`:                  {[]int64{0, 2, 1, 2}, "ab"},
		`the id of node 0 runs from 0 to -9223372036854775808: expected 0 to`: {[]int64{0, math.MinInt64, 2}, "ab"},
		`the id of node 0 runs from 0 to 9: expected 0 to 2`:                  {[]int64{0, 9, 2}, "ab"},
		`the id of node 0 is "\xc3": expected UTF-8`:                          {[]int64{0, 1, 2}, "é"},
	} {
		path := cacheFile(t, m, func(file *safetensors.Builder) {
			safetensors.Add(file, "cache.ids.offsets", c.offsets, len(c.offsets))
			safetensors.Add(file, "cache.ids.text", []byte(c.text), len(c.text))
			safetensors.Add(file, "cache.degrees", []int32{}, 0)
		})
		_, err := cached.LoadCache(path, m)
		require.ErrorContains(t, err, path+": ")
		require.ErrorContains(t, err, says)
	}
}

func TestAModelThatCannotBeBuiltIsRefused(t *testing.T) {
	m, _, model := savedPair(t, gnntest.Go(t), "gin", false)
	settings := map[string]string{"settings": `{}`, "classes": `["a"]`, "features": "4", "data": "", "seed": "1"}
	for says, change := range map[string]map[string]string{
		`the settings are invalid: no model ""`:                       {},
		`"settings" of the metadata is "x", which cannot be read`:     {"settings": "x"},
		`"seed" of the metadata is "-1", which cannot be read`:        {"seed": "-1"},
		`"features" of the metadata is "99999999999999999999", which`: {"features": "99999999999999999999"},
		`"classes" of the metadata is "{}", which cannot be read`:     {"classes": "{}"},
		`tensor "w" is I32 of shape [1]: expected F32`:                {"w": "I32"},
		`tensor "w" of shape [0 3] is empty: expected weights`:        {"w": "empty"},
	} {
		metadata := maps.Clone(settings)
		maps.Copy(metadata, change)
		file := writtenFile(t, metadata, func(b *safetensors.Builder) {
			switch change["w"] {
			case "I32":
				safetensors.Add(b, "w", []int32{1}, 1)
			case "empty":
				safetensors.Add(b, "w", []float32{}, 0, 3)
			}
		})
		_, err := cached.LoadModel(file)
		require.ErrorContains(t, err, file+": ")
		require.ErrorContains(t, err, says)
	}
	before, err := os.ReadFile(model)
	require.NoError(t, err)
	valid, err := json.Marshal(m.Settings)
	require.NoError(t, err)
	for says, spoil := range map[string]func(m *cached.Model){
		"4 features and 0 classes: expected at least one of each": func(m *cached.Model) { m.Classes = nil },
		"1 names of features: expected 4":                         func(m *cached.Model) { m.FeatureNames = []string{"x"} },
		"a model without weights: take one that was trained":      func(m *cached.Model) { m.Weights = nil },
		"what is saved or cached predicts by one run, and DropGNN averages several": func(m *cached.Model) {
			m.Settings.Regulariser, m.Settings.RegulariserRate = hyper.DropGNNRegulariser, 0.3
		},
		`the settings are invalid: no model ""`: func(m *cached.Model) { *m = cached.Model{} },
		`a tensor is called "": expected another name`: func(m *cached.Model) {
			m.Weights = []infer.Weight{{Path: "/model/", Dimensions: []int{1}, Values: []float32{1}}}
		},
	} {
		spoilt := *m
		spoil(&spoilt)
		require.ErrorContains(t, spoilt.Save(model), model+": the model cannot be written: ")
		require.ErrorContains(t, spoilt.Save(model), says)
		now, err := os.ReadFile(model)
		require.NoError(t, err)
		require.Equal(t, before, now, "what was there stays")
	}
	for says, change := range map[string]map[string]string{
		"4 features and 0 classes: expected at least one of each": {"classes": "null"},
		"1 names of features: expected 4":                         {"feature_names": `["x"]`},
		"a model without weights":                                 {"w": "none"},
		"what is saved or cached predicts by one run, and DropGNN averages several": {"settings": strings.Replace(
			string(valid), `"keep_rate"`, `"regulariser":"dropgnn","regulariser_rate":0.3,"keep_rate"`, 1)},
	} {
		metadata := maps.Clone(settings)
		metadata["settings"] = string(valid)
		maps.Copy(metadata, change)
		delete(metadata, "w")
		file := writtenFile(t, metadata, func(b *safetensors.Builder) {
			if change["w"] == "" {
				safetensors.Add(b, "w", []float32{1}, 1)
			}
		})
		_, err := cached.LoadModel(file)
		require.ErrorContains(t, err, file+": "+says)
	}
	m.Weights[0].Values[0] = float32(math.NaN())
	require.ErrorContains(t, m.Save(model), model+`: the model cannot be written: tensor "layer0.linear0.weights": `+
		`number 0 is NaN: expected a finite one`)
	m.Weights[0].Path = "/model/layer.0/w"
	require.ErrorContains(t, m.Save(model), `weights "/model/layer.0/w": expected a path that begins with /model/ and `+
		`has no dots`)
}

func TestSavedFilesWithAChangedByteOrTooFewAreErrors(t *testing.T) {
	m, _, path := savedPair(t, gnntest.Go(t), "gin", true)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	broken := filepath.Join(t.TempDir(), "broken")
	refused := func(content []byte, says string) {
		require.NoError(t, os.WriteFile(broken, content, 0o600))
		_, err := cached.LoadModel(broken)
		require.ErrorContains(t, err, broken+": byte ", says)
		_, err = cached.LoadCache(broken, m)
		require.ErrorContains(t, err, broken+": byte ", says)
	}
	for i := 0; i < len(whole); i += 7 { // the reader's tests flip each bit
		whole[i] ^= 1 << (i % 8)
		refused(whole, fmt.Sprint("byte ", i))
		whole[i] ^= 1 << (i % 8)
	}
	for size := 0; size < len(whole); size += 41 {
		refused(whole[:size], fmt.Sprint(size, " bytes"))
	}
}
