package cached_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/safetensors"
)

// FuzzCache loads caches with valid checksums and arbitrary tensors. Accepted ones must predict a node.
func FuzzCache(f *testing.F) {
	b := gnntest.Go(f)
	m := anyModel(f, b, "gcn", gnntest.TwoCamps(f), 2)
	f.Add([]byte{0, 1, 3}, "abc", []byte{2, 0}, []byte{0, 2, 3}, []byte{0, 3, 1}, uint8(6), true)
	f.Add([]byte{0, 1, 2}, "aa", []byte{255, 1}, []byte{0, 1, 1}, []byte{4}, uint8(6), true)
	f.Add([]byte{0}, "", []byte{}, []byte{0}, []byte{}, uint8(6), false)
	f.Add([]byte{0, 200, 2}, "\xff\xff", []byte{128, 1}, []byte{0, 255, 1}, []byte{200}, uint8(0), false)
	// Bytes from 128 on are negative numbers.
	ints := func(raw []byte) []int32 {
		all := make([]int32, len(raw))
		for i, x := range raw {
			all[i] = int32(int8(x))
		}
		return all
	}
	longs := func(raw []byte) []int64 {
		all := make([]int64, len(raw))
		for i, x := range ints(raw) {
			all[i] = int64(x)
		}
		return all
	}
	f.Fuzz(func(t *testing.T, ends []byte, text string, degrees, offsets, columns []byte, width uint8, sparse bool) {
		nodes := max(0, len(ends)-1)
		hidden := make([]float32, nodes*int(width))
		for i := range hidden {
			hidden[i] = float32(i % 5)
		}
		path := cacheFile(t, m, func(file *safetensors.Builder) {
			safetensors.Add(file, "cache.ids.offsets", longs(ends), len(ends))
			safetensors.Add(file, "cache.ids.text", []byte(text), len(text))
			safetensors.Add(file, "cache.degrees", ints(degrees), len(degrees))
			if sparse {
				safetensors.Add(file, "cache.features.offsets", longs(offsets), len(offsets))
				safetensors.Add(file, "cache.features.columns", ints(columns), len(columns))
				safetensors.Add(file, "cache.features.values", make([]float32, len(columns)), len(columns))
			} else {
				safetensors.Add(file, "cache.features", make([]float32, len(columns)/4*4), len(columns)/4, 4)
			}
			safetensors.Add(file, "cache.hidden1", hidden, nodes, int(width))
		})
		c, err := cached.LoadCache(path, m)
		if err != nil {
			if !strings.HasPrefix(err.Error(), path+": ") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("the error does not read as others do: %q", err)
			}
			return
		}
		defer c.Close()
		p, err := cached.NewPredictor(b, m, c)
		if err != nil {
			require.ErrorContains(t, err, "are both called")
			return
		}
		defer p.Close()
		known := []int32{}
		for v := range min(nodes, 3) {
			known = append(known, int32(v))
		}
		arrives := &datasets.Newcomers{IDs: []string{"new"}, Known: [][]int32{known}, Features: datasets.Features{Rows: 1,
			Width: 4, Dense: []float32{1, 0, 0, 1}}}
		require.NoError(t, p.Predict(t.Context(), arrives, func(got cached.Prediction) error {
			require.False(t, math.IsNaN(got.Probability), "degrees %v", c.Degrees)
			return nil
		}))
	})
}
