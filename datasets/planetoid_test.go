package datasets

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets/internal/graphfile"
	"nodemask/datasets/internal/pickle"
)

var planetoidParts = []string{"x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"}

// openPlanetoid reads the real files of a graph of published shape.
func openPlanetoid(t testing.TB, name string) *Graph {
	g, err := Open(t.Context(), name, OpenOptions{Dir: planetoidDir(t)})
	require.NoError(t, err)
	require.Equal(t, planetoidDir(t), g.Source, "not the embedded graph")
	return g
}

func opens(m fs.FS) opener {
	return func(file string) (*graphfile.File, error) {
		data, err := fs.ReadFile(m, file)
		if err != nil {
			return nil, err
		}
		return graphfile.Bytes(file, data), nil
	}
}

// copyOf returns a graph's eight files in memory, for tests to damage.
func copyOf(t testing.TB, files fs.FS, name string) fstest.MapFS {
	m := fstest.MapFS{}
	for _, part := range planetoidParts {
		file := "ind." + name + "." + part
		data, err := fs.ReadFile(files, file)
		require.NoError(t, err)
		m[file] = &fstest.MapFile{Data: data}
	}
	return m
}

func TestHolesInCiteSeersTestIndexHaveEdgesAlone(t *testing.T) {
	g := openPlanetoid(t, "citeseer")
	var holes []int
	isolated, edges := 0, 0
	for v, c := range g.Labels {
		if g.Edges.Degree(int32(v)) == 0 {
			isolated++
		}
		if c == Unlabelled {
			holes = append(holes, v)
			edges += g.Edges.Degree(int32(v))
			assert.Equal(t, g.Features.Offsets[v], g.Features.Offsets[v+1])
		}
	}
	assert.Equal(t, []int{2407, 2489, 2553, 2682, 2781, 2953, 3042, 3063, 3212, 3214, 3250, 3292, 3305, 3306, 3309}, holes)
	// Cited papers without text: none of the 48 isolated nodes is one.
	assert.Equal(t, 16, edges)
	assert.Equal(t, 48, isolated)
	assert.EqualValues(t, 105165, g.Features.NonZeros())
	assert.Equal(t, []int{249, 590, 668, 701, 596, 508}, classSizes(g))
}

func TestTestRowsStandWhereTestIndexPutsThem(t *testing.T) {
	g := openPlanetoid(t, "cora")
	data, err := os.ReadFile(filepath.Join(planetoidDir(t), "ind.cora.tx"))
	require.NoError(t, err)
	v, err := pickle.Read(data)
	require.NoError(t, err)
	tx, err := pickledFeatures(v)
	require.NoError(t, err)
	// test.index begins 2692, 2532, 2050.
	for row, node := range []int{2692, 2532, 2050} {
		assert.Equal(t, tx.Row(row, nil), g.Features.Row(node, nil))
	}
}

func TestEveryFlippedBitIsAnError(t *testing.T) {
	cora := copyOf(t, os.DirFS(planetoidDir(t)), "cora")
	readable := 0
	for _, part := range planetoidParts {
		file := cora["ind.cora."+part]
		whole := file.Data
		for i := range 40 {
			at := i * (len(whole) - 1) / 39
			file.Data = slices.Clone(whole)
			file.Data[at] ^= 1 << (i % 8)
			_, err := readPlanetoid(t.Context(), opens(cora), "cora", false)
			require.Error(t, err, "%s, byte %d", part, at)
			require.NotErrorIs(t, err, pickle.ErrMistake)
			require.Contains(t, err.Error(), "fetch it again with 'nodemask data fetch cora'")

			g, err := readPlanetoid(t.Context(), opens(cora), "cora", true)
			if err == nil {
				require.NoError(t, g.Check())
				readable++
			} else {
				require.NotErrorIs(t, err, pickle.ErrMistake)
			}
		}
		file.Data = whole
	}
	assert.NotZero(t, readable, "some flips are caught by nothing but the checksum")
}

func TestDamagedPickleNamesFileByteAndRemedy(t *testing.T) {
	cora := copyOf(t, os.DirFS(planetoidDir(t)), "cora")
	cora["ind.cora.allx"].Data = []byte{0x80, 2, 0x54, 0xff, 0xff, 0xff, 0x7f}
	_, err := readPlanetoid(t.Context(), opens(cora), "cora", false)
	assert.EqualError(t, err,
		"ind.cora.allx: byte 2: this pickle asks for 2.1 GB in one piece; a graph file needs at most 67 MB. The file "+
			"is damaged: fetch it again with 'nodemask data fetch cora'")
}

