package train

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gnntest"
)

func swapped[T any](values []T, i, j int) []T {
	values = slices.Clone(values)
	values[i], values[j] = values[j], values[i]
	return values
}

func TestACheckpointOfAnythingElseIsRefusedByName(t *testing.T) {
	g := gnntest.TwoCamps(t)
	nodes := make([]int32, 60)
	for v := range nodes {
		nodes[v] = int32(v)
	}
	// The graph's published split does not depend on the labels.
	g.OwnSplit = &datasets.Split{TrainPercent: 33, ValidationShare: 0.5,
		Train: nodes[:20], Validation: nodes[20:40], Test: nodes[40:]}
	type trial struct {
		b *backend.Backend
		x Experiment
		o Batches
	}
	fresh := func(folder string) *trial {
		x := batchExperiment(t, "gin")
		own := *g
		x.Graph, x.OwnSplit, x.Setting, x.Parameters.MaxEpochs = &own, true, datasets.Inductive, 2
		return &trial{gnntest.Go(t), x, Batches{Clusters: 3, Checkpoint: folder, Version: "1"}}
	}
	run := func(y *trial) error {
		_, err := InBatches(t.Context(), y.b, y.x, y.o, hyper.Seeds(1, 1), RunOptions{})
		return err
	}
	changes := map[string]func(y *trial){
		"version": func(y *trial) { y.o.Version = "2" },
		"data":    func(y *trial) { y.x.Graph.Name = "other camps" },
		"features": func(y *trial) { // same name, same counts
			y.x.Graph.Features.Dense = swapped(g.Features.Dense, 0, 1)
			require.NotEqual(t, g.Features.Dense, y.x.Graph.Features.Dense)
		},
		"edges": func(y *trial) {
			moved := map[int32]int32{44: 46, 46: 44} // test nodes
			other := func(v int32) int32 {
				if to, ok := moved[v]; ok {
					return to
				}
				return v
			}
			var edges []csr.Edge
			for v, u := range g.Edges.All() {
				edges = append(edges, csr.Edge{Node: other(v), Neighbour: other(u)})
			}
			var err error
			y.x.Graph.Edges, _, err = csr.FromEdges(60, edges, csr.Options{})
			require.NoError(t, err)
			require.Equal(t, g.Edges.NumEdges(), y.x.Graph.Edges.NumEdges())
			require.NotEqual(t, g.Edges.Indices, y.x.Graph.Edges.Indices)
		},
		"labels": func(y *trial) { y.x.Graph.Labels = swapped(g.Labels, 0, 1) },
		"split": func(y *trial) {
			split := *g.OwnSplit
			split.Validation, split.Test = split.Test, split.Validation
			y.x.Graph.OwnSplit = &split
		},
		"setting":  func(y *trial) { y.x.Setting = datasets.Transductive },
		"arrivals": func(y *trial) { y.x.Arrivals = datasets.TrainEdges },
		"backend": func(y *trial) {
			other := *y.b
			other.ID = "another"
			y.b = &other
		},
		"digits": func(y *trial) {
			other := *y.b
			other.Digits = "avx2"
			y.b = &other
		},
		"batches":         func(y *trial) { y.o.Clusters = 4 },
		"hyperparameters": func(y *trial) { y.x.Parameters.KeepRate = 0.7 },
	}
	folder := t.TempDir()
	require.NoError(t, run(fresh(folder)))
	require.NoError(t, run(fresh(folder)), "the same trial goes on")
	for what, change := range changes {
		y := fresh(folder)
		change(y)
		require.ErrorContains(t, run(y),
			"the checkpoint of other data or settings: what differs is: "+what+": name another folder", what)
	}
	var keys map[string]any
	y := fresh(folder)
	text, err := identify(y.b, y.x, g.OwnSplit, y.o, identity{})
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(text), &keys))
	for key := range keys {
		require.Contains(t, changes, key, "no test would notice if the identity lost it")
	}
	sparse := fresh(folder)
	sparse.x.Graph.Features = g.Features.Stored(true)
	require.ErrorContains(t, run(sparse), "what differs is: features")
	unversioned := fresh(t.TempDir())
	unversioned.o.Version = ""
	require.ErrorContains(t, run(unversioned), "without a version")
	require.Equal(t, "version", differences("1f2e, two camps of 60 nodes", text), "a checkpoint of release 0.3")
}

