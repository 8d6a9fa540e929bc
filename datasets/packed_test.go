package datasets

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/csr"
)

// packable is what a payload holds: a graph whose features are counts, lengths and weights.
type packable struct {
	Graph
	counts, lengths []uint32
	weights         []float64
}

func small(t require.TestingT) *packable {
	edges, report, err := csr.FromEdges(3, []csr.Edge{{Node: 0, Neighbour: 1}, {Node: 1, Neighbour: 0},
		{Node: 2, Neighbour: 2}, {Node: 2, Neighbour: 1}}, csr.Options{})
	require.NoError(t, err)
	return &packable{
		Graph: Graph{
			Name: "small", Source: "embedded", Classes: []string{"a", "b"}, NodeIDs: []string{"x", "", "z"},
			Labels: []int32{1, -1, 0}, Edges: edges, Report: report,
			Features: Features{Rows: 3, Width: 300, Offsets: []int64{0, 2, 2, 3}, Columns: []int32{0, 299, 7},
				Values: []float32{float32(math.Pi / 4), float32(50 * math.Pi), float32(0.003 * math.Pi)}},
		},
		counts: []uint32{1, 200, 3}, lengths: []uint32{4, 1, 1000}, weights: slices.Repeat([]float64{math.Pi}, 300),
	}
}

// payload is the inverse of unpackPayload.
func (g *packable) payload() (b []byte) {
	number := func(n uint64) { b = binary.AppendUvarint(b, n) }
	words := func(list []string) {
		number(uint64(len(list)))
		for _, s := range list {
			number(uint64(len(s)))
			b = append(b, s...)
		}
	}
	gaps := func(row []int32, last int32) {
		for _, c := range row {
			number(uint64(c - last - 1))
			last = c
		}
	}
	words([]string{g.Name})
	words(g.Classes)
	number(uint64(len(g.Labels)))
	words(g.NodeIDs)
	for _, c := range g.Labels {
		number(uint64(c + 1))
	}
	for _, n := range []int64{g.Report.Listed, g.Report.SelfLoops, g.Report.Duplicates} {
		number(uint64(n))
	}
	for v := range int32(g.NumNodes()) {
		row := g.Edges.Neighbours(v)
		first, _ := slices.BinarySearch(row, v)
		number(uint64(len(row[first:])))
		gaps(row[first:], v)
	}
	number(uint64(g.Features.Width))
	for _, w := range g.weights {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(w))
	}
	offsets := g.Features.Offsets
	for v, length := range g.lengths {
		number(uint64(length))
		number(uint64(offsets[v+1] - offsets[v]))
	}
	for v := range g.Labels {
		gaps(g.Features.Columns[offsets[v]:offsets[v+1]], -1)
	}
	for _, n := range g.counts {
		number(uint64(n))
	}
	return b
}

