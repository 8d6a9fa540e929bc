package backend

import (
	"sync"
	"testing"

	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/internal/kernels"
)

// With the race detector this fails if opening changes what others read.
func TestBackendsOpenAtOnceWhileAnotherProgramComputes(t *testing.T) {
	theirs, err := gobackend.New("ops_sequential")
	require.NoError(t, err)
	defer theirs.Finalize()
	exec, err := graph.NewExec(theirs, func(x *graph.Node) *graph.Node {
		return graph.ReduceSum(graph.Sqrt(graph.Max(graph.Mul(graph.Add(x, x), x), x)), 0)
	})
	require.NoError(t, err)
	ones := make([]float32, 64*64)
	for i := range ones {
		ones[i] = 1
	}
	x := tensors.FromFlatDataAndDimensions(ones, 64, 64)
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			y, err := exec.Call(x)
			if err == nil {
				_, err = tensors.CopyFlatData[float32](y[0])
			}
			select {
			case <-stop:
				ended <- err
				return
			default:
			}
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	var opening sync.WaitGroup
	begin := make(chan struct{})
	for range 4 {
		for _, id := range []string{"go", "xla:cpu"} {
			opening.Go(func() {
				<-begin
				b, err := Open(id)
				if err != nil {
					if id == "go" {
						t.Error(err)
					}
					return // XLA may not be installed
				}
				twice := func(x *graph.Node) *graph.Node { return graph.ReduceAllSum(kernels.ELU(graph.Add(x, x))) }
				y, err := graph.CallOnce(b.Backend, twice, tensors.FromFlatDataAndDimensions(ones, 64, 64))
				if err != nil || y.Value() != float32(2*64*64) {
					t.Errorf("%s: %v, %v", id, y, err)
				}
			})
		}
	}
	close(begin)
	opening.Wait()
	close(stop)
	require.NoError(t, <-ended)
}
