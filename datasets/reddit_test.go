package datasets

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets/internal/numpy/numpytest"
)

var ringLayout = redditLayout{nodes: 4, directed: 8, features: 3, classes: 2}

func ringGraph() members {
	return members{
		"row":    npy("<i4", []int{8}, []int32{0, 0, 1, 1, 2, 2, 3, 3}),
		"col":    npy("<i4", []int{8}, []int32{1, 3, 0, 2, 1, 3, 0, 2}),
		"data":   npy("<f8", []int{8}, make([]float64, 8)),
		"shape":  npy("<i8", []int{2}, []int64{4, 4}),
		"format": npy("|S3", nil, "coo"),
	}
}

func ringData() members {
	return members{
		"feature":    npy("<f8", []int{4, 3}, []float64{0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5}),
		"node_types": npy("<i4", []int{4}, []int32{1, 1, 2, 3}),
		"node_ids":   npy("|S2", []int{4}, "a\x00b\x00c\x00d\x00"),
		"label":      npy("<i8", []int{4}, []int64{0, 1, 1, 0}),
	}
}

func redditDir(t testing.TB, graph, data members) string {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, redditGraphFile), graph.Zip(zip.Deflate), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, redditDataFile), data.Zip(zip.Store), 0o666))
	return dir
}

func TestReadRedditReadsPairsInAnyOrder(t *testing.T) {
	for name, change := range map[string]members{
		"coo": nil,
		"coo in no order": {"row": npy("<i8", []int{8}, []int64{3, 0, 1, 2, 2, 1, 0, 3}),
			"col": npy("<i8", []int{8}, []int64{2, 1, 0, 3, 1, 2, 3, 0})},
		"coo in one direction": {"row": npy("<i4", []int{5}, []int32{0, 1, 2, 3, 3}),
			"col": npy("<i4", []int{5}, []int32{1, 2, 3, 0, 3})},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := readReddit(t.Context(), redditDir(t, ringGraph().With(change), ringData()), ringLayout)
			require.NoError(t, err)
			sound(t, g)
			assert.Equal(t, []int32{1, 3, 0, 2, 1, 3, 0, 2}, g.Edges.Indices)
			assert.Equal(t, int64(4), g.Report.Edges)
			assert.Equal(t, []int32{0, 1, 1, 0}, g.Labels)
			assert.Equal(t, []float32{0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5}, g.Features.Dense)
		})
	}
}

func TestReadRedditReadsWhatNumpyAndScipyWrote(t *testing.T) {
	g, err := readReddit(t.Context(), filepath.Join("testdata", "numpy"), ringLayout)
	require.NoError(t, err)
	sound(t, g)
	assert.Equal(t, csr.Report{Listed: 8, Duplicates: 4, Edges: 4}, g.Report)
	assert.Equal(t, []float32{1.5, 2, 2.5}, g.Features.Dense[3:6])
}