// pack is the inverse of unpack.
func pack(t require.TestingT, payload []byte) []byte {
	sum := sha256.Sum256(payload)
	out := bytes.NewBuffer(binary.LittleEndian.AppendUint32([]byte(packedMagic), uint32(len(payload))))
	out.Write(sum[:])
	w, err := flate.NewWriter(out, flate.BestCompression)
	require.NoError(t, err)
	_, err = w.Write(payload)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func TestUnpackGivesBackWhatWasPacked(t *testing.T) {
	want := small(t)
	got, err := unpack(pack(t, want.payload()))
	require.NoError(t, err)
	assert.Equal(t, &want.Graph, got)
}

func TestUnpackGivesBackAnyGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 20).Draw(t, "nodes")
		width := rapid.IntRange(0, 20).Draw(t, "width")
		node := rapid.Int32Range(0, int32(nodes-1))
		var list []csr.Edge
		for range rapid.IntRange(0, 50).Draw(t, "pairs") {
			list = append(list, csr.Edge{Node: node.Draw(t, "u"), Neighbour: node.Draw(t, "v")})
		}
		want := &packable{Graph: Graph{Name: rapid.String().Draw(t, "name"), Source: "embedded", Classes: []string{"0"}}}
		var err error
		want.Edges, want.Report, err = csr.FromEdges(nodes, list, csr.Options{})
		require.NoError(t, err)
		for range width {
			want.weights = append(want.weights, rapid.Float64Range(1e-6, 1e6).Draw(t, "weight"))
		}
		f := Features{Rows: nodes, Width: width, Offsets: []int64{0}, Columns: []int32{}, Values: []float32{}}
		for v := range nodes {
			want.Labels = append(want.Labels, rapid.Int32Range(-1, 0).Draw(t, "label"))
			want.lengths = append(want.lengths, rapid.Uint32Range(1, math.MaxInt32).Draw(t, "length"))
			for c := range int32(width) {
				if rapid.Bool().Draw(t, "set") {
					count := rapid.Uint32Range(1, math.MaxInt32).Draw(t, "count")
					want.counts = append(want.counts, count)
					share := float64(count) / float64(want.lengths[v])
					f.Columns, f.Values = append(f.Columns, c), append(f.Values, float32(share*want.weights[c]))
				}
			}
			f.Offsets = append(f.Offsets, int64(len(f.Columns)))
		}
		want.Features = f
		got, err := unpack(pack(t, want.payload()))
		require.NoError(t, err)
		require.Equal(t, &want.Graph, got)
		for _, x := range got.Features.Values {
			require.True(t, x > 0 && !math.IsInf(float64(x), 0))
		}
	})
}

func TestEveryDamagedByteOfAPackedFileIsAnError(t *testing.T) {
	file := pack(t, small(t).payload())
	for i := range file {
		_, err := unpack(file[:i])
		require.Error(t, err, "cut at %d", i)
		for bit := range 8 {
			broken := slices.Clone(file)
			broken[i] ^= 1 << bit
			// DEFLATE has bits that say nothing; a flip there gives the same payload.
			if g, err := unpack(broken); err == nil {
				require.Equal(t, &small(t).Graph, g, "byte %d, bit %d", i, bit)
			}
		}
	}
	_, err := unpack(append(file, 0))
	assert.ErrorContains(t, err, "1 follow it")
}

func TestUnpackSaysWhatIsWrong(t *testing.T) {
	file := pack(t, small(t).payload())
	with := func(at int, b byte) []byte {
		c := slices.Clone(file)
		c[at] = b
		return c
	}
	changed := func(change func(g *packable)) []byte {
		g := small(t)
		change(g)
		return pack(t, g.payload())
	}
	for want, input := range map[string][]byte{
		"not a packed graph":                nil,
		`expected "nodemask\x01"`:           with(8, 2),
		"a payload of 2130":                 with(12, 0x7f),
		"payload's SHA-256":                 with(20, file[20]^1),
		"cannot decompress":                 file[:len(file)-3],
		"a count is 0: expected at least 1": changed(func(g *packable) { g.counts[1] = 0 }),
		"a row's length is 0":               changed(func(g *packable) { g.lengths[0] = 0 }),
		"weight 7 is NaN":                   changed(func(g *packable) { g.weights[7] = math.NaN() }),
		"2 edges: expected 3":               changed(func(g *packable) { g.Report.Listed++ }),
		"2 node names for 3 nodes":          changed(func(g *packable) { g.NodeIDs = g.NodeIDs[:2] }),
		"the number 300 in a row":           changed(func(g *packable) { g.Features.Columns[1] = 300 }),
	} {
		_, err := unpack(input)
		assert.ErrorContains(t, err, want)
	}
}

// FuzzPacked leaves the checksum out, which would keep every mutation from the code behind it.
func FuzzPacked(f *testing.F) {
	f.Add(small(f).payload())
	f.Fuzz(func(t *testing.T, payload []byte) {
		if g, err := unpackPayload(payload); err == nil {
			require.NoError(t, g.Features.Check())
			require.True(t, g.Edges.IsSymmetric())
		}
	})
}
