package fused

import (
	"fmt"
	"reflect"
	"runtime/debug"
	"testing"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/compute/shapes"
	"github.com/stretchr/testify/require"
)

// builtWith is what a program says that was built with a version of a module.
func builtWith(module, version string) *debug.BuildInfo {
	return &debug.BuildInfo{Deps: []*debug.Module{{Path: "example.org/other", Version: "v9.0.0"}, {Path: module, Version: version}}}
}

func TestOnlyVersionsThatWereTriedAreTrusted(t *testing.T) {
	const module = "example.org/m"
	replaced := builtWith(module, "v1.0.0")
	replaced.Deps[1].Replace = &debug.Module{Path: "example.org/fork", Version: "v1.0.0"}
	for _, c := range []struct {
		program  *debug.BuildInfo
		source   string
		expected string // empty: no error
	}{
		{builtWith(module, "v1.0.0"), "", ""},
		{builtWith(module, "v1.1.0"), "", ""},
		{builtWith(module, "v1.0.1"), "", "example.org/m is version v1.0.1 (known to work: v1.0.0, v1.1.0)"},
		{builtWith(module, "v1.0.1"), "/mod/example.org/m@v1.0.0/f.go", "example.org/m is version v1.0.1"},
		{replaced, "", "example.org/m v1.0.0 is replaced by example.org/fork v1.0.0 (known to work: v1.0.0, v1.1.0)"},
		{builtWith("example.org/n", "v1.0.0"), "/mod/example.org/m@v1.0.0/f.go", "does not say which version of example.org/m"},
		{nil, "", "this program does not say which version of example.org/m it was built with (known to work: v1.0.0, v1.1.0)"},
		// A test program lists no modules.
		{&debug.BuildInfo{}, "/mod/example.org/m@v1.1.0/f.go", ""},
		{&debug.BuildInfo{}, "example.org/m@v1.1.0/f.go", ""},
		{&debug.BuildInfo{}, "/mod/example.org/m@v1.1.1/f.go", "example.org/m is version v1.1.1"},
		{&debug.BuildInfo{}, "/mod/example.org/fork@v1.1.0/f.go", "does not say which version"},
		{&debug.BuildInfo{}, "/here/vendor/example.org/m/f.go", "does not say which version"},
	} {
		err := checkVersion(c.program, c.source, module, "v1.0.0", "v1.1.0")
		if c.expected == "" {
			require.NoError(t, err, "%v %s", c.program, c.source)
		} else {
			require.ErrorContains(t, err, c.expected)
		}
	}
}

// Types like those of the pure-Go backend: the type arguments are where others could differ.
type (
	likeBackend[Buffer any]     struct{ compute.Backend }
	likeBuffer[Flat, Shape any] struct {
		Flat     Flat
		RawShape Shape
	}
	likeNode[OpType, Data, Executable any] struct {
		OpType            OpType
		Inputs            []*likeNode[OpType, Data, Executable]
		MultiOutputsNodes []*likeNode[OpType, Data, Executable]
		Data              Data
		Shape             shapes.Shape
		Function          *struct{ Compiled *Executable }
	}
	likeExecutable[Buffer, Owned any] struct{}
	oneResult[Buffer any]             struct{}

	buffer  = likeBuffer[any, shapes.Shape]
	backend = likeBackend[buffer]
	node    = likeNode[compute.OpType, any, likeExecutable[buffer, bool]]

	foreignGet    struct{ compute.Backend }
	nodeWithout   struct{ OpType compute.OpType }
	bufferWithout struct{ RawShape shapes.Shape }
)

func (*likeBackend[Buffer]) GetBuffer(shapes.Shape) (*Buffer, error) { return nil, nil }
func (*foreignGet) GetBuffer(shapes.Shape, bool) (*buffer, error)    { return nil, nil }
func (*likeExecutable[Buffer, Owned]) Execute(*likeBackend[Buffer], []*Buffer, []Owned, int) ([]*Buffer, error) {
	return nil, nil
}
func (*oneResult[Buffer]) Execute(*likeBackend[Buffer], []*Buffer, []bool) (*Buffer, error) {
	return nil, nil
}

