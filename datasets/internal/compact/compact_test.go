package compact

import (
	"crypto/sha256"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// path is 0 – 1 – 2 and the lone node 3, with names, a node without a label and values that test exactness.
func path() *Graph {
	return &Graph{
		Width: 300, Classes: []string{"one", "two"}, NodeIDs: []string{"a", "b", "", "d"},
		Labels: []int32{0, 1, -1, 0}, Offsets: []int64{0, 1, 3, 4, 4}, Targets: []int32{1, 0, 2, 1},
		FeatureOffsets: []int64{0, 2, 3, 3, 5}, Columns: []int32{0, 299, 150, 0, 299},
		Values: []float32{1, -0.1, math.SmallestNonzeroFloat32, float32(math.Copysign(0, -1)), math.MaxFloat32},
		Listed: 5, SelfLoops: 1, Duplicates: 2,
	}
}

func TestDecodeReturnsWhatEncodeWrote(t *testing.T) {
	for name, g := range map[string]*Graph{
		"path":  path(),
		"empty": {Labels: []int32{}, Offsets: []int64{0}, Targets: []int32{}, FeatureOffsets: []int64{0}, Columns: []int32{}, Values: []float32{}},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := Encode(g)
			require.NoError(t, err)
			back, err := Decode(file)
			require.NoError(t, err)
			assert.Equal(t, g, back)
			for i, value := range g.Values {
				assert.Equal(t, math.Float32bits(value), math.Float32bits(back.Values[i]))
			}
		})
	}
}

func TestEncodeRefusesWhatDoesNotReadBack(t *testing.T) {
	for name, change := range map[string]func(*Graph){
		"one-way edge":     func(g *Graph) { g.Targets[0] = 2 },
		"self-loop":        func(g *Graph) { g.Targets[0] = 0 },
		"label":            func(g *Graph) { g.Labels[0] = 2 },
		"column":           func(g *Graph) { g.Columns[1] = 300 },
		"columns":          func(g *Graph) { g.Columns[0] = 299 },
		"too few values":   func(g *Graph) { g.Values = g.Values[:4] },
		"too few names":    func(g *Graph) { g.NodeIDs = g.NodeIDs[:3] },
		"a row that backs": func(g *Graph) { g.Offsets[1] = 4 },
		"a long name":      func(g *Graph) { g.NodeIDs[0] = string(make([]byte, maxName+1)) },
	} {
		t.Run(name, func(t *testing.T) {
			g := path()
			change(g)
			_, err := Encode(g)
			assert.Error(t, err)
		})
	}
}

func TestDecodeRefusesEveryCutAndEveryFlippedBit(t *testing.T) {
	file, err := Encode(path())
	require.NoError(t, err)
	for n := range file {
		_, err := Decode(file[:n])
		assert.Error(t, err, "cut to %d bytes", n)
		for bit := range 8 {
			bad := slices.Clone(file)
			bad[n] ^= 1 << bit
			_, err := Decode(bad)
			assert.Error(t, err, "byte %d, bit %d", n, bit)
		}
	}
	_, err = Decode(append(slices.Clone(file), 0))
	assert.Error(t, err)
}

// seal gives a payload a valid checksum, so that what is behind it is tried.
func seal(payload []byte, size byte) []byte {
	// A last block, stored as it is, with its length and the complement: far quicker than to compress.
	n := byte(len(payload))
	body := append([]byte{size, 1, n, 0, ^n, 0xff}, payload...)
	sum := sha256.Sum256(body)
	return slices.Concat([]byte(magic), []byte{version}, sum[:], body)
}

func TestDecodeOfASealedPayloadNeverPanicsAndNeverReturnsABadGraph(t *testing.T) {
	g := path()
	g.Width, g.Columns = 4, []int32{0, 3, 1, 0, 3}
	w := &writer{}
	for _, x := range []uint64{4, 4, 5, 1, 2} {
		w.number(x)
	}
	w.names(g.Classes)
	w.names(g.NodeIDs)
	for _, label := range g.Labels {
		w.number(uint64(label + 1))
	}
	w.edges(g)
	w.columns(g)
	require.NoError(t, w.values(g))
	require.Less(t, len(w.payload), 127)
	_, err := Decode(seal(w.payload, byte(len(w.payload))))
	require.NoError(t, err)
	for i := range w.payload {
		for x := range 256 {
			bad := slices.Clone(w.payload)
			bad[i] = byte(x)
			got, err := Decode(seal(bad, byte(len(bad))))
			if err == nil {
				require.NoError(t, got.check(), "byte %d is %d", i, x)
			}
		}
		_, err := Decode(seal(w.payload[:i], byte(i)))
		assert.Error(t, err)
		_, err = Decode(seal(w.payload[:i], byte(i+1)))
		assert.Error(t, err)
	}
}

func FuzzDecode(f *testing.F) {
	file, err := Encode(path())
	require.NoError(f, err)
	f.Add(file[len(magic)+1+sha256.Size:])
	f.Fuzz(func(t *testing.T, body []byte) {
		sum := sha256.Sum256(body)
		g, err := Decode(slices.Concat([]byte(magic), []byte{version}, sum[:], body))
		if err == nil {
			require.NoError(t, g.check())
		}
	})
}
