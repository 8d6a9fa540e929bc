package fused

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/compute/shapes"
	"github.com/stretchr/testify/require"
)

// Only this test checks versions; programs check internals at start. To use another version, compare the files that
// insides.go names, run this package's tests with -race, and add the version here.
func TestThisVersionOfGoMLXWasTried(t *testing.T) {
	require.Contains(t, []string{"v0.1.3", "v0.1.6"}, versionOf(t, gobackend.New, goModule))
}

// versionOf finds the module's version in a function's file name: test programs list no modules.
func versionOf(t *testing.T, function any, module string) string {
	_, file := sourceOf(function)
	_, after, found := strings.Cut(file, module+"@")
	require.True(t, found, file)
	version, _, _ := strings.Cut(after, "/")
	return version
}

// Types like the pure-Go backend's; type arguments mark where others could differ.
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
		{&backend{}, &likeNode[compute.OpType, fmt.Stringer, likeExecutable[buffer, bool]]{},
			"Data is a fmt.Stringer, expected interface {}"},
		{&backend{}, &likeNode[compute.OpType, any, struct{}]{}, "there is no method Execute"},
		{&backend{}, &likeNode[compute.OpType, any, likeExecutable[buffer, int]]{}, "method Execute is a func("},
		{&backend{}, &likeNode[compute.OpType, any, likeExecutable[buffer, uint8]]{}, "[]uint8, int) ([]*fused.likeBuffer"},
		{&backend{}, &likeNode[compute.OpType, any, oneResult[buffer]]{}, "method Execute is a func("},
	} {
		_, err := findGo(of(c.backend), of(c.node))
		require.ErrorContains(t, err, c.expected)
	}
}

func same(a, b *executorTable) bool {
	for op := range a {
		if reflect.ValueOf(a[op]).Pointer() != reflect.ValueOf(b[op]).Pointer() {
			return false
		}
	}
	return true
}

type wrapped struct{ compute.Backend }

func (*wrapped) GetBuffer(int) (*buffer, error) { return nil, nil }

func TestAForeignGoBackendIsLeftAsItIs(t *testing.T) {
	b, err := gobackend.New("ops_sequential")
	require.NoError(t, err)
	fresh := executors
	fresh[kernelOp] = nil // another test may have set it
	for _, c := range []struct {
		what     string
		backend  compute.Backend
		change   func(table *executorTable)
		expected string // "": no error
	}{
		{"nothing", b, func(*executorTable) {}, ""},
		{"no table", b, func(table *executorTable) { *table = executorTable{} },
			"nothing executes Call, expected github.com/gomlx/compute/"},
		{"a longer table", b, func(table *executorTable) { copy(table[1:], fresh[:]) }, "nothing executes Call, expected"},
		{"what executes calls", b,
			func(table *executorTable) { table[compute.OpTypeCall] = table[compute.OpTypeRNGBitGenerator] },
			"ops.execRNGBitGenerator executes Call, expected"},
		{"our place is taken", b, func(table *executorTable) { table[kernelOp] = table[compute.OpTypeCall] },
			"ops.execCall executes Invalid, expected nothing"},
		{"another backend", struct{ compute.Backend }{b}, func(*executorTable) {}, "is not a pointer"},
		{"another method", &wrapped{b}, func(*executorTable) {}, "method GetBuffer is a func(*fused.wrapped, int)"},
	} {
		table := fresh
		c.change(&table)
		before := table
		insides, err := intercept(c.backend, &table)
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
