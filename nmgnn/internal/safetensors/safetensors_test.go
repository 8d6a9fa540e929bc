package safetensors

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var modelKind = Kind{Name: "model", Remedy: "train the model again"}

// small has a tensor of each type, and an empty one.
func small() *Builder {
	b := New("model", map[string]string{"layer": "GIN <1> \"é\""})
	Add(b, "text", []byte("abc"), 3)
	Add(b, "w", []float32{1, -2.5, 3, 4, 5, 6}, 2, 3)
	Add(b, "i", []int32{-1, math.MaxInt32}, 2)
	Add(b, "l", []int64{math.MinInt64}, 1, 1)
	Add(b, "empty", []float32{}, 0, 7)
	Add(b, "scalar", []float32{8})
	return b
}

func bytesOf(t require.TestingT, b *Builder) []byte {
	require.NoError(t, b.err)
	var out bytes.Buffer
	require.NoError(t, b.write(&out))
	return out.Bytes()
}

func get[T Number](t require.TestingT, f *File, name string, sizes ...int) (values []T, shape []int) {
	values, shape, err := Get[T](f, name, sizes...)
	require.NoError(t, err)
	return values, shape
}

func parseModel(b []byte) (*File, error) { return parse(b, "file.model", modelKind) }

// The format is fixed: files outlive their nodemask, and other programs read them.
func TestTheBytesAreThese(t *testing.T) {
	b := New("model", map[string]string{"seed": "7"})
	Add(b, "s", []byte("ab"), 2)
	Add(b, "i", []int32{1}, 1)
	got := bytesOf(t, b)
	length := binary.LittleEndian.Uint64(got)
	require.Zero(t, length%8)
	require.Equal(t, "\x01\x00\x00\x00ab", string(got[8+length:]))
	text := string(got[8:][:length])
	require.Equal(t, `{"__metadata__":{"data_sha256":"`+sumOf(
		"\x01\x00\x00\x00ab")+`","format":"nodemask","header_sha256":"`+headerSumOf(text)+
		`","kind":"model","seed":"7","version":"1"},"i":{"dtype":"I32","shape":[1],"data_offsets":[0,4]},"s":{"dtype":"U8",`+
		`"shape":[2],"data_offsets":[4,6]}}`, strings.TrimRight(text, " "))
}

func TestAFileSurvivesWritingAndReading(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		metadata := rapid.MapOfN(rapid.StringMatching(`[^dfhkv].{0,10}`), rapid.String(), 0, 5).Draw(t, "metadata")
		b := New("model", metadata)
		names := rapid.SliceOfNDistinct(rapid.StringN(1, 20, -1), 0, 6, rapid.ID[string]).Draw(t, "names")
		want := map[string]any{}
		for _, name := range names {
			if name == metadataKey {
				continue
			}
			switch rapid.IntRange(0, 3).Draw(t, "type") {
			case 0:
				data := rapid.SliceOf(rapid.Float32()).Draw(t, "floats")
				Add(b, name, data, 1, len(data))
				want[name] = data
			case 1:
				data := rapid.SliceOf(rapid.Int32()).Draw(t, "ints")
				Add(b, name, data, len(data))
				want[name] = data
			case 2:
				data := rapid.SliceOf(rapid.Int64()).Draw(t, "longs")
				Add(b, name, data, len(data), 1)
				want[name] = data
			case 3:
				data := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
				Add(b, name, data, len(data))
				want[name] = data
			}
		}
		whole := bytesOf(t, b)
		require.Equal(t, whole, bytesOf(t, b), "the same bytes each time")
		f, err := parseModel(whole)
		require.NoError(t, err)
		for key, value := range metadata {
			require.Equal(t, value, f.metadata[key])
		}
		require.Len(t, f.metadata, len(metadata)+5)
		require.Len(t, f.Names(), len(want))
		for name, want := range want {
			var got any
			switch want.(type) {
			case []float32:
				got, _ = get[float32](t, f, name)
			case []int32:
				got, _ = get[int32](t, f, name)
			case []int64:
				got, _ = get[int64](t, f, name)
			default:
				got, _ = get[uint8](t, f, name)
			}
			require.Equal(t, want, got)
		}
		again := bytesOf(t, builderOf(t, f)) // tensors without numbers may have changed places
		f, err = parseModel(again)
		require.NoError(t, err)
		require.Equal(t, again, bytesOf(t, builderOf(t, f)), "what is read writes as it was")
	})
}

func builderOf(t require.TestingT, f *File) *Builder {
	metadata := map[string]string{}
	for key, value := range f.metadata {
		switch key {
		case formatKey, kindKey, versionKey, dataSumKey, headerSumKey:
		default:
			metadata[key] = value
		}
	}
	b := New(f.metadata[kindKey], metadata)
	for _, one := range f.tensors {
		switch one.dtype {
		case "F32":
			addAgain[float32](t, b, f, one.name)
		case "I32":
			addAgain[int32](t, b, f, one.name)
		case "I64":
			addAgain[int64](t, b, f, one.name)
		case "U8":
			addAgain[uint8](t, b, f, one.name)
		}
	}
	return b
}