func TestASplitOfAnotherSeedIsAnotherCheckpoint(t *testing.T) {
	x := batchExperiment(t, "gin")
	x.Parameters.MaxEpochs = 2
	o := Batches{Clusters: 3, Checkpoint: t.TempDir(), Version: "1"}
	_, err := InBatches(t.Context(), gnntest.Go(t), x, o, hyper.Seeds(1, 1), RunOptions{})
	require.NoError(t, err)
	x.SplitSeed = 2
	_, err = InBatches(t.Context(), gnntest.Go(t), x, o, hyper.Seeds(1, 1), RunOptions{})
	require.ErrorContains(t, err, "what differs is: split:")
}

func TestAFolderOfCheckpointsHasOneProcess(t *testing.T) {
	x := batchExperiment(t, "gin")
	x.Parameters.MaxEpochs = 2
	o := Batches{Clusters: 3, Checkpoint: t.TempDir(), Version: "1"}
	// A pipe of that name also works, without waiting for a writer.
	require.NoError(t, syscall.Mkfifo(filepath.Join(o.Checkpoint, ".lock"), 0o600))
	other := flock.New(filepath.Join(o.Checkpoint, ".lock"), flock.SetFlag(os.O_RDWR))
	held, err := other.TryLock()
	require.NoError(t, err)
	require.True(t, held)
	run := func() error {
		_, err := InBatches(t.Context(), gnntest.Go(t), x, o, hyper.Seeds(1, 1), RunOptions{})
		return err
	}
	require.ErrorContains(t, run(), o.Checkpoint+": another process trains into this folder")
	require.NoError(t, other.Unlock())
	require.NoError(t, run())
	held, err = other.TryLock()
	require.NoError(t, err)
	require.True(t, held, "a trial that has ended holds nothing")
}

// Checksums only detect damage: anyone can compute them.
func TestWhatACheckpointSaysIsCheckedThoughItsSumsFit(t *testing.T) {
	g, view := gnntest.Camps(t, 50, datasets.Transductive)
	s := smallOf("gin")
	s.MaxEpochs = 1
	o := batchOptions(t, s, 3)
	o.Checkpoint, o.identity = t.TempDir(), "this"
	first := batchTrainerOf(t, gnntest.Go(t), g, view, s, o)
	trainOnce(t, first, 1)
	sound, err := os.ReadFile(first.checkpoint(1))
	require.NoError(t, err)
	n := 8 + binary.LittleEndian.Uint64(sound)
	sum := regexp.MustCompile(`"header_sha256":"[0-9a-f]{64}"`)
	for _, change := range []struct{ from, into, says string }{
		{`"cache":"\d"`, `"cache":"2"`, `cache "2": expected 0 or 1`},
		{`"cache":"\d"`, `"cache":"-1"`, `cache "-1": expected 0 or 1`},
		{`"generators":"\w+ `, `"generators":"`, "2 states of generators: expected 3"},
		{`"generators":"\w+ `, `"generators":"00 `, "the state of generator 0"},
		{`"validation":"\{`, `"validation":"[`, "what was measured: "},
	} {
		header := regexp.MustCompile(change.from).ReplaceAll(sound[8:n], []byte(change.into))
		require.NotEqual(t, sound[8:n], header, change.from)
		for len(header)%8 != 0 {
			header = append(header, ' ')
		}
		header = sum.ReplaceAll(header, []byte(`"header_sha256":"`+strings.Repeat("0", 64)+`"`))
		header = sum.ReplaceAll(header, fmt.Appendf(nil, `"header_sha256":"%x"`, sha256.Sum256(header)))
		made := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
		require.NoError(t, os.WriteFile(first.checkpoint(1), append(made, sound[n:]...), 0o600))
		_, err := batchTrainerOf(t, gnntest.Go(t), g, view, s, o).Train(t.Context(), 1, nil)
		require.ErrorContains(t, err, change.says)
	}
}
