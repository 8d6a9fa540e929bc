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

	"github.com/gomlx/gomlx/core/graph"
	"github.com/stretchr/testify/require"
)

// If one lets them, threads and instruction sets decide the order of sums in Eigen's and YNN's products, and the number
// of cores how loops are divided and rounded.
func TestDigitsDependNeitherOnCoresNorOnTheInstructionSet(t *testing.T) {
	if os.Getenv("NODEMASK_DIGITS") != "" {
		if os.Getenv("NODEMASK_DIGITS") == "one core" {
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
			return strings.HasPrefix(v, "PJRT_NPROC=") || strings.HasPrefix(v, "XLA_FLAGS=") // earlier tests opened backends
		})
		c.Env = append(own, environment...)
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		_, rest, found := strings.Cut(string(out), "digits ")
		require.True(t, found, "%s", out)
		line, _, _ := strings.Cut(rest, "\n")
		return line
	}
	here := digits("NODEMASK_DIGITS=all cores")
	for _, environment := range [][]string{{"NODEMASK_DIGITS=one core"}, {"NODEMASK_DIGITS=one core",
		"XLA_FLAGS=--xla_cpu_max_isa=AVX2"}} {
		require.Equal(t, here, digits(environment...), "%q", environment)
	}
	require.NotEqual(t, here, digits("NODEMASK_DIGITS=all cores", "PJRT_NPROC=1"), "or this test sees nothing")
}

// printDigits prints a hash of what training takes: products x·w, batch normalisation, log-softmax, and gradients,
// whose sums are over nodes.
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
	products, err := graph.NewExec(b, func(x, w *graph.Node) []*graph.Node {
		h := graph.Tanh(graph.Dot(x, w).Product())
		h = graph.Sub(h, graph.ReduceAndKeep(h, graph.ReduceMean, 0))
		h = graph.Div(h, graph.Sqrt(graph.AddScalar(graph.ReduceAndKeep(graph.Square(h), graph.ReduceMean, 0), 1e-5)))
		h = graph.Add(h, graph.LogSoftmax(h, -1))
		return append(graph.Gradient(graph.ReduceAllSum(graph.Mul(h, h)), w), h)
	})
	require.NoError(t, err)
	sum := fnv.New64a()
	for _, shape := range [][3]int{{2708, 64, 64}, {2708, 64, 7}, {1000, 1433, 64}, {19717, 64, 64}} {
		for _, output := range products.MustCall(random(shape[0], shape[1]), random(shape[1], shape[2])) {
			for _, row := range output.Value().([][]float32) {
				for _, x := range row {
					fmt.Fprintf(sum, "%08x", math.Float32bits(x))
				}
			}
		}
	}
	fmt.Printf("digits %x\n", sum.Sum64())
}
