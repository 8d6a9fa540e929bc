package packed

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/csr"
)

func small(t require.TestingT) *Graph {
	edges, report, err := csr.FromEdges(3, []csr.Edge{{Node: 0, Neighbour: 1}, {Node: 1, Neighbour: 0}, {Node: 2, Neighbour: 2}, {Node: 2, Neighbour: 1}}, csr.Options{})
	require.NoError(t, err)
	return &Graph{
		Name: "small", Classes: []string{"a", "b"}, NodeIDs: []string{"x", "", "z"}, Labels: []int32{1, -1, 0},
		Edges: edges, Report: report,
		Width: 300, Offsets: []int64{0, 2, 2, 3}, Columns: []int32{0, 299, 7}, Counts: []uint32{1, 200, 3},
		Lengths: []uint32{4, 1, 1000}, Weights: slices.Repeat([]float64{math.Pi}, 300),
	}
}

func TestDecodeGivesBackWhatWasEncoded(t *testing.T) {
	want := small(t)
	data, err := Encode(want)
	require.NoError(t, err)
	got, err := Decode(data)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	assert.Equal(t, []float32{float32(math.Pi / 4), float32(50 * math.Pi), float32(0.003 * math.Pi)}, got.Values())
}

func TestDecodeGivesBackAnyGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 20).Draw(t, "nodes")
		width := rapid.IntRange(0, 20).Draw(t, "width")
		node := rapid.Int32Range(0, int32(nodes-1))
		var list []csr.Edge
		for range rapid.IntRange(0, 50).Draw(t, "pairs") {
			list = append(list, csr.Edge{Node: node.Draw(t, "u"), Neighbour: node.Draw(t, "v")})
		}
		want := &Graph{Name: rapid.String().Draw(t, "name"), Classes: []string{"0"}, Width: width, Offsets: []int64{0}, Columns: []int32{}, Counts: []uint32{}, Weights: []float64{}}
		var err error
		want.Edges, want.Report, err = csr.FromEdges(nodes, list, csr.Options{})
		require.NoError(t, err)
		for range width {
			want.Weights = append(want.Weights, rapid.Float64Range(1e-6, 1e6).Draw(t, "weight"))
		}
		for range nodes {
			want.Labels = append(want.Labels, rapid.Int32Range(-1, 0).Draw(t, "label"))
			want.Lengths = append(want.Lengths, rapid.Uint32Range(1, math.MaxInt32).Draw(t, "length"))
			for c := range int32(width) {
				if rapid.Bool().Draw(t, "set") {
					want.Columns = append(want.Columns, c)
					want.Counts = append(want.Counts, rapid.Uint32Range(1, math.MaxInt32).Draw(t, "count"))
				}
			}
			want.Offsets = append(want.Offsets, int64(len(want.Columns)))
		}
		data, err := Encode(want)
		require.NoError(t, err)
		got, err := Decode(data)
		require.NoError(t, err)
		require.Equal(t, want, got)
		for _, x := range got.Values() {
			require.True(t, x > 0 && !math.IsInf(float64(x), 0))
		}
	})
}

func TestEveryDamagedByteIsAnError(t *testing.T) {
	data, err := Encode(small(t))
	require.NoError(t, err)
	for i := range data {
		_, err := Decode(data[:i])
		require.Error(t, err, "cut at %d", i)
		for bit := range 8 {
			broken := slices.Clone(data)
			broken[i] ^= 1 << bit
			// DEFLATE has bits that say nothing; a flip there gives the same payload.
			if g, err := Decode(broken); err == nil {
				require.Equal(t, small(t), g, "byte %d, bit %d", i, bit)
			}
		}
	}
	_, err = Decode(append(data, 0))
	assert.ErrorContains(t, err, "1 follow it")
}

func TestDecodeSaysWhatIsWrong(t *testing.T) {
	data, err := Encode(small(t))
	require.NoError(t, err)
	with := func(at int, b byte) []byte {
		c := slices.Clone(data)
		c[at] = b
		return c
	}
	for want, input := range map[string][]byte{
		"not a packed graph":        nil,
		"byte 8: format version 2":  with(8, 2),
		"byte 9: a payload of 2130": with(12, 0x7f),
		"payload's SHA-256":         with(20, data[20]^1),
		"cannot decompress":         data[:len(data)-3],
	} {
		_, err := Decode(input)
		assert.ErrorContains(t, err, want)
	}
}

func TestEncodeRefusesWhatDecodeWould(t *testing.T) {
	g := small(t)
	g.Counts[1] = 0
	_, err := Encode(g)
	assert.ErrorContains(t, err, "count 1 is 0: expected at least 1")
}

// FuzzDecode leaves the checksum out, which would keep every mutation from the code behind it.
func FuzzDecode(f *testing.F) {
	f.Add(encode(small(f)))
	f.Fuzz(func(t *testing.T, payload []byte) {
		g, err := decode(payload)
		if err != nil {
			return
		}
		again, err := decode(encode(g))
		require.NoError(t, err)
		require.Equal(t, len(g.Values()), len(again.Values()))
	})
}

func TestEmbeddedFilesEncodeTheSameAgain(t *testing.T) {
	for _, name := range []string{"cora", "pubmed"} {
		data, err := os.ReadFile("../../embedded/" + name + ".bin")
		require.NoError(t, err)
		g, err := Decode(data)
		require.NoError(t, err)
		again, err := decode(encode(g))
		require.NoError(t, err)
		assert.Equal(t, g, again)
	}
}
