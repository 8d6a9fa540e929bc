package backend

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/stretchr/testify/require"
	xcpu "golang.org/x/sys/cpu"

	"nodemask/nmgnn/internal/kernels"
)

// By default threads, caches and instruction sets determine the order of Eigen's sums; the number of cores determines
// how loops are split and rounded.
func TestDigitsDependNeitherOnCoresNorOnTheInstructionSet(t *testing.T) {
	const cores = "NODEMASK_TEST_CORES"
	if os.Getenv(cores) != "" {
		if os.Getenv(cores) == "one" {
			require.NoError(t, onOneCore(0))
		}
		printDigits(t)
		return
	}
	if _, _, why := findPlugin("xla:cpu", "cpu"); why != nil {
		t.Skip(why)
	}
	if folders := os.Getenv("PJRT_PLUGIN_LIBRARY_PATH"); folders != "" {
		t.Skip("the environment names another plugin: " + folders)
	}
	program, err := os.Executable()
	require.NoError(t, err)
	digits := func(environment ...string) string {
		c := exec.Command(program, "-test.run", "^"+t.Name()+"$", "-test.v")
		own := slices.DeleteFunc(os.Environ(), func(v string) bool {
			return strings.HasPrefix(v, "PJRT_NPROC=") || strings.HasPrefix(v, "XLA_FLAGS=") ||
				strings.HasPrefix(v, "ONEDNN_MAX_CPU_ISA=") // earlier tests opened backends
		})
		c.Env = append(own, environment...)
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		_, rest, found := strings.Cut(string(out), "digits ")
		require.True(t, found, "%s", out)
		line, _, _ := strings.Cut(rest, "\n")
		return line
	}
	here := digits(cores + "=all")
	require.Equal(t, here, digits(cores+"=one", "PJRT_NPROC=1"))
	if !xcpu.X86.HasAVX512F {
		return
	}
	for _, other := range []string{"XLA_FLAGS=--xla_cpu_max_isa=AVX512",
		"XLA_FLAGS=--xla_cpu_experimental_ynn_fusion_type=", "XLA_FLAGS=--xla_cpu_enable_platform_dependent_math=true"} {
		require.NotEqual(t, here, digits(cores+"=all", other), "%s: or this test sees nothing", other)
	}
}

// printDigits prints a hash of training's operations: products, batch normalisation, log-softmax, sums divided by roots
// of degrees plus a bias, and gradients, which sum over nodes.
func printDigits(t *testing.T) {
	b, err := Open("xla:cpu")
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 1))
	random := func(rows, columns int) [][]float32 {
		m := make([][]float32, rows)
		for i := range m {
			m[i] = make([]float32, columns)
			for j := range m[i] {
				m[i][j] = float32(r.NormFloat64())
			}
		}
		return m
	}
	products, err := graph.NewExec(b.Backend, func(x, w *graph.Node) []*graph.Node {
		h := graph.Tanh(kernels.Dense(x, w, nil))
		h = graph.Sub(h, graph.ReduceAndKeep(h, graph.ReduceMean, 0))
		h = graph.Div(h, graph.Sqrt(graph.AddScalar(graph.ReduceAndKeep(graph.Square(h), graph.ReduceMean, 0), 1e-5)))
		h = graph.Add(h, graph.LogSoftmax(h, -1))
		degrees := graph.AddScalar(graph.IotaFull(x.Graph(), shapes.Make(dtypes.Float32, h.Shape().Dimensions[0], 1)), 1)
		h = graph.Add(graph.Mul(h, graph.Rsqrt(degrees)), graph.Slice(w, graph.AxisRange(0, 1)))
		return append(graph.Gradient(graph.ReduceAllSum(graph.Mul(h, h)), w), h)
	})
	require.NoError(t, err)
	sum := fnv.New64a()
	for _, shape := range [][3]int{{2708, 64, 64}, {2708, 64, 7}, {2708, 64, 3}, {1000, 1433, 64}, {19717, 64, 64}} {
		for _, output := range products.MustCall(random(shape[0], shape[1]), random(shape[1], shape[2])) {
			for _, row := range output.Value().([][]float32) {
				for _, x := range row {
					fmt.Fprintf(sum, "%08x", math.Float32bits(x))
				}
			}
		}
	}
	fmt.Printf("digits %x %s\n", sum.Sum64(), b.Digits)
}