func TestInsidesOfTheGoBackendThatDifferAreAnError(t *testing.T) {
	of := func(x any) reflect.Type { return reflect.TypeOf(x) }
	_, err := findGo(of(&backend{}), of(&node{}))
	require.NoError(t, err, "these are alike")
	for _, c := range []struct {
		backend, node any
		expected      string
	}{
		{backend{}, &node{}, "is not a pointer"},
		{&backend{}, nil, "is not a pointer"},
		{&struct{ compute.Backend }{}, &node{}, "no method GetBuffer"},
		{&foreignGet{}, &node{}, "method GetBuffer is a func(*fused.foreignGet, shapes.Shape, bool)"},
		{&likeBackend[likeBuffer[[]byte, shapes.Shape]]{}, &node{}, "Flat is a []uint8, expected interface {}"},
		{&likeBackend[likeBuffer[any, []int]]{}, &node{}, "RawShape is a []int, expected shapes.Shape"},
		{&likeBackend[bufferWithout]{}, &node{}, "has no field Flat"},
		{&likeBackend[struct{ buffer }]{}, &node{}, "has no field Flat"},
		{&backend{}, &nodeWithout{}, "has no field Inputs"},
		{&backend{}, &likeNode[int, any, likeExecutable[buffer, bool]]{}, "OpType is a int, expected compute.OpType"},
		{&backend{}, &likeNode[compute.OpType, fmt.Stringer, likeExecutable[buffer, bool]]{}, "Data is a fmt.Stringer, expected interface {}"},
		{&backend{}, &likeNode[compute.OpType, any, struct{}]{}, "there is no method Execute"},
		{&backend{}, &likeNode[compute.OpType, any, likeExecutable[buffer, int]]{}, "method Execute is a func("},
		{&backend{}, &likeNode[compute.OpType, any, likeExecutable[buffer, uint8]]{}, "[]uint8, int) ([]*fused.likeBuffer"},
		{&backend{}, &likeNode[compute.OpType, any, oneResult[buffer]]{}, "method Execute is a func("},
	} {
		_, err := findGo(of(c.backend), of(c.node))
		require.ErrorContains(t, err, c.expected)
	}
}

// same returns whether two tables hold the same functions.
func same(a, b *executorTable) bool {
	for op := range a {
		if reflect.ValueOf(a[op]).Pointer() != reflect.ValueOf(b[op]).Pointer() {
			return false
		}
	}
	return true
}

// wrapped is a Go backend of another type.
type wrapped struct{ compute.Backend }

func (*wrapped) GetBuffer(int) (*buffer, error) { return nil, nil }

func TestAForeignGoBackendIsLeftAsItIs(t *testing.T) {
	b, err := gobackend.New("ops_sequential")
	require.NoError(t, err)
	known := builtWith(goModule, goTried)
	fresh := executors
	fresh[kernelOp] = nil // another test may have put the kernels there
	for _, c := range []struct {
		what     string
		backend  compute.Backend
		program  *debug.BuildInfo
		change   func(table *executorTable)
		expected string // empty: no error
	}{
		{"nothing", b, known, func(*executorTable) {}, ""},
		{"the version", b, builtWith(goModule, "v0.1.4"), func(*executorTable) {}, "github.com/gomlx/compute is version v0.1.4 (known to work: " + goTried + ")"},
		{"no table", b, known, func(table *executorTable) { *table = executorTable{} }, "nothing executes Call, expected github.com/gomlx/compute/"},
		{"a longer table", b, known, func(table *executorTable) { copy(table[1:], fresh[:]) }, "nothing executes Call, expected"},
		{"what executes calls", b, known, func(table *executorTable) { table[compute.OpTypeCall] = table[compute.OpTypeRNGBitGenerator] },
			"ops.execRNGBitGenerator executes Call, expected"},
		{"our place is taken", b, known, func(table *executorTable) { table[kernelOp] = table[compute.OpTypeCall] }, "ops.execCall executes Invalid, expected nothing"},
		{"another backend", struct{ compute.Backend }{b}, known, func(*executorTable) {}, "is not a pointer"},
		{"another method", &wrapped{b}, known, func(*executorTable) {}, "method GetBuffer is a func(*fused.wrapped, int)"},
	} {
		table := fresh
		c.change(&table)
		before := table
		insides, err := intercept(c.backend, c.program, &table)
		if c.expected == "" {
			require.NoError(t, err)
			require.NotNil(t, insides)
			require.False(t, same(&before, &table))
			table[kernelOp] = nil
		} else {
			require.ErrorContains(t, err, c.expected, c.what)
			require.Nil(t, insides, c.what)
		}
		require.True(t, same(&before, &table), c.what)
	}
}

func TestABufferIsAMatrixOfOurTypes(t *testing.T) {
	insides, err := findGo(reflect.TypeFor[*backend](), reflect.TypeFor[*node]())
	require.NoError(t, err)
	view := func(flat any, dimensions ...int) (array, error) {
		return insides.array(unsafe.Pointer(&buffer{Flat: flat, RawShape: shapes.Make(dtypes.Float32, dimensions...)}))
	}
	got, err := view([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	require.NoError(t, err)
	require.Equal(t, array{rows: 2, columns: 3, floats: []float32{1, 2, 3, 4, 5, 6}}, got)
	got, err = view([]uint32{}, 0, 3)
	require.NoError(t, err)
	require.Equal(t, array{rows: 0, columns: 3, bits: []uint32{}}, got)
	_, err = view([]float32{1, 2, 3}, 3)
	require.ErrorContains(t, err, "expected a matrix")
	for _, flat := range []any{[]int32{1, 2, 3}, []float64{1, 2, 3, 4}, nil} {
		_, err = view(flat, 2, 2)
		require.ErrorContains(t, err, "of another length or type")
	}
}
