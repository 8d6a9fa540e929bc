package parquet

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets"
)

func fixture(name string) string { return filepath.Join("..", "testdata", "formats", name) }

func open(ctx context.Context, path string) (*datasets.Graph, error) {
	return datasets.Open(ctx, path, datasets.OpenOptions{Readers: []datasets.Reader{Reader{}}})
}

func TestReadsWhatPyArrowWrote(t *testing.T) {
	g, err := open(t.Context(), fixture("parquet"))
	require.NoError(t, err)
	require.NoError(t, g.Check())
	assert.Equal(t, "parquet", g.Name)
	assert.Equal(t, "Parquet", g.Format)
	assert.Equal(t, []string{"ann", "bob", "cy", "dan", "eve", "fay", "gus", "hal"}, g.NodeIDs)
	assert.Equal(t, []string{"ant", "cat"}, g.Classes)
	assert.Equal(t, []int32{1, 0, 1, datasets.Unlabelled, 0, 1, 0, datasets.Unlabelled}, g.Labels)
	assert.Equal(t, []float32{1, 0.5, 0, -2, 3, 0, 0, 0, 0.25, 1, 1, 1, 2, 0, 0, 4}, g.Features.Stored(false).Dense)
	assert.Equal(t, csr.Report{Listed: 8, SelfLoops: 1, Edges: 7}, g.Report)
	assert.Equal(t, []int32{1, 3, 4}, g.Edges.Neighbours(0))
	assert.Equal(t, []string{`column "weight" of edges: left out`}, g.Notes)
	assert.Equal(t, []string{"a", "b"}, g.FeatureNames)

	g, err = open(t.Context(), fixture("parquet-numbers"))
	require.NoError(t, err)
	require.NoError(t, g.Check())
	assert.Equal(t, []string{"100", "101", "102", "103", "104", "105", "106", "107"}, g.NodeIDs)
	assert.Equal(t, []string{"0", "1"}, g.Classes)
	assert.Equal(t, []int32{0, 1, 0, datasets.Unlabelled, 1, 0, 1, datasets.Unlabelled}, g.Labels)
	assert.Equal(t, []float32{1, 2, 0, -8, 3, 0, 0, 0, 0.25, 4, 1, 4, 2, 0, 0, 16}, g.Features.Stored(false).Dense)
	assert.Equal(t, csr.Report{Listed: 8, SelfLoops: 1, Edges: 7}, g.Report)
	assert.Empty(t, g.Notes)
}

func write[T any](t testing.TB, dir, name string, rows []T) {
	t.Helper()
	require.NoError(t, pq.WriteFile(filepath.Join(dir, name), rows))
}

type node struct {
	ID    string   `parquet:"id"`
	Label *string  `parquet:"label,optional"`
	X     *float64 `parquet:"x,optional"`
}

type edge struct {
	Source int64 `parquet:"source"`
	Target int64 `parquet:"target"`
}