func TestReadRedditRefusesAnotherGraph(t *testing.T) {
	for name, c := range map[string]struct {
		graph, data members
		says        string
	}{
		"nodes": {members{"shape": npy("<i8", []int{2}, []int64{5, 5})}, nil,
			"reddit_graph.npz: shape [5, 5]: expected [4, 4]"},
		"edges": {members{"row": npy("<i4", []int{1}, []int32{0}), "col": npy("<i4", []int{1}, []int32{1})}, nil,
			"2 distinct directed edges: expected 8"},
		"rows only": {members{"row": npy("<i4", []int{1}, []int32{0})}, nil,
			"reddit_graph.npz: col: shape [8]: expected [1]"},
		"node": {members{"col": npy("<i4", []int{8}, []int32{1, 3, 0, 2, 1, 4, 0, 2})}, nil,
			"reddit_graph.npz: col: element 5: names node 4"},
		"format": {members{"row": nil, "indptr": npy("<i4", []int{1}, []int32{0})}, nil,
			`no member "row", which a scipy matrix in coo`},
		"trillion edges": {members{"row": numpytest.TooLarge()}, nil, "reddit_graph.npz: row: byte 10"},
		"features": {nil, members{"feature": npy("<f4", []int{4, 2}, make([]float32, 8))},
			"feature: 2 columns: expected 3"},
		"feature rows": {nil, members{"feature": npy("<f4", []int{3, 3}, make([]float32, 9))},
			"feature: shape [3, 3]: expected [4, width]"},
		"classes": {nil, members{"label": npy("<i4", []int{4}, []int32{0, 1, 2, 0})}, "3 classes: expected 2"},
		"labels": {nil, members{"label": npy("<i4", []int{3}, []int32{0, 1, 1})},
			"reddit_data.npz: label: shape [3]: expected [4]"},
		"no labels": {nil, members{"label": nil}, `reddit_data.npz: no member "label"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readReddit(t.Context(), redditDir(t, ringGraph().With(c.graph), ringData().With(c.data)), ringLayout)
			require.ErrorContains(t, err, c.says)
		})
	}
}

var tenth = redditLayout{nodes: 23_296, directed: 11_461_632, features: 602, classes: 41}

// writeTenth writes a circulant graph of a tenth of Reddit's size, pairs ascending or shuffled.
func writeTenth(t testing.TB, dir string, shuffled bool) {
	half := tenth.directed / tenth.nodes / 2
	stream := func(path string, arrays map[string]func(w io.Writer)) {
		f, err := os.Create(path)
		require.NoError(t, err)
		z := zip.NewWriter(f)
		for name, write := range arrays {
			// Stored, as by numpy.savez: deflating only takes time.
			w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
			require.NoError(t, err)
			b := bufio.NewWriter(w)
			write(b)
			require.NoError(t, b.Flush())
		}
		require.NoError(t, z.Close())
		require.NoError(t, f.Close())
	}
	order := make([]int32, tenth.nodes)
	for v := range order {
		order[v] = int32(v)
	}
	if shuffled {
		r := rand.New(rand.NewPCG(1, 2))
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	pairs := func(which int) func(w io.Writer) {
		return func(w io.Writer) {
			w.Write(npy("<i4", []int{int(tenth.directed)}, ""))
			var b [4]byte
			for _, v := range order {
				for step := -half; step <= half; step++ {
					if step == 0 {
						continue
					}
					u := (int64(v) + step + tenth.nodes) % tenth.nodes
					binary.LittleEndian.PutUint32(b[:], uint32([2]int64{int64(v), u}[which]))
					w.Write(b[:])
				}
			}
		}
	}
	stream(filepath.Join(dir, redditGraphFile), map[string]func(w io.Writer){
		"row": pairs(0), "col": pairs(1),
		"shape": func(w io.Writer) { w.Write(npy("<i8", []int{2}, []int64{tenth.nodes, tenth.nodes})) },
	})
	stream(filepath.Join(dir, redditDataFile), map[string]func(w io.Writer){
		"label": func(w io.Writer) {
			labels := make([]int64, tenth.nodes)
			for v := range labels {
				labels[v] = int64(v % tenth.classes)
			}
			w.Write(npy("<i8", []int{int(tenth.nodes)}, labels))
		},
		"feature": func(w io.Writer) {
			w.Write(npy("<f8", []int{int(tenth.nodes), int(tenth.features)}, ""))
			row := make([]byte, 8*tenth.features)
			for range tenth.nodes {
				w.Write(row)
			}
		},
	})
}

func sizeOf(g *Graph) int64 {
	return 8*int64(len(g.Edges.Offsets)) + 4*int64(len(g.Edges.Indices)) + 4*int64(len(g.Labels)) +
		4*int64(len(g.Features.Dense)) + 4*int64(len(g.Features.Values)) + 4*int64(len(g.Features.Columns)) + 8*int64(len(
		g.Features.Offsets))
}

// peakRSS returns this process's peak memory in bytes.
func peakRSS() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("no VmHWM in /proc/self/status")
}

const measureEnv = "NODEMASK_TEST_MEASURE_REDDIT"

// TestReadRedditUsesLittleExtraMemory compares the peak memory of a separate process, which reads a tenth of Reddit,
// with the size of the graph.
func TestReadRedditUsesLittleExtraMemory(t *testing.T) {
	if dir := os.Getenv(measureEnv); dir != "" {
		g, err := readReddit(t.Context(), dir, tenth)
		require.NoError(t, err)
		peak, err := peakRSS()
		require.NoError(t, err)
		fmt.Printf("measured %d %d\n", peak, sizeOf(g))
		return
	}
	if testing.Short() || raceDetector || runtime.GOOS != "linux" {
		t.Skip("writes 280 MB and reads peak memory from /proc, which only means something without the race detector")
	}
	for _, shuffled := range []bool{false, true} {
		t.Run(fmt.Sprintf("shuffled=%v", shuffled), func(t *testing.T) {
			dir := t.TempDir()
			writeTenth(t, dir, shuffled)
			self, err := os.Executable()
			require.NoError(t, err)
			cmd := exec.CommandContext(t.Context(), self, "-test.run", "^TestReadRedditUsesLittle")
			cmd.Env = append(os.Environ(), measureEnv+"="+dir)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			var peak, size int64
			_, rest, found := strings.Cut(string(out), "measured ")
			require.True(t, found, "%s", out)
			_, err = fmt.Sscan(rest, &peak, &size)
			require.NoError(t, err, "%s", out)
			ratio := float64(peak) / float64(size)
			t.Logf("peak %d MB for a graph of %d MB: %.2f", peak>>20, size>>20, ratio)
			assert.Less(t, ratio, 1.5)
		})
	}
}