func addAgain[T Number](t require.TestingT, b *Builder, f *File, name string) {
	values, shape := get[T](t, f, name)
	Add(b, name, values, shape...)
}

func TestNumbersAreReadInPlaceWhereTheyCanBe(t *testing.T) {
	raw := []byte{9, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}
	for shift := range 4 {
		memory := make([]byte, 64)
		b := memory[shift:][:len(raw)]
		copy(b, raw)
		require.Equal(t, []int32{1, 2, 3}, view[int32](b[1:]))
		if littleEndian && shift == 3 {
			in := view[int32](b[1:])
			b[1] = 7
			require.EqualValues(t, 7, in[0])
		}
	}
}

func TestWhatCouldNotBeReadBackIsNotWritten(t *testing.T) {
	nan, infinity := float32(math.NaN()), float32(math.Inf(-1))
	for want, put := range map[string]func(b *Builder){
		`two tensors are called "w"`:                                 func(b *Builder) { Add[int64](b, "w", nil, 0) },
		`a tensor is called "": expected another name`:               func(b *Builder) { Add[int32](b, "", nil, 0) },
		`a tensor is called "__metadata__": expected another name`:   func(b *Builder) { Add[int32](b, metadataKey, nil, 0) },
		`a tensor is called "\xff": expected another name, in UTF-8`: func(b *Builder) { Add[int32](b, "\xff", nil, 0) },
		`tensor "v" has 2 numbers for the shape [3]`:                 func(b *Builder) { Add(b, "v", []float32{1, 2}, 3) },
		`tensor "v" has 2 numbers for the shape [-1]`:                func(b *Builder) { Add(b, "v", []float32{1, 2}, -1) },
		`tensor "v": number 1 is NaN: expected a finite one`:         func(b *Builder) { Add(b, "v", []float32{1, nan}, 2) },
		`tensor "v": number 0 is -Inf: expected a finite one`:        func(b *Builder) { Add(b, "v", []float32{infinity}) },
		`its description takes 100000608 bytes: expected at most 100000000`: func(b *Builder) {
			b.metadata["big"] = strings.Repeat("n", maxHeader)
		},
		`it takes 1099511628112 bytes: expected at most 1099511627776`: func(b *Builder) {
			b.tensors[0].end = 1 << 40
			b.tensors[0].write = func(io.Writer) {}
			b.tensors = b.tensors[:1]
		},
		`more than 4096 tensors`: func(b *Builder) {
			for i := range maxTensors {
				Add[int32](b, fmt.Sprint(i), nil, 0)
			}
		},
	} {
		b := small()
		put(b)
		dir := t.TempDir()
		path := filepath.Join(dir, "gin.safetensors")
		require.ErrorContains(t, b.WriteFile(path), path+": the model cannot be written: "+want)
		requireEntries(t, dir)
	}
	require.ErrorContains(t, New("model", map[string]string{"x": "\xff"}).WriteFile(filepath.Join(t.TempDir(), "x")),
		`the metadata has "x": "\xff": expected UTF-8`)
}

func requireEntries(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.Equal(t, want, names)
}

func TestAFileThatIsMappedCanBeReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gin.safetensors")
	require.NoError(t, small().WriteFile(path))
	f, err := Open(path, modelKind)
	require.NoError(t, err)
	values, _ := get[float32](t, f, "w")
	require.NoError(t, New("model", nil).WriteFile(path))
	require.Equal(t, []float32{1, -2.5, 3, 4, 5, 6}, values)
	require.NoError(t, f.Close())
}

func TestEveryFailedWriteIsReported(t *testing.T) {
	b := small()
	for room := range bytesOf(t, b) {
		require.ErrorIs(t, b.write(&fullDisk{room}), syscall.ENOSPC, "room for %d bytes", room)
	}
}

type fullDisk struct{ room int }

func (d *fullDisk) Write(b []byte) (int, error) {
	if len(b) > d.room {
		return d.room, syscall.ENOSPC
	}
	d.room -= len(b)
	return len(b), nil
}

func TestArraysLeaveNoFiles(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	array, err := NewArray[float32](5000)
	require.NoError(t, err)
	array.Values[4999] = 3
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoError(t, array.Close())
}

func TestEmptyAndImpossibleArrays(t *testing.T) {
	empty, err := NewArray[int32](0)
	require.NoError(t, err)
	require.Empty(t, empty.Values)
	require.NoError(t, empty.Close())
	var none *Array[int32]
	require.NoError(t, none.Close())
	for _, n := range []int{-1, 1 << 60} {
		_, err = NewArray[float32](n)
		require.Error(t, err)
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "nowhere"))
	_, err = NewArray[float32](1)
	require.Error(t, err)
}
