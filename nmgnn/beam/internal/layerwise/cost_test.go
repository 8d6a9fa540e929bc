package layerwise_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/beam/internal/layerwise"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/modelcase"
)

func graphFiles(t testing.TB, g *datasets.Graph, shards int) layerwise.Input {
	t.Helper()
	folder := t.TempDir()
	for shard := range shards {
		nodes, edges := [][]string{{"id"}}, [][]string{{"source", "target"}}
		for k := range g.Features.Width {
			nodes[0] = append(nodes[0], fmt.Sprint("f", k))
		}
		for v := shard; v < g.NumNodes(); v += shards {
			line := []string{strconv.Itoa(v)}
			for _, x := range g.Features.Row(v, nil) {
				line = append(line, strconv.FormatFloat(float64(x), 'g', -1, 32))
			}
			nodes = append(nodes, line)
			for _, u := range g.Edges.Neighbours(int32(v)) {
				if int(u) > v {
					edges = append(edges, []string{line[0], strconv.Itoa(int(u))})
				}
			}
		}
		writeCSV(t, filepath.Join(folder, fmt.Sprintf("nodes-%03d.csv", shard)), nodes)
		writeCSV(t, filepath.Join(folder, fmt.Sprintf("edges-%03d.csv", shard)), edges)
	}
	return find(t, folder)
}

// requireEqual compares an output with the logits of one machine.
func requireEqual(t testing.TB, want infer.Representation, folder string) {
	t.Helper()
	seen := written(t, folder)
	require.Len(t, seen, want.Rows)
	for id, row := range seen {
		v, err := strconv.Atoi(id)
		require.NoError(t, err)
		requireRow(t, want.Row(v), row, tolerance, id)
	}
}

func TestPubMedEqualsOneMachine(t *testing.T) {
	g, err := datasets.Open(t.Context(), "pubmed", datasets.OpenOptions{})
	require.NoError(t, err)
	in := graphFiles(t, g, 2)
	for _, kind := range []string{"gin", "gat"} {
		t.Run(kind, func(t *testing.T) {
			c := modelcase.Case{Name: kind, Change: func(p *hyper.Parameters) {
				*p, err = hyper.For(kind)
				require.NoError(t, err)
			}}
			m := c.Model(t, g.Features.Width)
			_, logits := represented(t, m, g)
			out := layerwise.Output{Folder: t.TempDir()}
			// Both shards are large enough to be computed in parts.
			require.NoError(t, embed(t, m, in, out, layerwise.Options{Shards: 2}))
			requireEqual(t, logits, out.Folder)
		})
	}
}

// BenchmarkEmbed computes SAGE with two layers of 16 on stochastic block models of mean degree 10, and compares the
// logits with those of one machine.
func BenchmarkEmbed(b *testing.B) {
	for _, nodes := range []int{10_000, 100_000, 300_000, 1_000_000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			g, err := datasets.SBM(b.Context(), datasets.SBMOptions{Nodes: nodes, Features: 16, Seed: 1})
			require.NoError(b, err)
			in := graphFiles(b, g, 8)
			b.Logf("before: most memory so far %.2f GB", memory(b))
			m := modelcase.Case{Name: "sage",
				Change: func(p *hyper.Parameters) { p.Model, p.Hidden = "sage", 16 }}.Model(b, g.Features.Width)
			for b.Loop() {
				out := b.TempDir()
				begin, used := time.Now(), processor(b)
				progress := func(step string, _ bool) {
					b.Logf("%s: %.1f s, processor %.1f s, most memory so far %.2f GB", step,
						time.Since(begin).Seconds(), processor(b)-used, memory(b))
					begin, used = time.Now(), processor(b)
				}
				_, err = layerwise.Embed(b.Context(), m, in, layerwise.Output{Folder: out},
					layerwise.Options{Work: b.TempDir(), Progress: progress})
				require.NoError(b, err)
				_, logits := represented(b, m, g)
				requireEqual(b, logits, out)
			}
		})
	}
}

var highest = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// memory returns the process's peak in GB; 0 if unknown.
func memory(t testing.TB) float64 {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	match := highest.FindSubmatch(raw)
	require.NotNil(t, match)
	kb, err := strconv.Atoi(string(match[1]))
	require.NoError(t, err)
	return float64(kb) / 1e6
}

// processor returns the process's CPU seconds; 0 if unknown.
func processor(t testing.TB) float64 {
	raw, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	ticks := 0
	for _, field := range fields[11:13] { // utime and stime
		n, err := strconv.Atoi(string(field))
		require.NoError(t, err)
		ticks += n
	}
	return float64(ticks) / 100
}
