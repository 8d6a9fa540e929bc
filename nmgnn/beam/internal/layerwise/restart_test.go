package layerwise_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/beam/internal/layerwise"
	"nodemask/nmgnn/cached"
)

// Environment of a run to be killed.
const (
	killedModel = "NODEMASK_KILLED_MODEL"
	killedData  = "NODEMASK_KILLED_DATA"
	killedWork  = "NODEMASK_KILLED_WORK"
	killedAt    = "NODEMASK_KILLED_AT"
)

// killed prints "here" in the second layer's step, to be killed before its pipeline runs, or after it but before the
// step is marked done.
func killed() error {
	ctx := context.Background()
	m, err := cached.LoadModel(os.Getenv(killedModel))
	if err != nil {
		return err
	}
	in, err := layerwise.Find(os.Getenv(killedData))
	if err != nil {
		return err
	}
	pipelines := 0
	run := func(ctx context.Context, p *beam.Pipeline) error {
		pipelines++
		second := pipelines == 3 // after the graph and the first layer
		if second && os.Getenv(killedAt) == "begin" {
			fmt.Println("here")
		}
		err := beamx.Run(ctx, p)
		if second && os.Getenv(killedAt) == "end" {
			fmt.Println("here")
		}
		if second {
			select {}
		}
		return err
	}
	work := os.Getenv(killedWork)
	_, err = layerwise.Embed(ctx, m, in, layerwise.Output{Folder: filepath.Join(work, "out")},
		layerwise.Options{Work: work, Shards: 3, Run: run})
	return err
}

func TestAKilledRunGoesOnBehindTheLastLayerThatWasDone(t *testing.T) {
	folder, in, g := odd(t)
	m := testCases()[1].Model(t, g.Features.Width) // of 3 layers
	model := filepath.Join(t.TempDir(), "model.safetensors")
	require.NoError(t, m.Save(model))
	_, logits := represented(t, m, g)
	for _, at := range []string{"begin", "end"} {
		t.Run(at, func(t *testing.T) {
			work := t.TempDir()
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), killedModel+"="+model, killedData+"="+folder, killedWork+"="+work, killedAt+"="+at)
			child.Stderr = os.Stderr
			output, err := child.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, child.Start())
			line, err := bufio.NewReader(output).ReadString('\n')
			require.NoError(t, child.Process.Kill())
			require.Error(t, child.Wait(), "it was killed")
			require.NoError(t, err)
			require.Equal(t, "here\n", line)

			times := func() (all []time.Time) {
				for _, step := range []string{"graph", "layer1"} {
					files, err := filepath.Glob(filepath.Join(work, step, "*"))
					require.NoError(t, err)
					require.NotEmpty(t, files)
					for _, path := range files {
						info, err := os.Stat(path)
						require.NoError(t, err)
						all = append(all, info.ModTime())
					}
				}
				return all
			}
			require.NoFileExists(t, filepath.Join(work, "layer2", "done.json"))
			first := times()
			before := map[string]bool{}
			out := layerwise.Output{Folder: t.TempDir()}
			progress := func(step string, was bool) { before[step] = was }
			counts, err := layerwise.Embed(t.Context(), m, in, out,
				layerwise.Options{Work: work, Shards: 3, Progress: progress})
			require.NoError(t, err)
			require.Equal(t, map[string]bool{"graph": true, "layer1": true, "layer2": false, "layer3": false,
				"output": false}, before)
			require.Equal(t, int64(g.NumNodes()), counts.Nodes, "counts are kept, too")
			require.Equal(t, first, times(), "nothing is written again")
			got := written(t, out.Folder)
			require.Len(t, got, g.NumNodes(), "nothing is lost")
			for v, id := range g.NodeIDs {
				requireRow(t, logits.Row(v), got[id], tolerance, id)
			}
		})
	}
}

func TestAFolderOfOtherWorkIsRefused(t *testing.T) {
	_, in, g := odd(t)
	m, work := testCases()[0].Model(t, g.Features.Width), t.TempDir()
	out := layerwise.Output{Folder: t.TempDir()}
	require.NoError(t, embed(t, m, in, out, layerwise.Options{Work: work}))
	require.ErrorContains(t, embed(t, testCases()[2].Model(t, g.Features.Width), in, out, layerwise.Options{Work: work}),
		"belongs to another model, other files or another number of shards")
	require.ErrorContains(t, embed(t, m, in, out, layerwise.Options{Work: t.TempDir(), Shards: 3}),
		"nodes-00000-of-00008.csv: a file of another run")
}

func TestAFolderThatNoStepHasWrittenIsLeftAlone(t *testing.T) {
	work := t.TempDir()
	folder := filepath.Join(work, "graph") // the name of a step's folder, too
	require.NoError(t, os.CopyFS(folder, os.DirFS(oddFiles(t))))
	m := testCases()[0].Model(t, readGraph(t, folder).Features.Width)
	in := find(t, folder)
	require.ErrorContains(t, embed(t, m, in, layerwise.Output{}, layerwise.Options{Work: work}), "which no step has written: choose another work folder")
	require.Equal(t, in, find(t, folder), "the graph is still there")
}
