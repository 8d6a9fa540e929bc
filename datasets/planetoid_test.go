package datasets

import (
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets/internal/graphfile"
)

// openPlanetoid reads the real files of a graph of published shape.
func openPlanetoid(t testing.TB, name string) *Graph {
	g, err := Open(t.Context(), name, OpenOptions{Dir: planetoidDir(t)})
	require.NoError(t, err)
	require.Equal(t, planetoidDir(t), g.Source, "not the embedded graph")
	return g
}

// opens opens files in memory.
func opens(m fs.FS) opener {
	return func(file string) (*graphfile.File, error) {
		data, err := fs.ReadFile(m, file)
		if err != nil {
			return nil, err
		}
		return graphfile.Bytes(file, data), nil
	}
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

func TestAFlippedBitIsAnErrorThatNamesTheFile(t *testing.T) {
	files := os.DirFS(planetoidDir(t))
	for _, published := range planetoidFiles("cora") {
		damaged := func(file string) (*graphfile.File, error) {
			data, err := fs.ReadFile(files, file)
			if file == published.Name {
				data[len(data)/2] ^= 1
			}
			return graphfile.Bytes(file, data), err
		}
		_, err := readPlanetoid(t.Context(), damaged, "cora", "")
		requireOneLine(t, err, published.Name+": SHA-256 is ", ": expected "+published.SHA256,
			"fetch it again with 'nodemask data fetch cora'")
	}
}

func TestMissingPlanetoidFileIsNamed(t *testing.T) {
	_, err := readPlanetoid(t.Context(), folder(t.TempDir()), "pubmed", "")
	assert.ErrorContains(t, err, "ind.pubmed.tx is missing: expected it next to the other ind.pubmed files; "+
		"'nodemask data fetch pubmed' fetches them")
	assert.ErrorIs(t, err, fs.ErrNotExist)
}