func TestMissingPlanetoidFileIsNamed(t *testing.T) {
	_, err := readPlanetoid(t.Context(), folder(t.TempDir()), "pubmed", false)
	assert.ErrorContains(t, err,
		"ind.pubmed.x is missing: expected it beside the other ind.pubmed files; 'nodemask data fetch pubmed' fetches them")
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

// tinyPlanetoid is made of testdata's small pickles: allx has 3 rows, tx and x none.
func tinyPlanetoid(t testing.TB) fstest.MapFS {
	m := fstest.MapFS{}
	for part, name := range map[string]string{"allx": "matrix-3", "ally": "labels-3", "tx": "matrix-3", "ty": "labels-3",
		"x": "python2-matrix", "y": "python2-labels"} {
		m["ind.tiny."+part] = &fstest.MapFile{Data: testPickle(t, name)}
	}
	// A path 0-1-2, a self-loop at 3, isolated 4 and 5.
	m["ind.tiny.graph"] = &fstest.MapFile{Data: []byte(
		"}(K\x00(K\x01lK\x01(K\x00K\x02lK\x02(K\x01lK\x03(K\x03K\x03lK\x04(lK\x05(lu.")}
	m["ind.tiny.test.index"] = &fstest.MapFile{Data: []byte("5\n3\n4\n")}
	return m
}

func TestAnyChecksumReadsOtherGraphsInTheLayout(t *testing.T) {
	g, err := readPlanetoid(t.Context(), opens(tinyPlanetoid(t)), "tiny", true)
	require.NoError(t, err)
	assert.Equal(t, []string{"0", "1"}, g.Classes)
	// Rows 0, 1 and 2 of tx are nodes 5, 3 and 4; row 1 has no features and no label.
	assert.Equal(t, []int32{0, -1, 1, -1, 1, 0}, g.Labels)
	assert.Equal(t, []int64{0, 1, 1, 3, 3, 5, 6}, g.Features.Offsets)
	assert.Equal(t, csr.Report{Listed: 3, SelfLoops: 1, Edges: 2}, g.Report)
}

func TestInconsistentPlanetoidFilesAreRefused(t *testing.T) {
	for _, c := range []struct{ part, data, want string }{
		{"test.index", "5\n3\n", "ind.tiny.test.index: 2 lines: expected 3, one for each row of tx"},
		{"test.index", "5\n3\n3\n", "line 3: node 3 was listed before"},
		{"test.index", "5\n3\n2\n", "line 3: node 2: expected 3 to 5"},
		{"test.index", "5\n3\n6\n", "line 3: node 6: expected 3 to 5"},
		{"test.index", "5\nx\n", `line 2: "x": expected a node's number`},
		{"test.index", "5\n" + strings.Repeat("4", 50), `line 2: "44444444444444444444"`},
		{"graph", "}(K\x00(lu.", "1 nodes: expected at least 6, one for each row of allx and tx"},
		{"graph", "}(K\x00(lK\x00(lu.", "node 0 is there twice"},
		{"graph", "}(K\x07(lu.", "node a number (7): expected numbers from 0 to 0"},
		{"graph", "}(K\x00Nu.", "node 0 has None: expected a list"},
		{"graph", "}(K\x00(K\x09lu.", "node 0 lists a number (9) as its neighbour: expected 0 to 0"},
		{"graph", "}(K\x00(K\x01lK\x01(lK\x02(lK\x03(lK\x04(lK\x05(lu.", "node 0 lists node 1, but not the other way round"},
		{"graph", "N.", "None: expected a dictionary of lists"},
		{"x", "N.", "None: expected a scipy CSR matrix"},
		{"y", "N.", "None: expected a numpy array of two dimensions"},
		{"ally", string(testPickle(t, "bigendian-3")), "2 rows beside 3 in ind.tiny.allx"},
	} {
		m := tinyPlanetoid(t)
		m["ind.tiny."+c.part].Data = []byte(c.data)
		_, err := readPlanetoid(t.Context(), opens(m), "tiny", true)
		assert.ErrorContains(t, err, c.want)
	}
}