func TestFaultsNameFileColumnAndRow(t *testing.T) {
	one, infinite := 1.0, 1e300
	type unlabelled struct {
		ID int64 `parquet:"id"`
	}
	type dated struct {
		ID    float64 `parquet:"id"`
		Label string  `parquet:"label"`
	}
	for name, c := range map[string]struct {
		write func(dir string)
		says  string
	}{
		"no edges": {func(dir string) { write(t, dir, nodesFile, []node{{ID: "1", X: &one}}) },
			"edges.parquet: no such file"},
		"no label": {func(dir string) { write(t, dir, nodesFile, []unlabelled{{1}}) },
			`nodes.parquet: no column "label": found "id"`},
		"float ids": {func(dir string) { write(t, dir, nodesFile, []dated{{1, "a"}}) },
			`nodes.parquet: column "id" of type DOUBLE: expected whole numbers or text`},
		"no nodes": {func(dir string) { write(t, dir, nodesFile, []node{}) }, "nodes.parquet: no nodes"},
		"empty id": {func(dir string) { write(t, dir, nodesFile, []node{{ID: "1", X: &one}, {X: &one}}) },
			`column "id": row 1: the id is empty`},
		"twice": {func(dir string) { write(t, dir, nodesFile, []node{{ID: "1", X: &one}, {ID: "1", X: &one}}) },
			`row 1: the id "1" is there already (node 0`},
		"empty": {func(dir string) { write(t, dir, nodesFile, []node{{ID: "1", X: &one}, {ID: "2"}}) },
			`column "x": row 1 is empty: write 0`},
		"too large": {func(dir string) { write(t, dir, nodesFile, []node{{ID: "1", X: &infinite}}) },
			`column "x": row 0: found 1e+300: expected a finite number`},
		"no node": {func(dir string) {
			write(t, dir, nodesFile, []node{{ID: "1", X: &one}})
			write(t, dir, edgesFile, []edge{{1, 2}})
		}, `edges.parquet: column "target": row 0 names node "2", which nodes.parquet does not have`},
		"no Parquet": {func(dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, nodesFile), []byte("id,label\n1,2\n"), 0o666))
		}, `expected the end of a Parquet file`},
		"a footer of 4 GiB": {func(dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, nodesFile), []byte("PAR1aaaaaaaa\xff\xff\xff\xffPAR1"), 0o666))
		}, "expected the end of a Parquet file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.write(dir)
			_, err := open(t.Context(), dir)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestIdsMayBeNumbersFarApartAndTextForNumbers(t *testing.T) {
	type far struct {
		ID    int64 `parquet:"id"`
		Label bool  `parquet:"label"`
	}
	type named struct {
		Source string `parquet:"src"`
		Target string `parquet:"dst"`
	}
	dir := t.TempDir()
	write(t, dir, nodesFile, []far{{-1 << 62, true}, {1 << 62, false}, {0, true}})
	write(t, dir, edgesFile, []edge{{-1 << 62, 1 << 62}, {0, 0}})
	g, err := open(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, []string{"-4611686018427387904", "4611686018427387904", "0"}, g.NodeIDs)
	assert.Equal(t, []string{"0", "1"}, g.Classes)
	assert.Equal(t, csr.Report{Listed: 2, SelfLoops: 1, Edges: 1}, g.Report)
	write(t, dir, edgesFile, []named{{"0", "4611686018427387904"}})
	again, err := open(t.Context(), dir)
	require.NoError(t, err)
	assert.True(t, again.Edges.HasEdge(2, 1))
	write(t, dir, edgesFile, []named{{"0", "zero"}})
	_, err = open(t.Context(), dir)
	require.ErrorContains(t, err, `row 0 names node "zero"`)
}

// TestADamagedFileIsAnErrorOrAGraph changes bytes of sound files at random: whatever the library does, no panic comes
// out.
func TestADamagedFileIsAnErrorOrAGraph(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, folder := range []string{"parquet", "parquet-numbers"} {
		nodes, err := os.ReadFile(filepath.Join(fixture(folder), nodesFile))
		require.NoError(t, err)
		edges, err := os.ReadFile(filepath.Join(fixture(folder), edgesFile))
		require.NoError(t, err)
		dir := t.TempDir()
		faults := 0
		for range 300 {
			for name, content := range map[string][]byte{nodesFile: nodes, edgesFile: edges} {
				b := bytes.Clone(content)
				for range 1 + r.IntN(3) {
					b[r.IntN(len(b))] = byte(r.Uint32())
				}
				if r.IntN(8) == 0 {
					b = b[:r.IntN(len(b))]
				}
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o666))
			}
			g, err := open(t.Context(), dir)
			if err != nil {
				faults++
				require.NotContains(t, err.Error(), "\n")
				require.True(t, strings.HasPrefix(err.Error(), dir), "%v", err)
				continue
			}
			require.NoError(t, g.Check())
		}
		assert.Greater(t, faults, 150)
	}
}

func TestACancelledContextEndsReading(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Reader{}.Read(ctx, fixture("parquet"))
	require.ErrorIs(t, err, context.Canceled)
}
